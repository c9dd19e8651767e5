"""Reduces the outcome of an analysis "as if compiled" to its answer: what concerns the class or function."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from compile_lens.analysis.finding import Finding, Kind, Place
from compile_lens.analysis.outcome import Outcome
from compile_lens.syntax.definitions import definitions
from compile_lens.syntax.tree import parse

# what only says how the file ran, which was not the question
OF_THE_FILE = (Kind.NOT_COMPILED, Kind.RUN_ERROR, Kind.UNUSED_IGNORE)


def answer_about(name: str, text: str) -> Callable[[Outcome], Outcome]:
    """What makes an outcome of the file ``text`` the answer about ``name``: without what it says of the regions of the file, which
    have results of their own.
    """
    definition = next((found for found in definitions(parse(text)) if found.qualified_name == name), None)

    def answer(outcome: Outcome) -> Outcome:
        def concerns(place: Place) -> bool:
            if place.file != outcome.file or definition is None:
                return True
            return definition.first_line <= place.line <= definition.last_line

        def kept(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
            return tuple(f for f in findings if f.kind not in OF_THE_FILE or (definition and concerns(f.place)))

        return replace(
            outcome,
            findings=kept(outcome.findings),
            unfiltered=kept(outcome.unfiltered),
            regions=(),
            functions=tuple(function for function in outcome.functions if concerns(function.place)),
        )

    return answer
