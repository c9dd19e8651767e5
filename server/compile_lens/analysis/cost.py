"""What a finding costs, in words and as a number to order findings by.

The unit of ``weight`` is a rough second of the user's: a frame that runs eagerly loses all that compiling could give, a break costs the
launch of another graph and the fusion across it each time that it is met, a recompile costs what the compilation took.
"""

from __future__ import annotations

from collections.abc import Sequence

from compile_lens.analysis.finding import Place
from compile_lens.analysis.sources import Sources
from compile_lens.syntax.loops import is_in_loop
from compile_lens.trace.report import Compilation, CompileReport, GraphBreak

EAGER_FRAME = 10.0
BREAK = 1.0
IN_A_LOOP = 3.0


def break_cost(
    report: CompileReport, breaks: Sequence[GraphBreak], place: Place, sources: Sources
) -> tuple[str, float]:
    """The cost of one break that was met as often as ``breaks`` says."""
    first = breaks[0]
    compilation = next((c for c in report.compilations if c.compile_id == first.compile_id), None)
    if any(broken.reason.skipped_frame for broken in breaks):
        function = compilation.function if compilation is not None else "the function"
        return f"all of `{function}` runs eagerly", EAGER_FRAME * len(breaks)
    words = []
    if compilation is not None:
        after = _resumed(report, compilation, first)
        if compilation.ops is not None and after is not None:
            words.append(f"{_ops(compilation.ops)} before it, {_ops(after)} after it")
    weight = BREAK * len(breaks)
    tree = sources.tree_of(place.file)
    if tree is not None and is_in_loop(tree, place.line, place.column):
        words.append("inside a loop")
        weight *= IN_A_LOOP
    return ", ".join(words), weight


def _resumed(report: CompileReport, broken: Compilation, first: GraphBreak) -> int | None:
    """How many operations the graph after the break has: that of the function which resumes at its line."""
    for compilation in report.compilations:
        resumed = compilation.resume_of
        if resumed and (compilation.file, resumed.name, resumed.line) == (first.file, broken.function, first.line):
            return compilation.ops
    return None


def _ops(number: int) -> str:
    return f"{number} op{'' if number == 1 else 's'}"


def recompile_cost(compilations: Sequence[Compilation], limited: bool) -> tuple[str, float]:
    """The cost of recompiles: the time that they took; past the limit, every call that fits no version runs eagerly."""
    if limited:
        return f"`{compilations[0].function}` runs eagerly when no version fits", EAGER_FRAME
    seconds = sum(compilation.seconds for compilation in compilations)
    return f"{seconds:.2f} s of compiling", seconds
