"""Each rewrite for recompiles on its own: a program and a failed guard in, a text out; and what verified ones do."""

from __future__ import annotations

import ast

import pytest

from compile_lens.analysis.finding import Finding, Kind, Place, Recompiled, Severity
from compile_lens.analysis.finding_counts import FindingCounts
from compile_lens.fixes.as_json import effect_json
from compile_lens.fixes.effect import FixEffect
from compile_lens.fixes.fix import Fix, FixKind, apply_fix
from compile_lens.fixes.offer import fixes_for
from compile_lens.fixes.results import ResultsCompared
from compile_lens.fixes.verify import CandidateFix
from compile_lens.syntax.tree import parse

HEAD = "import copy\nimport math\nimport os\n\nimport torch\n\n\n"
RECOMPILES = [
    (
        "tensor-number",
        "class State:\n    pass\n\n\nstate = State()\nstate.rate = 1.0\n\n\n@torch.compile\ndef f(x):\n    return x * state.rate\n\n\n"
        "for rate in (1.0, 2.0):\n    state.rate = rate\n    f(X)\n",
        "[0/1] against 0/0: G['state'].rate == 1.0",
        "    state.rate = torch.tensor(rate)\n",
    ),
    (
        "make-once",
        "@torch.compile\ndef f(x, g):\n    return g(x)\n\n\nfor n in range(3):\n    f(X, lambda t: t + 1)\n",
        "[0/1] against 0/0: ___check_obj_id(L['g'], 94)",
        "g = lambda t: t + 1\nfor n in range(3):\n    f(X, g)\n",
    ),
    (
        "compile-once",
        "def f(x):\n    return x + 1\n\n\nfor n in range(3):\n    g = torch.compile(f)\n    g(X)\n",
        "[0/1] against 0/0: ___check_obj_id(L['g'], 94)",
        "g = torch.compile(f)\nfor n in range(3):\n    g(X)\n",
    ),
    (
        "mark-unbacked",
        "@torch.compile\ndef f(x):\n    return x * 2\n\n\nfor n in (1, 2):\n    x = torch.ones(n)\n    f(x)\n",
        "[0/1] against 0/0: tensor 'x' size mismatch at index 0. expected 1, actual 2",
        "    torch._dynamo.decorators.mark_unbacked(x, 0)\n    f(x)\n",
    ),
    (
        "pass-tensor",
        "@torch.compile\ndef f(x, config):\n    return x * config['rate'][1]\n\n\n"
        "f(X, {'rate': [1, 2.0]})\nc = {'rate': [1, 3.0]}\nf(X, c)\n",
        "[0/1] against 0/0: config['rate'][1] == 2.0",
        "f(X, {'rate': [1, torch.tensor(2.0)]})\nc = {'rate': [1, torch.tensor(3.0)]}\nf(X, c)\n",
    ),
    (
        "pass-tensor",
        "@torch.compile\ndef f(x, rate=1.0):\n    return x * rate\n\n\nf(X)\nf(X, 2.0)\n",
        "[0/1] against 0/0: rate == 1.0",
        "f(X, rate=torch.tensor(1.0))\nf(X, torch.tensor(2.0))\n",
    ),
    (
        "pass-tensor-where",
        "@torch.compile\ndef f(x, doubled):\n    if doubled:\n        x = x * 2\n    return x\n\n\nf(X, True)\nf(X, False)\n",
        "[0/1] against 0/0: doubled == True",
        "    x = torch.where(doubled != 0, x * 2, x)\n    return x\n\n\nf(X, torch.tensor(True))\nf(X, torch.tensor(False))\n",
    ),
    (
        "tensor-number",
        "def main():\n    @torch.compile\n    def f(x):\n        return x * rate\n\n    for rate in (1.0, 2.0):\n        f(X)\n",
        "[0/1] against 0/0: rate == 1.0",
        "    for rate in map(torch.tensor, (1.0, 2.0)):\n",
    ),
    (
        "unspecialized-int",
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        return x * self.n\n\n    def f(self):\n        pass\n",
        "[0/1] against 0/0: self.n == 1",
        "torch._dynamo.config.allow_unspec_int_on_nn_module = True\n",
    ),
    (
        "mark-dynamic",
        "@torch.compile\ndef f(cache):\n    return cache.keys.sum(0)\n\n\nf(cache)\n",
        "[0/1] against 0/0: tensor 'cache.keys' size mismatch at index 1. expected 3, actual 4",
        "torch._dynamo.mark_dynamic(cache.keys, 1)\nf(cache)\n",
    ),
    (
        "shapes-spec",
        "@torch.compile\ndef f(x, n):\n    return x * n\n\n\nf(X, 2)\n",
        "[0/1] against 0/0: tensor 'x' size mismatch at index 1. expected 3, actual 4\n"
        "[0/1] made for x of size [2, None]\n[0/2] against 0/1: n == 2",
        '@torch.compile(shapes_spec={"x": TensorSpec([None, ShapeVar("x1")]), "n": IntVar("n")})\n',
    ),
    (
        "pad",
        "@torch.compile\ndef f(x):\n    return x.sum()\n\n\nf(X)\n",
        "[0/1] against 0/0: tensor 'x' size mismatch at index 0. expected 3, actual 5\n[0/1] made for x of size [None, 4]",
        "f(torch.nn.functional.pad(X, (0, 0, 0, -X.shape[0] % 8)))\n",
    ),
    (
        "cond-on-size",
        "@torch.compile\ndef f(x):\n    if x.shape[0] > 3:\n        return x + 1\n    return x - 1\n\n\nf(X)\n",
        "[0/1] against 0/0: tensor 'x' size mismatch at index 0. expected 3, actual 4",
        "@torch.compile(dynamic=True)\ndef f(x):\n    return torch.cond(x.shape[0] > 3, lambda: x + 1, lambda: x - 1)\n",
    ),
    (
        "join-outside",
        "@torch.compile\ndef f(parts):\n    return torch.cat(parts, dim=1).sum()\n\n\nf([X, X])\n",
        "[0/1] against 0/0: len(parts) == 2",
        "    return parts.sum()\n\n\nf(torch.cat([X, X], dim=1))\n",
    ),
    (
        "contiguous",
        "@torch.compile\ndef f(x):\n    return x.sum()\n\n\nf(X)\nf(X.t())\n",
        "[0/1] against 0/0: tensor 'x' stride mismatch at index 0. expected 6, actual 1",
        "f(X.contiguous())\nf(X.t().contiguous())\n",
    ),
    (
        "same-dtype",
        "@torch.compile\ndef f(x):\n    return x.sum()\n\n\nf(X + 1)\n",
        "[0/1] against 0/0: tensor 'x' dtype mismatch. expected Long, actual Int",
        "f((X + 1).to(torch.int32))\n",
    ),
    (
        "no-grad",
        "@torch.compile\ndef f(x):\n    return x.sum()\n\n\nf(X)\n",
        "[0/1] against 0/0: GLOBAL_STATE changed: grad_mode",
        "@torch.no_grad()\n@torch.compile\ndef f(x):\n",
    ),
    (
        "set-once",
        "@torch.compile\ndef f(x):\n    return x.sum()\n\n\nf(X)\ntorch.set_num_threads(1)\nf(X)\n",
        "[0/1] against 0/0: GLOBAL_STATE changed: num_threads",
        "import torch\n\ntorch.set_num_threads(1)\n",
    ),
    (
        "make-before",
        "@torch.compile\ndef f(x, h=None):\n    if h is None:\n        h = x.new_zeros(3)\n    return x + h\n\n\n"
        "state = None\nf(X)\nf(X, state)\nf(X, X)\n",
        "[0/1] against 0/0: h is None",
        "f(X, h=X.new_zeros(3))\nif state is None:\n    state = X.new_zeros(3)\nf(X, state)\nf(X, X)\n",
    ),
    (
        "make-each-time",
        "class Net(torch.nn.Module):\n    def forward(self, x):\n        if x.shape[0] > self.n:\n            self.n = x.shape[0]\n"
        "            self.table = torch.arange(self.n)\n        return x + self.table\n\n    def f(self):\n        pass\n",
        "[0/1] against 0/0: self.n == 3",
        "    def forward(self, x):\n        self.n = x.shape[0]\n        self.table = torch.arange(self.n)\n        return",
    ),
    (
        "make-before",
        "@torch.compile\ndef f(x, h=None):\n    if h is None:\n        h = x.new_zeros(3)\n    return x + h\n\n\n"
        "state = None\nall = [f(x, h) for x, h in [(X, state)]]\n",
        "[0/1] against 0/0: h is None",
        "all = [f(x, x.new_zeros(3) if h is None else h) for x, h in",
    ),
    (
        "pass-tensor",
        "@torch.compile\ndef f(x, last):\n    return x * last\n\n\nfor n in range(3):\n    f(X, n == 2)\n",
        "[0/1] against 0/0: last == False",
        "    f(X, torch.tensor(n == 2))\n",
    ),
    (
        "same-container",
        "@torch.compile\ndef f(parts):\n    return parts[0]\n\n\nf([X])\nf((X, X,))\nf(X.unbind())\n",
        "[0/1] against 0/0: ___check_type_id(parts, 94), type=<class 'list'>",
        "f([X])\nf([X, X])\nf(list(X.unbind()))\n",
    ),
    (
        "default-keys",
        "@torch.compile\ndef f(x, options):\n    return x * options.get('scale', 1)\n\n\n"
        "f(X, {})\nf(X, {'name': 1})\nf(X, {'scale': 2})\n",
        "[0/1] against 0/0: not ___dict_contains('scale', options)",
        "f(X, {\"scale\": torch.tensor(1)})\nf(X, {'name': 1, \"scale\": torch.tensor(1)})\nf(X, {'scale': torch.tensor(2)})\n",
    ),
    (
        "isolate-recompiles",
        "def f(x):\n    return x + 1\n\n\ng, h = torch.compile(f), torch.compile(f, dynamic=True)\ng(X)\nh(X)\n",
        "[0/1] against 0/0: ___check_obj_id(L['g'], 94)",
        "g, h = torch.compile(f, isolate_recompiles=True), torch.compile(f, dynamic=True, isolate_recompiles=True)\n",
    ),
    (
        "version-by-argument",
        "@torch.compile\ndef f(x, h):\n    return x if h is None else x + h\n\n\nh = None\nfor n in range(3):\n    h = f(X, h)\n",
        "[0/1] against 0/0: h is None",
        "@functools.cache\ndef f_for(h_is_none):\n    return torch.compile(f, isolate_recompiles=True)\n\n\n"
        "h = None\nfor n in range(3):\n    h = f_for(h is None)(X, h)\n",
    ),
    (
        "version-by-argument",
        "@torch.compile\ndef f(x, layer):\n    return layer(x)\n\n\nfor layer in LAYERS:\n    f(X, layer)\n",
        "[0/1] against 0/0: ___check_type_id(layer, 94), type=<class 'torch.nn.modules.linear.Linear'>",
        "    f_for(layer)(X, layer)\n",
    ),
    (
        "version-by-argument",
        "@torch.compile(mode='default')\ndef f(x, how='sum'):\n    return getattr(x, how)()\n\n\n"
        "for how in ('sum', 'mean'):\n    f(X, how)\n",
        "[0/1] against 0/0: how == 'sum'",
        "@functools.cache\ndef f_for(how):\n    return torch.compile(f, mode='default', isolate_recompiles=True)\n\n\n"
        "for how in ('sum', 'mean'):\n    f_for(how)(X, how)\n",
    ),
]


