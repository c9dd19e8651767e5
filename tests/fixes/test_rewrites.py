"""Each rewrite on its own: a program and a place in, a text out."""

from __future__ import annotations

import ast

import pytest
from tests.fixes.rewritten_lines import BREAKS, Case

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.fixes.fix import Fix, FixKind, apply_fix, line_before, tokens_changed
from compile_lens.fixes.offer import fixes_for
from compile_lens.fixes.rewrites.editing import configuration
from compile_lens.syntax.tree import parse

HEAD = "import copy\nimport math\nimport os\nimport time\n\nimport torch\n\n\n"


def _is_flat(lines: str) -> bool:
    """Whether further lines are statements of the function, not of a block in it."""
    return not lines.partition("\n")[0].endswith(":")


def text_of(case: Case) -> str:
    lines = case.lines
    if not _is_flat(lines):
        lines = "\n".join(f"    {line}" if number else line for number, line in enumerate(lines.split("\n")))
        return f"{HEAD}@torch.compile\ndef f(x, y):\n    {lines}\n    return x\n\n\nf(x, y)\n"
    return f"{HEAD}@torch.compile\ndef f(x, y):\n    {lines}\n    return x\n\n\nf(x, y)\n"


def at(text: str, piece: str) -> Place:
    start = text.index(piece, text.index("def "))
    line = text.count("\n", 0, start) + 1
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    return Place("p.py", line, column, line + piece.count("\n"), column + len(piece))


@pytest.mark.parametrize("case", BREAKS, ids=lambda case: case.rule)
def test_a_rewrite_writes_what_a_person_would(case: Case) -> None:
    text = text_of(case)
    ast.parse(text)
    finding = Finding("GB0001", case.kind, Severity.WARNING, "m", at(text, case.at), detail=case.detail)
    fixes = {fix.rule: fix for fix in fixes_for(finding, parse(text))}
    assert case.rule in fixes, list(fixes)
    changed = apply_fix(text, fixes[case.rule])
    ast.parse(changed)
    assert case.expected in changed, changed
    assert 0 < tokens_changed(text, fixes[case.rule]) < 160


BUFFERS = """\
class Pad(torch.nn.Module):
    def __init__(self, conv):
        super().__init__()
        stride = torch.tensor(conv.stride[0], dtype=torch.int64)
        kernel = torch.tensor((conv.kernel_size[0] - 1) * 2, dtype=torch.int64)
        self.register_buffer("stride", stride, persistent=False)
        self.register_buffer("total", kernel - stride, persistent=False)
        self.register_buffer("table", torch.arange(3), persistent=False)

    def forward(self, x):
        extra = torch.ceil(x.shape[0] / self.stride).to(torch.int64) * self.total
        return torch.nn.functional.pad(x, (0, extra))
"""


def test_constants_in_buffers_become_numbers_unless_they_are_saved() -> None:
    def changed(text: str) -> str | None:
        finding = Finding("GB0170", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, "torch.nn.functional"))
        fixes = {fix.rule: fix for fix in fixes_for(finding, parse(text))}
        return apply_fix(text, fixes["number-buffers"]) if "number-buffers" in fixes else None

    text = changed(HEAD + BUFFERS)
    assert text is not None
    ast.parse(text)
    for line in (
        "stride = conv.stride[0]",
        "kernel = (conv.kernel_size[0] - 1) * 2",
        "self.stride = stride",
        "self.total = kernel - stride",
        'self.register_buffer("table", torch.arange(3), persistent=False)',
        "extra = math.ceil(x.shape[0] / self.stride) * self.total",
    ):
        assert f"        {line}\n" in text, text
    assert changed(HEAD + BUFFERS.replace(", persistent=False", "")) is None


