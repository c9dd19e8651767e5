"""Finds which sizes of which parameters are dynamic: torch compiled them as symbols, not as numbers."""

from __future__ import annotations

from compile_lens.analysis.finding import Place
from compile_lens.analysis.outcome_parts import DynamicParameter as DynamicParameter
from compile_lens.analysis.sources import Sources
from compile_lens.late_pattern import pattern
from compile_lens.syntax.definitions import parameter_range
from compile_lens.trace.report import CompileReport

# "L['x'].size()[1]", or "L['n']" for a number
_SOURCE = pattern(r"^L\['(?P<name>\w+)'\](?:\.size\(\)\[(?P<dimension>\d{1,9})\])?$")


def find_dynamic(report: CompileReport, sources: Sources) -> tuple[DynamicParameter, ...]:
    """The parameters of the user's functions with something dynamic in any of their versions, in the order of the file."""
    compilations = {compilation.compile_id: compilation for compilation in report.compilations}
    fixed = {(fact.compile_id, source) for fact in report.specializations for source in fact.sources}
    found: dict[Place, set[int]] = {}
    for symbol in report.symbols:
        if (symbol.compile_id, symbol.source) in fixed:
            continue
        match, compilation = _SOURCE.match(symbol.source), compilations.get(symbol.compile_id)
        if match is None or compilation is None or compilation.resume_of or not sources.is_own(compilation.file):
            continue
        tree = sources.tree_of(compilation.file)
        name = parameter_range(tree, compilation.line, match["name"]) if tree is not None else None
        if name is not None:
            place = Place(compilation.file, name.line, name.column, name.end_line, name.end_column)
            dimensions = found.setdefault(place, set())
            if match["dimension"] is not None:
                dimensions.add(int(match["dimension"]))
    ordered = sorted(found.items(), key=lambda entry: (entry[0].file, entry[0].line, entry[0].column))
    return tuple(DynamicParameter(place, tuple(sorted(dimensions))) for place, dimensions in ordered)
