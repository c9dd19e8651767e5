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


class BreakCosts:
    """What the breaks of ``report`` cost. Compilations are looked up, not searched for: a long run has thousands of both."""

    def __init__(self, report: CompileReport) -> None:
        self._by_id: dict[str, Compilation] = {}
        self._owners: dict[int, Compilation] = {}
        # operations of the graph of each function that resumes, by file, function and line
        self._resumed: dict[tuple[str, str, int], int | None] = {}
        for compilation in report.compilations:
            self._by_id.setdefault(compilation.compile_id, compilation)
            for broken in compilation.breaks:
                self._owners.setdefault(id(broken), compilation)
            if (resumed := compilation.resume_of) is not None:
                self._resumed.setdefault((compilation.file, resumed.name, resumed.line), compilation.ops)

    def of(self, breaks: Sequence[GraphBreak], place: Place, sources: Sources) -> tuple[str, float]:
        """The cost of a break that happened ``len(breaks)`` times, and its weight."""
        first = breaks[0]
        compilation = self._by_id.get(first.compile_id)
        eager = [lost for broken in breaks if (lost := self.lost_by(broken)[0])]
        if eager:
            return f"{eager[0]} falls back to eager", EAGER_FRAME * len(eager)
        words = []
        if compilation is not None:
            after = self._resumed.get((first.file, compilation.function, first.line))
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

    def lost_by(self, broken: GraphBreak) -> tuple[str, str]:
        """What falls back to eager because of a break, and its file: "`helper`", "the rest of `train`"; '' if tracing goes on after it.

        The function is that of the compilation, not the one that the break is in. A resume function is the rest of the one it resumes.
        """
        if not (broken.reason.skipped_frame or broken.reason.skips_rest):
            return "", ""
        owner = self._owners.get(id(broken))
        if owner is None or not owner.function:
            return "the function", broken.file
        name = NAMELESS.get(owner.function, f"`{owner.function}`")
        is_rest = name and (broken.reason.skips_rest or owner.resume_of is not None)
        return f"{REST if is_rest else ''}{name}", owner.file


def recompile_cost(compilations: Sequence[Compilation], limited: bool, fails: bool) -> tuple[str, float]:
    """The cost of recompiles: their compile time; past the limit, each call that fits no version falls back to eager, or ``fails``."""
    if fails:
        return "", EAGER_FRAME
    if limited:
        return f"`{compilations[0].function}` falls back to eager when no version fits", EAGER_FRAME
    seconds = sum(compilation.seconds for compilation in compilations)
    return f"{seconds:.2f} s of compile time" if seconds >= LEAST_S else "", seconds