@pytest.mark.parametrize(
    "options",
    [
        "torch._dynamo.config.verbose = True\n",
        "torch._dynamo.config.verbose = True\ntorch._dynamo.config.suppress_errors = False\n",
    ],
)
def test_an_option_joins_those_that_the_file_sets(options: str) -> None:
    text = f"import torch\n\n{options}\nN = 3\n\n\ndef f(x):\n    return x\n"
    added = "torch._dynamo.config.capture_scalar_outputs = True\n"
    edit = configuration(parse(text), added.rstrip())
    assert apply_fix(text, Fix("r", "t", (edit,))) == text.replace(options, options + added)
    before_import = f"import torch\n\n{options}\nimport math\n\nN = 3\n"
    edit = configuration(parse(before_import), added.rstrip())
    assert apply_fix(before_import, Fix("r", "t", (edit,))).endswith(f"import math\n\n{added}\nN = 3\n")


def test_recurrent_layers_are_allowed() -> None:
    text = text_of(Case("", "x = net(x)", "", ""))
    finding = Finding("GB0014", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, "net(x)"))
    fix = {fix.rule: fix for fix in fixes_for(finding, parse(text))}["allow-rnn"]
    assert "import torch\n\ntorch._dynamo.config.allow_rnn = True\n" in apply_fix(text, fix)


@pytest.mark.parametrize("also", ["print(hit)", "hit = hit[:1]"])
def test_a_loop_over_what_is_used_elsewhere_stays(also: str) -> None:
    text = text_of(Case("", f"hit = x.nonzero()\n    {also}\n    for i in hit:\n        y = y + x[i]", "", ""))
    finding = Finding("GB0036", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, "x.nonzero()"))
    assert "loop-over-all" not in {fix.rule for fix in fixes_for(finding, parse(text))}


def test_a_disabled_function_is_compiled_again() -> None:
    text = f"{HEAD}@torch.compiler.disable\ndef g(x):\n    return x\n\n\n@torch.compile\ndef f(x):\n    y = g(x) + 1\n    return y\n"
    line = text[: text.index("y = g(x)")].count("\n") + 1
    finding = Finding("GB0098", Kind.GRAPH_BREAK, Severity.WARNING, "m", Place("p.py", line, 9, line, 13))
    fixes = {fix.rule: fix for fix in fixes_for(finding, parse(text))}
    assert "compiler.disable" not in apply_fix(text, fixes["remove-disable"])


@pytest.mark.parametrize(
    "lines",
    ["e = 2.0\n    x = x / math.sqrt(e)", "e = x.sum().item()\n    e = 2.0\n    x = x / math.sqrt(e)"],
    ids=["a number", "two values"],
)
def test_a_number_that_is_none_of_a_tensor_stays_with_math(lines: str) -> None:
    text = text_of(Case("", lines, "", ""))
    finding = Finding("", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, "math.sqrt(e)"))
    assert "keep-tensor" not in {fix.rule for fix in fixes_for(finding, parse(text))}


@pytest.mark.parametrize(
    ("after", "lines"),
    [("a\nb\nc\n", [1, 2, 3]), ("new\na\nnew\nb\nc\n", [1, 1, 2, 2, 3]), ("a\nB\nB\nc\n", [1, 2, 2, 3]), ("c\n", [3])],
    ids=["the same", "lines added", "a line replaced", "lines removed"],
)
def test_a_line_is_found_in_the_text_before(after: str, lines: list[int]) -> None:
    assert [line_before("a\nb\nc\n", after, number) for number in range(1, len(lines) + 1)] == lines


def test_a_clock_is_not_read_once_for_all_calls() -> None:
    text = text_of(Case("", "start = time.time()\n    x = x * 2", "", ""))
    finding = Finding("GB0007", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, "time.time()"))
    rules = {fix.rule for fix in fixes_for(finding, parse(text))}
    assert "time-in-eager" in rules and "hoist" not in rules


@pytest.mark.parametrize("between", ["x = x - 1", "x[0] = 1", "print(x)", "y = x  # why"])
def test_what_an_early_return_skips_is_not_run_if_it_does_more(between: str) -> None:
    text = text_of(Case("", f"if x.sum() == 0:\n    return x\n{between}\nreturn x * y", "", ""))
    finding = Finding("GB0170", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, "x.sum() == 0"))
    assert "where" not in {fix.rule for fix in fixes_for(finding, parse(text))}