def fixes_of(text: str, detail: str, recompiled: tuple[Recompiled, ...] = ()) -> dict[str, Fix]:
    line = text.count("\n", 0, text.index("def f")) + 1
    place = Place("p.py", line, 1, line, 6)
    finding = Finding("recompile", Kind.RECOMPILE, Severity.WARNING, "m", place, detail=detail, recompiles=recompiled)
    return {fix.rule: fix for fix in fixes_for(finding, parse(text))}


@pytest.mark.parametrize(("rule", "body", "detail", "expected"), RECOMPILES, ids=[case[0] for case in RECOMPILES])
def test_a_rewrite_of_what_recompiles(rule: str, body: str, detail: str, expected: str) -> None:
    text = f"{HEAD}X = torch.ones(2)\n\n\n{body}"
    fixes = fixes_of(text, detail)
    assert rule in fixes, list(fixes)
    changed = apply_fix(text, fixes[rule])
    ast.parse(changed)
    assert expected in changed, changed


def test_calls_that_need_graphs_of_their_own_get_a_version() -> None:
    text = f"{HEAD}def f(x):\n    return x\n\n\ng = torch.compile(f, dynamic=False)\ng(X)\nwith torch.no_grad():\n    g(X)\n    g(X)\n"
    line = text.count("\n", 0, text.index("    g(X)")) + 1
    guard = "GLOBAL_STATE changed: grad_mode"
    recompiled = Recompiled("0/1", "grad mode changed (on → off)", "0/0", guard, Place("p.py", line, 5, line, 9))
    fix = fixes_of(text, f"[0/1] against 0/0: {guard}", (recompiled,))["own-version"]
    assert fix.kind is FixKind.SEPARATE
    assert apply_fix(text, fix).endswith(
        "g = torch.compile(f, dynamic=False)\ng_2 = torch.compile(f, dynamic=False, isolate_recompiles=True)\n"
        "g(X)\nwith torch.no_grad():\n    g_2(X)\n    g_2(X)\n"
    )


