"""Each quick fix, applied to a program and analyzed again with the real torch."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.finding_counts import FindingCounts
from compile_lens.analysis.outcome import Outcome
from compile_lens.fixes.effect import FixEffect
from compile_lens.fixes.fix import Fix, apply_fix
from compile_lens.fixes.offer import fixes_for
from compile_lens.fixes.verify import Verifier
from compile_lens.pipeline.analyze import analyze
from compile_lens.syntax.tree import parse
from compile_lens.workers.job import Job
from warm_host import WarmHost


@dataclass(frozen=True)
class Case:
    """A program, the fix that is applied to it, a piece of the changed text, and what that changes."""

    rule: str
    program: str
    written: str
    words: str
    helps: bool = True


HEAD = "import torch\n\n\n"
SIZES = "for n in (3, 4, 5, 6):\n    f(torch.ones(n))"


def compiled(
    *lines: str, calls: str = "f(torch.ones(2))", options: str = "", head: str = HEAD, parameters: str = "x"
) -> str:
    """A program with a compiled function of these lines, and what calls it."""
    body = "".join(f"    {line}\n" for line in lines)
    return f"{head}@torch.compile{options}\ndef f({parameters}):\n{body}\n\n{calls}\n"


PRINTS = compiled("x = x + 1", 'print("a", x)', "return x * 2")
LOGS = compiled(
    'logger.warning("seen")',
    "return x * 2",
    head="import logging\n\nimport torch\n\nlogger = logging.getLogger(__name__)\n\n\n",
)
HELPER = compiled(
    "return helper(x) + 1",
    calls='def helper(x):\n    print("a")\n    return x * 2\n\n\nf(torch.ones(2))',
)
COUNTER = (
    HEAD
    + """\
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * 2


net = torch.compile(Net())
for _ in range(3):
    net(torch.ones(3))