@pytest.mark.parametrize("callee", ["y.log().item", "y.item"])
def test_no_call_of_a_local_name_is_excluded_outside_of_its_function(callee: str) -> None:
    text = text_of(Case("", f"y = x + 1\n    z = {callee}()", "", ""))
    finding = Finding("GB0124", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, f"{callee}()"))
    assert "disable" not in {fix.rule for fix in fixes_for(finding, parse(text))}


@pytest.mark.parametrize(
    "branch",
    [
        "if y.any():\n    x[y] = draw()",
        "if y.any():\n    x[0] = 1",
        "if y.any():\n    x[y] = 1\n    n = 2",
        "if y.all():\n    x[y] = 1",
        "if y.sum() > 1:\n    x[y] = 1",
        "if y.any():\n    x[y] = 1\nelse:\n    x[0] = 1",
        "if not y.any():\n    x[y] = 1",
        "if y.sum():\n    x[y] = 1",
    ],
)
def test_a_branch_is_needed_that_does_more_than_to_write_to_a_mask(branch: str) -> None:
    text = text_of(Case("", branch, "", ""))
    condition = branch.partition("if ")[2].partition(":")[0]
    finding = Finding("GB0170", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, condition))
    assert "write-anyway" not in {fix.rule for fix in fixes_for(finding, parse(text))}


def test_what_loses_something_says_so() -> None:
    text = text_of(Case("", 'print("a", x)', "", ""))
    finding = Finding("GB0059", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, 'print("a", x)'))
    kinds = {fix.rule: fix.kind for fix in fixes_for(finding, parse(text))}
    assert kinds["remove-print"] is kinds["log-in-eager"] is FixKind.LOSSY
    assert kinds["print-in-graph"] is kinds["reorderable-logging"] is FixKind.CHANGE
    assert kinds["split"] is kinds["disable"] is FixKind.EXCLUDE


def test_a_helper_that_does_more_than_compute_is_traced_once_only_with_a_loss() -> None:
    def kinds(line: str, at_line: str) -> dict[str, FixKind]:
        text = f"{HEAD}def note(x):\n    {line}\n    return x.sin()\n\n\n@torch.compile\ndef f(x):\n    return note(x) + 1\n"
        finding = Finding("GB0059", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, at_line))
        return {fix.rule: fix.kind for fix in fixes_for(finding, parse(text))}

    assert kinds('print("a", x)', 'print("a", x)')["allow-in-graph"] is FixKind.LOSSY
    assert kinds("state.last = x.tolist()", "x.tolist()")["nonstrict-trace"] is FixKind.LOSSY
    assert kinds("y = x.tolist()", "x.tolist()")["allow-in-graph"] is FixKind.CHANGE
    # what it returns would have to be completed
    assert "leaf-function" not in kinds('print("a", x)', 'print("a", x)')


@pytest.mark.parametrize(
    ("lines", "is_loss"),
    [
        ("losses.append(x.sum().item())", True),
        ("self.total = x.sum().item()", True),
        ("self.total += x.sum().item() / 2", True),
        ('stats["total"] = x.sum().item()', True),
        ("self.totals[0] = x.sum().item()", True),
        ("last, self.total = 1, x.sum().item()", True),
        ("global total\n    total = x.sum().item()", True),
        ("total = x.sum().item()\n    self.total = total", True),
        ("total = x.sum().item()\n    losses.append(total)", True),
        ("total = x.sum().item()\n    self.scaled = x * total", False),
        ("total = x.sum().item()\n    y = y * total", False),
        ("y[0] = x.sum().item()", False),
    ],
)
def test_a_tensor_that_is_kept_in_the_place_of_a_number_is_a_loss(lines: str, is_loss: bool) -> None:
    """Who reads an attribute, an item or a global may expect a number, and no run tells."""
    text = text_of(Case("", lines, "", ""))
    finding = Finding("GB0124", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, "x.sum().item()"))
    kinds = {fix.rule: fix.kind for fix in fixes_for(finding, parse(text))}
    assert kinds["detach"] is (FixKind.LOSSY if is_loss else FixKind.CHANGE)
    assert ("keep-tensor" in kinds) is not is_loss


