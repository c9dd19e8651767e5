"""Writes the part of a repro that judges the result: the pieces that a criterion needs, in order."""

from __future__ import annotations

from collections.abc import Mapping

from compile_lens.repro.contract import Criterion
from compile_lens.repro.templates import render

WITH_RECORDS = (Criterion.BREAKS, Criterion.RECOMPILES)
WITH_COMPARISON = (Criterion.DIFFERS, Criterion.ANY)
ALWAYS = ("contextlib", "os", "sys")


def imports(criterion: Criterion) -> set[str]:
    """Modules that the harness needs besides torch."""
    found = {*ALWAYS}
    if criterion in WITH_RECORDS:
        found |= {"json", "logging"}
    if criterion in (Criterion.RAISES, Criterion.RECOMPILES):
        found.add("re")
    return found


def harness(
    criterion: Criterion, constants: Mapping[str, str], backward: bool, modes: tuple[str, ...], changes: bool
) -> str:
    """The text below what is compiled. ``backward``: gradients are computed; ``changes``: there is a ``before_call``.

    ``modes`` are expressions of context managers around each call.
    """
    gradients = backward and criterion not in WITH_RECORDS
    pieces = ["main", f"judges/{criterion.value}", *run_pieces(gradients)]
    if criterion not in WITH_RECORDS:
        pieces.append("errors")
    if criterion in WITH_COMPARISON:
        pieces.append("compare")
    if criterion in WITH_RECORDS:
        pieces.append("records")
    pieces += ["eager", "cache"]
    return (
        render("harness", constants=constants, pieces=pieces, gradients=gradients, modes=modes, changes=changes) + "\n"
    )


def run_pieces(gradients: bool) -> list[str]:
    """The templates of ``run`` and of what it calls."""
    return ["run", "parameters"] if gradients else ["run"]