"""
)
CASES = [
    Case("remove-print", PRINTS, "    x = x + 1\n    return x * 2\n", "1 → 0 breaks"),
    Case(
        "reorderable-logging",
        compiled("x = x + 1", "print(x)", "return x * 2"),
        "import torch\n\ntorch._dynamo.config.reorderable_logging_functions.add(print)\n",
        "1 → 0 breaks",
    ),
    Case("ignore-logging", LOGS, ".ignore_logging_functions.add(logger.warning)\n", "1 → 0 breaks"),
    Case(
        "capture-scalar-outputs",
        compiled("n = x.sum().item()", "return x * n"),
        "\ntorch._dynamo.config.capture_scalar_outputs = True\n",
        "1 → 0 breaks",
    ),
    Case(
        "capture-dynamic-output-shape-ops",
        compiled("return torch.nonzero(x > 0) * 2"),
        "\ntorch._dynamo.config.capture_dynamic_output_shape_ops = True\n",
        "1 → 0 breaks",
    ),
    Case(
        "shapes-spec",
        compiled("return x * 2", calls="for n in (3, 4, 5):\n    f(torch.ones(n, 4))"),
        '@torch.compile(shapes_spec={"x": TensorSpec([ShapeVar("x0"), None])})\n',
        "1 → 0 recompiles, 2 → 1 graph",
    ),
    Case(
        "cond-on-size",
        compiled("if x.shape[0] > 4:", "    return x.sum()", "return x.sum() + 1", calls=SIZES),
        "    return torch.cond(x.shape[0] > 4, lambda: x.sum(), lambda: x.sum() + 1)\n",
        "2 → 0 recompiles, 3 → 1 graph",
    ),
    Case(
        "own-version",
        compiled(
            'return x.sum() if how == "sum" else x.mean()',
            parameters="x, how",
            calls='f(torch.ones(2), "sum")\nf(torch.ones(2), "mean")',
        ),
        "f_mean = torch.compile(f, isolate_recompiles=True)\n",
        "1 → 0 recompiles, results equal",
    ),
    Case(
        "make-before",
        compiled(
            "if h is None:",
            "    h = x.new_zeros(2)",
            "return h + x",
            parameters="x, h",
            calls="h = None\nfor _ in range(3):\n    h = f(torch.ones(2), h)",
        ),
        "    if h is None:\n        h = torch.ones(2).new_zeros(2)\n",
        "1 → 0 recompiles, 2 → 1 graph",
    ),
    Case("keep-tensor", compiled("return x * (1 + x.max().item())"), "return x * (1 + x.max())\n", "1 → 0 breaks"),
    Case(
        "where",
        compiled("if x.sum() > 1:", "    x = x.sin()", "return x * 2"),
        "    x = torch.where(x.sum() > 1, x.sin(), x)\n",
        "1 → 0 breaks",
    ),
    Case(
        "where",
        compiled("if x.sum() > 1:", "    return x + 1", "return x - 1"),
        "    return torch.where(x.sum() > 1, x + 1, x - 1)\n",
        "1 → 0 breaks",
    ),
    Case(
        "where",
        compiled("return x + 1 if x.any() else x"),
        "    return torch.where(x.any(), x + 1, x)\n",
        "1 → 0 breaks",
    ),
    Case(
        "cond",
        compiled("if x.sum():", "    x = x.sin()", "else:", "    x = x.cos()", "return x * 2"),
        "    x = torch.cond(x.sum() != 0, lambda: x.sin(), lambda: x.cos())\n",
        "1 → 0 breaks",
    ),
    Case("dynamic-true", compiled("return x * 2", calls=SIZES), "@torch.compile(dynamic=True)\n", "1 → 0 recompiles"),
    Case(
        "mark-dynamic",
        compiled("return x * 2", calls=SIZES),
        "    x = torch.ones(n)\n    torch._dynamo.mark_dynamic(x, 0)\n    f(x)\n",
        "1 → 0 recompiles",
    ),
    Case(
        "maybe-mark-dynamic",
        compiled("return x * 2", calls=SIZES),
        "    torch._dynamo.maybe_mark_dynamic(x, 0)\n    f(x)\n",
        "1 → 0 recompiles",
    ),
    Case(
        "recompile-limit",
        compiled(
            "return x * 2",
            calls=SIZES,
            options="(dynamic=False)",
            head="import torch\n\ntorch._dynamo.config.recompile_limit = 2\n\n\n",
        ),
        "torch._dynamo.config.recompile_limit = 4\n",
        "1 → 0 refused calls",
    ),
    Case(
        "pass-tensor",
        compiled("return x * k", calls="for k in (2.0, 3.0, 4.0):\n    f(torch.ones(3), k)", parameters="x, k"),
        "    f(torch.ones(3), torch.tensor(k))\n",
        "→ 0 recompiles",
    ),
    Case("count-outside", COUNTER, "    net.calls += 1\n    net(torch.ones(3))\n", "→ 0 recompiles"),
    Case("disable", HELPER, "\n@torch.compiler.disable(reason=", "2 → 1 break"),
    Case(
        "disable",
        compiled("t = time.time()", "return x * t", head="import time\n\nimport torch\n\n\n"),
        'time_eagerly = torch.compiler.disable(time.time, reason="',
        "no effect: 1 → 1 break",
        helps=False,
    ),
    Case(
        "leaf-function",
        compiled(
            "note(x)",
            "return x * 2",
            calls='def note(x):\n    print("mean", x.mean().item())\n\n\nf(torch.ones(2))',
            options='(backend="aot_eager")',
        ),
        '@torch._dynamo.decorators.leaf_function\ndef note(x):\n    print("mean", x.mean().item())\n\n\n'
        "@note.register_fake\ndef _(x):\n    pass\n",
        "→ 0 breaks",
    ),
    Case(
        "write-anyway",
        compiled(
            "x, mask = x * 2, x == 0",
            "if mask.any():",
            '    x[mask] = float("-inf")',
            "return x",
            calls="f(torch.ones(2))\nf(torch.zeros(2))",
        ),
        '    x[mask] = float("-inf")\n',
        "→ 0 breaks",
    ),
    Case(
        "keep-mask",
        compiled(
            "mask = x == 0",
            "if not mask.any():",
            "    mask = None",
            "return x if mask is None else x.masked_fill(mask, 1.0)",
            calls="f(torch.ones(2))\nf(torch.zeros(2))",
        ),
        "    mask = x == 0\n    return x if",
        "1 → 0 breaks",
    ),
    Case(
        "default-keys",
        compiled(
            'return x * options.get("scale", 1)',
            parameters="x, options",
            calls='f(torch.ones(2), {})\nf(torch.ones(2), {"scale": 2})',
        ),
        'f(torch.ones(2), {"scale": torch.tensor(1)})\nf(torch.ones(2), {"scale": torch.tensor(2)})',
        "1 → 0 recompiles, 2 → 1 graph",
    ),
    Case(
        "isolate-recompiles",
        "import torch\n\nlayers = [torch.compile(torch.nn.Linear(2, n)) for n in (2, 3)]\n"
        "for layer in layers:\n    layer(torch.ones(2))\n",
        "torch.compile(torch.nn.Linear(2, n), isolate_recompiles=True)",
        "1 → 0 recompiles",
    ),
    Case(
        "check-in-graph",
        compiled("if (x < 0).any():", "    raise ValueError(f'{x.min()} of {len(x)}')", "return x * 2"),
        "    check_x(x)\n    return x * 2\n",
        "1 → 0 breaks",
    ),
    Case(
        "tell-in-graph",
        compiled("if x.max() > 0:", "    print('large', float(x.max()))", "return x * 2"),
        "    tell_x(x)\n    return x * 2\n",
        " → 0 breaks, ",
    ),
    Case(
        "keep-tensor-tell",
        compiled("top = x.max().item()", "if top > 0:", "    print('large', top)", "return x * top"),
        "    top = top.item()\n    if top > 0:\n",
        " → 0 breaks, ",
    ),
    Case(
        "assume-flag",
        compiled(
            "some = (x > 1).any().item()",
            "if some:",
            "    return x[x > 1].sum()",
            "return x",
        ),
        '        torch._assert_async(~((x > 1).any()), "compiled for some = False")\n        some = False\n',
        "→ 0 breaks",
    ),
    Case(
        "guard-or-false",
        compiled(
            "y = x[x > 0]",
            "if y.shape[0] == 0:",
            "    print('none')",
            "return y * 2",
            head="import torch\n\ntorch._dynamo.config.capture_dynamic_output_shape_ops = True\n\n\n",
        ),
        "    if guard_or_false(y.shape[0] == 0):\n",
        "→ 0 breaks",
    ),
    Case("allow-in-graph", HELPER, "\n@torch.compiler.allow_in_graph\ndef helper(x):\n", "2 → 0 breaks"),
    Case("custom-op", HELPER, "def helper(x: torch.Tensor) -> torch.Tensor:\n", "2 → 0 breaks"),
    Case(
        "allow-rnn",
        compiled(
            "return net(x)[0] * 2",
            calls="f(torch.ones(3, 1, 2))",
            head="import torch\n\nnet = torch.nn.LSTM(2, 2).requires_grad_(False)\n\n\n",
        ),
        "import torch\n\ntorch._dynamo.config.allow_rnn = True\n",
        "→ 0 breaks",
    ),
    Case(
        "loop-over-all",
        compiled(
            "hit = (x > 1).nonzero()",
            "total = x.sum()",
            "for i in hit:",
            "    total = total + weights[i] * (x * 2 - 2)[i].clamp(min=0).sum()",
            "return total",
            calls="f(torch.tensor([0.0, 3.0]))",
            head="import torch\n\nweights = [2.0, 3.0]\n\n\n",
        ),
        "    hit = (x > 1)\n",
        "→ 0 breaks",
    ),
    Case(
        "skip-guard-on-globals-unsafe",
        compiled(
            "return x * 2 if mode.name else x",
            calls='for mode.name in ("a", "b"):\n    f(torch.ones(2))',
            head="import types\n\nimport torch\n\nmode = types.SimpleNamespace()\n\n\n",
        ),
        '@torch.compile(options={"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe})\n',
        "1 → 0 recompiles",
    ),
    Case(
        "ignore",
        PRINTS,
        '    print("a", x)  # compile-lens: ignore[GB0059]\n',
        "no effect: 1 → 1 break",
        helps=False,
    ),
]


@pytest.fixture(scope="module")
def verifier_of(warm_host: WarmHost, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Verifier]:
    """What verifies fixes of a program, one for all cases with it: the program runs once as it is and once in eager."""

    @functools.cache
    def made(text: str) -> Verifier:
        file = tmp_path_factory.mktemp("program") / "program.py"
        file.write_text(text)
        job = Job(str(file), text=text, timeout_s=60.0)
        return Verifier(analyze, job, text, warm_host.run(job))

    return made


def offered(outcome: Outcome, text: str, rule: str) -> tuple[Finding, Fix]:
    tree = parse(text)
    found = [(finding, fix) for finding in outcome.findings for fix in fixes_for(finding, tree)]
    chosen = [(finding, fix) for finding, fix in found if fix.rule == rule]
    assert chosen, (
        f"offered: {[fix.rule for _, fix in found]} for {[(f.code, f.message, f.detail) for f in outcome.findings]}"
    )
    return chosen[0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_a_fix_does_what_it_says(case: Case, warm_host: WarmHost, verifier_of: Callable[[str], Verifier]) -> None:
    verifier = verifier_of(case.program)
    finding, fix = offered(verifier.before, case.program, case.rule)
    text = apply_fix(case.program, fix)
    assert case.written in text
    effect = warm_host.wait_for(verifier.effect(warm_host.shared(), fix))
    assert (case.words in effect.words(finding.kind), effect.helps) == (True, case.helps), (
        effect,
        text,
    )
    assert effect.results.equal or effect.results.why == "no compiled call returned"


@pytest.mark.parametrize("rule", ["tell-in-graph", "keep-tensor-tell"])
def test_what_the_graph_tells_is_what_the_program_told(
    rule: str, warm_host: WarmHost, tmp_path: Path, verifier_of: Callable[[str], Verifier]
) -> None:
    program = next(case.program for case in CASES if case.rule == rule)
    _, fix = offered(verifier_of(program).before, program, rule)
    file, told = tmp_path / "told.py", []
    for text in (program, apply_fix(program, fix)):
        file.write_text(text, encoding="utf-8")
        output = warm_host.run(Job(str(file), timeout_s=60.0)).output
        told.append([line for line in output.splitlines() if line.startswith("large")])
    assert told[0] == told[1] == ["large 1.0"]


def test_every_rule_has_a_case_and_a_line_in_the_docs() -> None:
    rules = {"mark-dynamic", "maybe-mark-dynamic", "capture-scalar-outputs"}
    for module in (Path(__file__).parents[2] / "server/compile_lens/fixes/rewrites").glob("*.py"):
        rules |= set(re.findall(r'make\(\s*"([a-z-]+)"', module.read_text()))
    pure = "".join(
        (Path(__file__).parent / name).read_text()
        for name in ("rewritten_lines.py", "test_rewrites.py", "test_recompile_rewrites.py", "test_one_graph.py")
    )
    page = (Path(__file__).parents[2] / "docs" / "fixes.md").read_text()
    cases = {case.rule for case in CASES}
    assert rules - cases - {rule for rule in rules if f'"{rule}"' in pure} == set()
    assert [rule for rule in rules if f"`{rule}`" not in page] == []


def test_effects_in_words() -> None:
    assert FixEffect(FindingCounts(breaks=3), FindingCounts(breaks=2)).words(Kind.GRAPH_BREAK) == "3 → 2 breaks"
    assert (
        FixEffect(FindingCounts(recompiles=3), FindingCounts(recompiles=0, breaks=1)).words(Kind.RECOMPILE)
        == "0 → 1 break, 3 → 0 recompiles"
    )
    assert not FixEffect(FindingCounts(recompiles=3), FindingCounts(breaks=1)).helps
    assert (
        FixEffect(FindingCounts(breaks=3), FindingCounts(breaks=3)).words(Kind.GRAPH_BREAK) == "no effect: 3 → 3 breaks"
    )
    assert FixEffect(FindingCounts(breaks=3), FindingCounts(errors=1)).harms
    assert FixEffect(FindingCounts(breaks=3), FindingCounts(), ended=False).harms
    assert FixEffect(FindingCounts(refused=2, recompiles=1), FindingCounts(recompiles=3)).helps
