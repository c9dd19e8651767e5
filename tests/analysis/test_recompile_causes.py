"""The cause of a recompile is what is new about the call, whatever torch lists first; each cause is a finding, where it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.analysis.finding import Finding, Kind
from warm_host import WarmHost

HEAD = "import torch\n\n\n"
NET = (
    HEAD
    + """\
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)
        self.late = False

    def forward(self, x):
        y = self.lin(x)
        if self.late:
            y = y + 1
        return y.relu()


net = Net()
c = torch.compile(net)
c(torch.ones(64, 4))
c(torch.ones(64, 4, requires_grad=True))
"""
)


def function(body: str, calls: str, parameters: str = "x", head: str = "") -> str:
    """A program with one compiled function."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{HEAD}{head}\n\n@torch.compile\ndef f({parameters}):\n{lines}\n\nt = torch.ones(3)\n{calls}\n"


# name: (program, [(marked text, message)] in the order of the file)
PROGRAMS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "a new length among versions with and without gradients": (
        NET + "c(torch.ones(96, 4))\n",
        [
            ("x", "Recompiled `forward`: `requires_grad` of `x` changed (False → True)."),
            ("x", "Recompiled `forward`: size 0 of `x` changed (64 → 96)."),
        ],
    ),
    "an attribute among versions with and without gradients": (
        NET + "c(torch.ones(96, 4))\nnet.late = True\nc(torch.ones(64, 4))\n",
        [
            ("x", "Recompiled `forward`: `requires_grad` of `x` changed (False → True)."),
            ("x", "Recompiled `forward`: size 0 of `x` changed (64 → 96)."),
            ("self.late", "Recompiled `forward`: `self.late` changed (False → True)."),
        ],
    ),
    "an attribute, when the newest version differs otherwise": (
        NET + "net.late = True\nc(torch.ones(64, 4))\n",
        [
            ("x", "Recompiled `forward`: `requires_grad` of `x` changed (False → True)."),
            ("self.late", "Recompiled `forward`: `self.late` changed (False → True)."),
        ],
    ),
    "grad mode among sizes": (
        function(
            "return x * 2",
            "f(t)\nwith torch.no_grad():\n    f(t)\n    f(torch.ones(5))\nf(torch.ones(3, dtype=torch.float64))",
        ),
        [
            ("f", "Recompiled `f`: grad mode changed (on → off)."),
            ("x", "Recompiled `f`: size 0 of `x` changed (3 → 5)."),
            ("x", "Recompiled `f`: dtype of `x` changed (float32 → float64)."),
        ],
    ),
    "several numbers, each by its name": (
        function("return x * a + b", "f(t, 1.5, 2.5)\nf(t, 1.5, 3.5)\nf(t, 2.0, 3.5)", "x, a, b"),
        [
            ("a", "Recompiled `f`: `a` changed (was 1.5)."),
            ("b", "Recompiled `f`: `b` changed (was 2.5)."),
        ],
    ),
    "modes that alternate": (
        function("return x.sin() if mode == 'sin' else x.cos()", "for m in ('sin', 'cos', 'tan') * 2:\n    f(t, m)", "x, mode"),
        [("mode", "Recompiled `f` twice: `mode` changed ('sin' → 'cos' → 'tan').")],
    ),
    "two versions, and a third kind of argument": (
        function("return x + (0 if k is None else k)", "f(t, 1)\nf(t, None)\nf(t, True)", "x, k"),
        [
            ("k", "Recompiled `f` twice: `k` changed (1 → None → True)."),
        ],
    ),
    "the second key of a dict": (
        function(
            "y = 0\nfor v in batch.values():\n    y = y + v\nreturn y",
            "f({'a': t, 'b': t})\nf({'a': t, 'c': t})",
            "batch",
        ),
        [("batch", "Recompiled `f`: key 1 of `batch` changed ('b' → 'c').")],
    ),
    "another function": (
        function("return fn(x)", "f(g, t)\nf(h, t)", "fn, x", "def g(x):\n    return x + 1\n\n\ndef h(x):\n    return x + 2\n"),
        [("fn", "Recompiled `f`: another function is passed as `fn`.")],
    ),
    "a list that is no longer empty": (
        function(
            "if state.seen:\n    x = x + 1\nreturn x * 2",
            "f(t)\nstate.seen.append(1)\nf(t)",
            head="class State:\n    def __init__(self):\n        self.seen = []\n\n\nstate = State()\n",
        ),
        [("state.seen", "Recompiled `f`: length of `state.seen` changed (0 → 1).")],
    ),
    "globals read in a helper": (
        function(
            "return helper(x) + 1",
            "f(t)\nSCALE = 3\nf(t)\nOPTIONS['k'] = 5\nf(t)",
            head='SCALE = 2\nOPTIONS = {"k": 1}\n\n\ndef helper(x):\n    if OPTIONS["k"] > 1:\n        x = x + 1\n    return x * SCALE\n',
        ),
        [
            ('OPTIONS["k"]', "Recompiled `f`: `OPTIONS['k']` changed (1 → 5)."),
            ("SCALE", "Recompiled `f`: `SCALE` changed (2 → 3)."),
        ],
    ),
    "an attribute read in a helper": (
        function(
            "return helper(x, config)",
            "config = Config()\nf(t)\nconfig.scale = 3.5\nf(t)",
            head="class Config:\n    def __init__(self):\n        self.scale = 2.5\n\n\ndef helper(x, own):\n    return x * own.scale\n",
        ),
        [("own.scale", "Recompiled `f`: `config.scale` changed (was 2.5).")],
    ),
    "a variable of a closure": (
        function(
            "return fn(x)",
            "f(make('a'), t)\nf(make('b'), t)",
            "fn, x",
            "def make(k):\n    def g(x):\n        return x * len(k) if k == 'a' else x + 1\n\n    return g\n",
        ),
        [("k", "Recompiled `f`: `k` changed ('a' → 'b').")],
    ),
    "a size, when a version takes any index": (
        function("return x[i] + x.shape[0]", "for i in (0, 1, 2):\n    f(torch.ones(4), i)\nf(torch.ones(6), 2)", "x, i"),
        [
            ("i", "Recompiled `f`: `i` changed (was 0)."),
            ("x", "Recompiled `f`: size 0 of `x` changed (4 → 6)."),
        ],
    ),
    "the order of keys among lengths": (
        function(
            "for v in options.values():\n    x = x * v\nreturn x",
            "f(t, {'b': 1.5})\nf(t, {'b': 1.5, 'a': 2.5})\nf(t, {'a': 2.5, 'b': 1.5})",
            "x, options",
        ),
        [
            ("options", "Recompiled `f`: length of `options` changed (1 → 2)."),
            ("options", "Recompiled `f`: key 0 of `options` changed ('b' → 'a')."),
        ],
    ),
    "an attribute of its own, when a version takes any number": (
        function(
            "return x * SCALE - state.step",
            "f(t)\nSCALE = 2.5\nf(t)\nstate.step = 1\nf(t)",
            head="SCALE = 1.5\n\n\nclass State:\n    step = 0\n\n\nstate = State()\n",
        ),
        [
            ("SCALE", "Recompiled `f`: `SCALE` changed (was 1.5)."),
            ("state.step", "Recompiled `f`: `state` now has an attribute `step` of its own."),
        ],
    ),
    "defaults of another function": (
        function(
            "return scaled(x) + 1",
            "f(t)\nscaled.__defaults__ = (3.5,)\nf(t)\nscaled.__kwdefaults__ = {'shift': 5}\nf(t)",
            head="def scaled(x, by=2.5, *, shift=1):\n    return x * by + shift\n",
        ),
        [
            ("by", "Recompiled `f`: default value 0 of `scaled` changed (was 2.5)."),
            ("shift", "Recompiled `f`: the default of `shift` of `scaled` changed (1 → 5)."),
        ],
    ),
    "a parameter of a nested module": (
        HEAD
        + "class Gate(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + "        self.gate = torch.nn.Parameter(torch.ones(3))\n\n    def forward(self, x):\n        return x * self.gate\n\n\n"
        + "net = torch.nn.Sequential(Gate(), Gate())\n\n\n@torch.compile\ndef f(x):\n    return net(x)\n\n\n"
        + "f(torch.ones(3))\nnet[1].gate.requires_grad_(False)\nf(torch.ones(3))\n",
        [("self.gate", "Recompiled `f`: `requires_grad` of `net[1].gate` changed (True → False).")],
    ),
    "classes": (
        function(
            "return x * kind.k", "f(t, A)\nf(t, B)", "x, kind", "class A:\n    k = 1\n\n\nclass B:\n    k = 2\n"
        ),
        [("kind", "Recompiled `f`: `kind` changed (A → B).")],
    ),
    "the same tensor twice": (
        function("x.add_(1)\nreturn x + y", "f(torch.ones(3), t)\nf(t, t)", "x, y"),
        [("x", "Recompiled `f`: `x` is now the same tensor as `y`.")],
    ),
    "a submodule that is switched to evaluation": (
        HEAD
        + "net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5))\n\n\n@torch.compile\ndef f(x):\n"
        + "    return net(x)\n\n\nf(torch.ones(2, 3))\nnet[1].eval()\nf(torch.ones(2, 3))\n",
        [("net", "Recompiled `f`: `net[1].training` changed (True → False).")],
    ),
}  # fmt: skip


