"""Finds the name of a compiled function in its source."""

from __future__ import annotations

from compile_lens.analysis.finding import Place
from compile_lens.analysis.sources import Sources
from compile_lens.syntax.definitions import definition_at


def function_place(file: str, line: int, sources: Sources) -> Place:
    """The name of the function whose code begins at ``line``; the line's first column where the source cannot be read."""
    tree = sources.tree_of(file)
    definition = definition_at(tree, line) if tree is not None else None
    if definition is None:
        return Place(file, line, 1, line, 2)
    name = definition.name_place
    return Place(file, name.line, name.column, name.end_line, name.end_column)
