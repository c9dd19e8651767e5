"""What recompiles in one call of a variation, and how all of it is told where a message has room for the first alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from msgspec import Struct

from compile_lens.analysis.finding import Place
from compile_lens.analysis.guard_facts import GuardFact
from compile_lens.analysis.guard_words import change
from compile_lens.analysis.recompile_causes import causes_of
from compile_lens.analysis.recompile_hints import hints_for
from compile_lens.analysis.recompile_places import cause_place
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.wrapped_calls import compiled_names
from compile_lens.trace.report import Compilation, CompileReport
from compile_lens.wording import and_more

# names beside the first that a message has
MOST_NAMED = 3


class VariedRecompile(Struct, frozen=True):
    """A recompile of ``function``, which is in words: it may be the rest of one after a break. ``place`` is that of the guarded value."""

    function: str
    place: Place
    fact: GuardFact
    hints: tuple[str, ...]

    @property
    def key(self) -> tuple[Place, str, str, int | None]:
        """What is guarded where, whatever its value."""
        return self.place, self.fact.name, self.fact.what + self.fact.event, self.fact.dimension

    @property
    def row(self) -> str:
        """Which function recompiles, and for what."""
        return f"{self.function} at {PurePath(self.place.file).name}:{self.place.line}: {change([self.fact])}"


def recompiles_in(report: CompileReport, before: CompileReport | None, context: RunContext) -> list[VariedRecompile]:
    """Those of ``report``, in their order. ``before`` has the versions that there were."""
    own, sources = context.report, context.sources
    return [
        VariedRecompile(
            _words_for(compilation, own),
            cause_place(compilation, cause, own, sources),
            cause.fact,
            hints_for([(compilation, cause)], report, sources, limited=False),
        )
        for compilation, cause in causes_of(report, before)
    ]


def _words_for(compilation: Compilation, report: CompileReport) -> str:
    name = f"`{compiled_names([compilation], report)[0]}`"
    return f"the rest of {name} after line {compilation.resume_of.line}" if compilation.resume_of is not None else name


def names_beside(first: VariedRecompile, recompiles: Iterable[VariedRecompile]) -> str:
    """The other guarded values by name, for the end of a message about ``first``; '' if there are none."""
    names = sorted({each.fact.name for each in recompiles if each.fact.name} - {first.fact.name})
    named = ", ".join(f"`{name}`" for name in names[:MOST_NAMED]) + and_more(len(names) - MOST_NAMED)
    return f"; so {'do' if len(names) > 1 else 'does'} {named}" if names else ""


def all_rows(recompiles: Iterable[VariedRecompile]) -> Iterator[str]:
    """Each function with each of its causes once, under a line that says what they are; nothing where there is one alone."""
    rows = list(dict.fromkeys(each.row for each in recompiles))
    if len(rows) > 1:
        yield "All that recompiles:"
        yield from rows