def test_a_recompile_is_helped_only_where_it_is_gone_itself() -> None:
    place = Place("p.py", 1, 1, 1, 2)
    finding = Finding("recompile", Kind.RECOMPILE, Severity.WARNING, "Recompiled `f`: `n` changed.", place)
    before, after = FindingCounts(breaks=1, recompiles=2), FindingCounts(recompiles=1)
    still = FixEffect(before, after, recompiled=(finding.message,))
    gone = FixEffect(before, after, recompiled=("Recompiled `f`: `m` changed.",))
    other = FixEffect(before, FindingCounts(recompiles=2))
    helps = [CandidateFix(finding, Fix("r", "t", ()), effect).helps for effect in (still, gone, other)]
    assert helps == [False, True, False]


GLOBAL = "@torch.compile{}\ndef f(x):\n    return x * state.rate\n\n\nf(X)\n"


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ("", '(options={"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe})'),
        (
            "(dynamic=True)",
            '(dynamic=True, options={"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe})',
        ),
        (
            '(options={"max_autotune": True})',
            '(options={"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe, "max_autotune": True})',
        ),
        ('(mode="default")', ""),
        ("(options=OPTIONS)", ""),
        ('(options={"guard_filter_fn": mine})', ""),
    ],
)
def test_guards_of_globals_are_dropped_where_options_can_be_added(options: str, written: str) -> None:
    text = f"{HEAD}X = torch.ones(2)\n\n\n{GLOBAL.format(options)}"
    fix = fixes_of(text, "[0/1] against 0/0: G['state'].rate == 1.0").get("skip-guard-on-globals-unsafe")
    assert (fix is not None) == bool(written)
    if fix is not None:
        assert fix.kind is FixKind.UNSAFE
        assert fix.title == "Unsafe: do not check global variables in `f` (`skip_guard_on_globals_unsafe`)"
        assert f"@torch.compile{written}\n" in apply_fix(text, fix)