def analyzed(program: str, folder: Path, host: WarmHost) -> list[Finding]:
    file = folder / "model.py"
    file.write_text(program)
    found = host.analyze(file).outcome.findings
    return [finding for finding in found if finding.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT)]


def marked(program: str, finding: Finding) -> str:
    place = finding.place
    assert place.line == place.end_line
    return program.splitlines()[place.line - 1][place.column - 1 : place.end_column - 1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_cause_is_what_is_new(name: str, tmp_path: Path, warm_host: WarmHost) -> None:
    program, expected = PROGRAMS[name]
    found = [(marked(program, finding), finding.message) for finding in analyzed(program, tmp_path, warm_host)]
    assert sorted(found) == sorted(expected)


def test_all_failed_guards_of_a_recompile_are_kept(tmp_path: Path, warm_host: WarmHost) -> None:
    program = NET + "c(torch.ones(96, 4))\n"
    size = next(f for f in analyzed(program, tmp_path, warm_host) if "size 0" in f.message)
    assert size.detail.splitlines() == [
        "[0/2] against 0/0: tensor 'x' size mismatch at index 0. expected 64, actual 96",
        "[0/2] against 0/1: tensor 'x' requires_grad mismatch. expected requires_grad=1",
        "[0/2] made for x of size [None, 4]",
    ]
    assert "    compared with [0/1]: `requires_grad` of `x` changed (True → False)" in size.explanation


def test_what_else_is_new_is_said(tmp_path: Path, warm_host: WarmHost) -> None:
    program = function("return x * n", "f(t, 1.5)\nf(torch.ones(5, dtype=torch.float64), 2.5)", "x, n")
    (finding,) = analyzed(program, tmp_path, warm_host)
    assert finding.message == "Recompiled `f`: `n` changed (was 1.5)."
    assert "    also new compared with [0/0]: dtype of `x` changed (float32 → float64)" in finding.explanation


def test_the_limit_is_told_by_what_is_new(tmp_path: Path, warm_host: WarmHost) -> None:
    program = function("return x.sin() if mode else x.cos()", "for m in 'abcdefghij':\n    f(t, m)", "x, mode")
    recompile, limit = sorted(analyzed(program, tmp_path, warm_host), key=lambda finding: finding.code)
    assert recompile.count == 7
    assert (
        limit.message
        == "Recompile limit reached: `f` falls back to eager when no compiled version fits (`mode` changed (was 'h'))."
    )
