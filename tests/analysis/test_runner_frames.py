"""No finding stands in what runs the program, whatever is on the stack that torch gives."""

from __future__ import annotations

import pytest

from compile_lens.analysis.find import find
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.run_context import Raised, RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.syntax.tree import SourceTree, parse
from compile_lens.trace.report import BreakReason, Compilation, CompileReport, GraphBreak, StackFrame

FILE = "/w/net.py"
TEXT = "class Net:\n    def forward(self, x):\n        return x + 1\n"
RUNNER = "/opt/lens/agent/"
OWN_STACK = (
    StackFrame("/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", 1789, "_call_impl"),
    StackFrame(f"{RUNNER}instrument/frame_outcomes.py", 68, "call"),
)


def sources() -> Sources:
    tree = parse(TEXT)

    def tree_of(file: str) -> SourceTree | None:
        return tree if file == FILE else None

    return Sources(FILE, tree_of, runner_root=RUNNER)


def context_of(report: CompileReport, raised: Raised | None = None) -> RunContext:
    return RunContext(report, sources(), RegionIndex(report, FILE, None), raised=raised)


@pytest.mark.parametrize(
    ("file", "line", "place"),
    [
        # the frame that was compiled is the user's, and an entry called it
        (FILE, 2, (FILE, 2)),
        # a library's, which an entry called
        (OWN_STACK[0].file, 1700, (OWN_STACK[0].file, 1789)),
    ],
)
def test_a_break_stands_at_the_compiled_function_where_only_the_runner_called_it(
    file: str, line: int, place: tuple[str, int]
) -> None:
    reason = BreakReason("Backend compiler exception", "", (), "", "GB0219", None, True, "")
    broken = GraphBreak("0/0", 0, reason, file, line, OWN_STACK, "")
    compilation = Compilation("0/0", "forward", file, line, breaks=(broken,))
    (finding,) = find(context_of(CompileReport(compilations=(compilation,))))
    assert (finding.place.file, finding.place.line) == place
    assert not any(related.place.file.startswith(RUNNER) for related in finding.related)


def test_what_the_runner_raised_stands_at_the_beginning_of_the_file() -> None:
    raised = Raised("ValueError", "builtins", "no", OWN_STACK[1:])
    (finding,) = find(context_of(CompileReport(), raised))
    assert (finding.place.file, finding.place.line) == (FILE, 1)