@pytest.mark.parametrize(
    ("guard", "offered"),
    [
        ("G['state'].rate == 1.0", ["skip-guard-on-globals-unsafe", "keep-tensor-guards-unsafe"]),
        ("self.n == 1", ["skip-guard-on-all-nn-modules-unsafe", "keep-tensor-guards-unsafe"]),
        ("___check_obj_id(L['g'], 94)", ["keep-tensor-guards-unsafe"]),
        ("tensor 'x' size mismatch at index 0. expected 3, actual 5", []),
        ("tensor 'x' dtype mismatch. expected Long, actual Int", []),
        ("GLOBAL_STATE changed: grad_mode", []),
    ],
)
def test_which_guards_a_filter_may_drop(guard: str, offered: list[str]) -> None:
    text = f"{HEAD}X = torch.ones(2)\n\n\n@torch.compile\ndef f(x, g=None):\n    return x\n\n\nf(X)\n"
    assert [rule for rule in fixes_of(text, f"[0/1] against 0/0: {guard}") if rule.endswith("unsafe")] == offered


def test_an_unsafe_fix_is_offered_only_once_it_is_proven() -> None:
    place = Place("p.py", 1, 1, 1, 2)
    finding = Finding("recompile", Kind.RECOMPILE, Severity.WARNING, "Recompiled `f`: `n` changed.", place)
    fix = Fix("r", "t", (), FixKind.UNSAFE)
    counts = FindingCounts(recompiles=1), FindingCounts()
    effects = (None, FixEffect(*counts), FixEffect(*counts, results=ResultsCompared(True)))
    assert [CandidateFix(finding, fix, effect).is_offered for effect in effects] == [False, False, True]


def test_a_fix_after_which_nothing_is_compiled_does_not_help_by_accident() -> None:
    place = Place("p.py", 1, 1, 1, 2)
    finding = Finding("recompile", Kind.RECOMPILE, Severity.WARNING, "Recompiled `f`: `n` changed.", place)
    effect = FixEffect(FindingCounts(recompiles=1), FindingCounts(), graphs=(1, 0), results=ResultsCompared(True))
    kinds = (FixKind.CHANGE, FixKind.LOSSY, FixKind.SEPARATE, FixKind.EXCLUDE)
    assert [CandidateFix(finding, Fix("r", "t", (), kind), effect).helps for kind in kinds] == [
        False,
        False,
        False,
        True,
    ]
    assert not effect_json(effect)["helps"]
    assert effect.words(Kind.RECOMPILE) == "1 → 0 recompiles, 1 → 0 graphs, nothing is compiled, results equal"