def test_a_check_of_what_an_object_holds_is_no_operator() -> None:
    text = text_of(Case("", "if x.sum() > self.limit:\n        raise ValueError('a')", "", ""))
    finding = Finding("GB0170", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, "x.sum() > self.limit"))
    assert "check-in-graph" not in {fix.rule for fix in fixes_for(finding, parse(text))}


@pytest.mark.parametrize(
    ("body", "is_told"),
    [
        ("print('a', x)", True),
        ("warnings.warn('a')\n        LOG.info('b')", True),
        ("logger.warning('a')", True),
        ("x.log()", False),
        ("catalog.update(x)", False),
        ("print('a')\n        n = 1", False),
        ("print('a')\n    else:\n        x = x + 1", False),
    ],
)
def test_a_branch_that_only_tells_is_an_operator(body: str, is_told: bool) -> None:
    text = text_of(Case("", f"if x.sum() > 0:\n        {body}", "", ""))
    finding = Finding("GB0170", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, "x.sum() > 0"))
    assert ("tell-in-graph" in {fix.rule for fix in fixes_for(finding, parse(text))}) == is_told


def test_a_check_reads_no_name_of_an_annotation() -> None:
    text = (
        f"{HEAD}@torch.compile\ndef f(x: torch.Tensor, *rest: torch.Tensor, n: int = 1, **more):\n"
        "    if torch.any(x > n) or rest or more:\n        raise ValueError('a')\n    return x\n"
    )
    finding = Finding("GB0170", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, "torch.any(x > n) or rest or more"))
    fixes = {fix.rule: fix for fix in fixes_for(finding, parse(text))}
    changed = apply_fix(text, fixes["check-in-graph"])
    assert "def check_x(x: torch.Tensor, n: int, rest: torch.Tensor, more: torch.Tensor) -> None:\n" in changed


def test_a_leaf_function_is_not_proposed_where_inductor_would_fail() -> None:
    def rules(options: str) -> set[str]:
        text = f"{HEAD}def note(x):\n    print(x.tolist())\n\n\n@torch.compile{options}\ndef f(x):\n    note(x)\n    return x\n"
        finding = Finding("GB0059", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, "x.tolist()"))
        return {fix.rule for fix in fixes_for(finding, parse(text))}

    assert "leaf-function" in rules('(backend="aot_eager")')
    assert "leaf-function" not in rules("") | rules("(backend='inductor')")


@pytest.mark.parametrize(
    "call", ["random.random()", "np.random.beta(1, 1)", "perf_counter()", "drawn()", "rng.normal()"]
)
def test_a_helper_that_draws_numbers_or_asks_for_the_time_is_not_called_once(call: str) -> None:
    def rules(parameter: str, line: str) -> set[str]:
        text = (
            f"import random\nfrom time import perf_counter\n\nimport numpy as np\n{HEAD}def drawn():\n    return random.gauss(0, 1)\n\n\n"
            f"def note({parameter}):\n    return {line}\n\n\n@torch.compile\ndef f(x):\n    return note({parameter}) + 1\n"
        )
        finding = Finding("GB0007", Kind.GRAPH_BREAK, Severity.WARNING, "m", at(text, f"return {line}"))
        return {fix.rule for fix in fixes_for(finding, parse(text))}

    once = {"allow-in-graph", "nonstrict-trace", "assume-constant"}
    assert rules("x", call) & once == set() and rules("", call) & once == set()
    assert {"custom-op", "disable"} <= rules("x", call)
    # a graph draws torch's numbers anew
    assert rules("x", "torch.rand(2)") & once == {"allow-in-graph", "nonstrict-trace"}
    assert rules("", "torch.rand(2)") & once == {"allow-in-graph", "nonstrict-trace"}
    assert once <= rules("", "len(X)")
