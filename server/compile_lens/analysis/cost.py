"""Says what a finding costs, in words and as a weight to order findings by.

A weight is roughly one second of the user's time: a frame that falls back to eager loses everything that compiling could give, a break
costs another graph launch and the fusion across it each time, a recompile costs its compile time.
"""

from __future__ import annotations

from collections.abc import Sequence

from compile_lens.analysis.finding import Place
from compile_lens.analysis.sources import Sources
from compile_lens.syntax.loops import is_in_loop
from compile_lens.trace.report import Compilation, CompileReport, GraphBreak
from compile_lens.wording import counted

EAGER_FRAME = 10.0
BREAK = 1.0
IN_A_LOOP = 3.0
REST = "the rest of "
# code without a name of the user's; a library's `<module>` says nothing at all
NAMELESS = {
    "<lambda>": "the lambda",
    "<listcomp>": "the comprehension",
    "<setcomp>": "the comprehension",
    "<dictcomp>": "the comprehension",
    "<genexpr>": "the generator expression",
    "<module>": "",
}
# less compile time than this is not worth a word
LEAST_S = 0.01


def break_cost(
    report: CompileReport, breaks: Sequence[GraphBreak], place: Place, sources: Sources
) -> tuple[str, float]:
    """The cost of a break that happened ``len(breaks)`` times."""
    first = breaks[0]
    compilation = next((c for c in report.compilations if c.compile_id == first.compile_id), None)
    eager = [lost for broken in breaks if (lost := lost_by(broken, report)[0])]
    if eager:
        return f"{eager[0]} falls back to eager", EAGER_FRAME * len(eager)
    words = []
    if compilation is not None:
        after = _resumed(report, compilation, first)
        if compilation.ops is not None and after is not None:
            words += [
                f"{counted(number, 'op')} {side} it"
                for number, side in ((compilation.ops, "before"), (after, "after"))
                if number
            ]
    weight = BREAK * len(breaks)
    tree = sources.tree_of(place.file)
    if tree is not None and is_in_loop(tree, place.line, place.column):
        words.append("inside a loop")
        weight *= IN_A_LOOP
    return ", ".join(words), weight


def lost_by(broken: GraphBreak, report: CompileReport) -> tuple[str, str]:
    """What falls back to eager because of a break, and its file: "`helper`", "the rest of `train`"; '' if tracing goes on after it.

    The function is that of the compilation, not the one that the break stands in. A resume function is the rest of the one it resumes.
    """
    if not (broken.reason.skipped_frame or broken.reason.skips_rest):
        return "", ""
    owner = next((c for c in report.compilations if any(found is broken for found in c.breaks)), None)
    if owner is None or not owner.function:
        return "the function", broken.file
    name = NAMELESS.get(owner.function, f"`{owner.function}`")
    is_rest = name and (broken.reason.skips_rest or owner.resume_of is not None)
    return f"{REST if is_rest else ''}{name}", owner.file


def _resumed(report: CompileReport, broken: Compilation, first: GraphBreak) -> int | None:
    """How many operations the graph after the break has: that of the function which resumes at its line."""
    for compilation in report.compilations:
        resumed = compilation.resume_of
        if resumed and (compilation.file, resumed.name, resumed.line) == (first.file, broken.function, first.line):
            return compilation.ops
    return None


def recompile_cost(compilations: Sequence[Compilation], limited: bool, fails: bool) -> tuple[str, float]:
    """The cost of recompiles: their compile time; past the limit, each call that fits no version falls back to eager, or ``fails``."""
    if fails:
        return "", EAGER_FRAME
    if limited:
        return f"`{compilations[0].function}` falls back to eager when no version fits", EAGER_FRAME
    seconds = sum(compilation.seconds for compilation in compilations)
    return f"{seconds:.2f} s of compile time" if seconds >= LEAST_S else "", seconds
