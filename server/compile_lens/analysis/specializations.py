"""Finds sizes that were dynamic and became fixed, at the line that forced it: each other size recompiles.

A size that a parameter fixes is left out, since the program cannot run with another.
"""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.guard_sources import guarded_value, named_size
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.syntax.narrow import size_read_in
from compile_lens.syntax.tree import Range
from compile_lens.trace.report import Specialization, StackFrame
from compile_lens.wording import and_more

CODE = "specialized-size"
# as many are named in a message
MOST_VALUES, MOST_SIZES = 4, 3


def find_specializations(context: RunContext) -> Iterator[Finding]:
    """One finding per place of the user's, with the sizes that it fixes."""
    report, sources = context.report, context.sources
    groups: dict[Place, list[Specialization]] = {}
    for fixed in report.specializations:
        own = sources.deepest_own(fixed.stack)
        if own is not None and fixed.sources and not fixed.is_checked and not _is_of_library(fixed, own):
            groups.setdefault(_place(own, fixed, sources), []).append(fixed)
    for place, specializations in groups.items():
        first = specializations[0]
        noun = "number" if guarded_value(first.sources[0]).dimension is None else "size"
        yield Finding(
            code=CODE,
            kind=Kind.SPECIALIZATION,
            severity=Severity.HINT,
            message=f"This line specializes {_sizes(specializations)}: each other value recompiles.",
            place=place,
            explanation=(
                f"The {noun} was dynamic up to here. A comparison, an integer division or an operator that needs the number made Dynamo"
                " specialize it, with a guard."
            ),
            count=len(specializations),
            frames=tuple(dict.fromkeys(fixed.compile_id for fixed in specializations)),
            call_path=call_path(first.stack, sources),
        )


def _sizes(specializations: list[Specialization]) -> str:
    """Each size with its values, in the order of the run: "size 0 of `x` to 3, then 5"; of very many, the first ones and how many more."""
    values: dict[str, dict[str, None]] = {}
    for fixed in specializations:
        values.setdefault(named_size(fixed.sources[0]), {})[_number(fixed.value)] = None
    told = [f"{size} to {_listed(list(numbers), ', then ', MOST_VALUES)}" for size, numbers in values.items()]
    return _listed(told, ", ", MOST_SIZES)


def _listed(texts: list[str], between: str, most: int) -> str:
    return f"{between.join(texts[:most])}{and_more(len(texts) - most)}"


def _is_of_library(fixed: Specialization, own: StackFrame) -> bool:
    """Whether a library reads a number of its own objects, such as the ``eps`` of a module of torch, which is no size of the user's."""
    return guarded_value(fixed.sources[0]).dimension is None and fixed.stack[-1] != own


def _number(text: str) -> str:
    """As Python writes it: SymPy has 1.00000000000000e-5."""
    try:
        return text if text.lstrip("-").isdecimal() else repr(float(text))
    except ValueError:
        return text


def _place(own: StackFrame, fixed: Specialization, sources: Sources) -> Place:
    """The comparison or conversion of the size on the line, if it can be told."""
    place = sources.place_of(own)
    tree = sources.tree_of(own.file)
    value = guarded_value(fixed.sources[0])
    if tree is None or own.column is not None:
        return place
    within = Range(place.line, place.column, place.end_line, place.end_column)
    found = size_read_in(tree, within, value.expression, value.dimension)
    return Place(own.file, found.line, found.column, found.end_line, found.end_column)
