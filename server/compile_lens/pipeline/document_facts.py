"""What the editor's features need to know of a whole document: its compile regions, candidates for one, and cells.

Finding them takes time that grows with the document, so for all but short ones it is done in a process of its own
(pipeline/facts_process.py): tree-sitter holds the interpreter's lock while it parses.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from compile_lens.documents.moves import LineEdit
from compile_lens.entries.targets import candidates
from compile_lens.late_pattern import pattern
from compile_lens.syntax.cells import find_cells
from compile_lens.syntax.imports import Imports
from compile_lens.syntax.regions import Region, find_regions
from compile_lens.syntax.tree import parse
from compile_lens.syntax.window import imports_of

COMPILES = pattern(r"\b(?:torch|nn)\b.*\bcompile\b|@compile\b|\.compile\(")
NO_IMPORTS = imports_of("")
# candidates that have a lens
MAX_CANDIDATES = 40


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """Plain data about one text: what it imports, and where things are.

    ``candidates`` are lines and names; ``cells`` are the first lines of cells. ``hides_regions``: the text is not valid Python and
    speaks of compilation, so that a region may not be seen.
    """

    imports: Imports = NO_IMPORTS
    regions: tuple[Region, ...] = ()
    candidates: tuple[tuple[int, str], ...] = ()
    cells: tuple[int, ...] = ()
    hides_regions: bool = False

    def edited(self, edit: LineEdit) -> DocumentFacts:
        """The facts after an edit, as far as they are known: what was in the edited lines is gone until the text is read again."""
        regions = (_moved_region(region, edit) for region in self.regions)
        candidates = ((_moved_line(line, edit), name) for line, name in self.candidates)
        cells = (_moved_line(line, edit) for line in self.cells)
        return DocumentFacts(
            self.imports,
            tuple(region for region in regions if region is not None),
            tuple((line, name) for line, name in candidates if line is not None),
            tuple(line for line in cells if line is not None),
            self.hides_regions,
        )


NO_FACTS = DocumentFacts()


def facts_of(text: str) -> DocumentFacts:
    """Read a whole text. Pure, and slow for a long one."""
    imports = imports_of(text)
    if "torch" not in text:
        return DocumentFacts(imports)
    tree = parse(text)
    found = tuple((target.line, target.name) for target in candidates(tree)[:MAX_CANDIDATES])
    cells = tuple(cell.first_line for cell in find_cells(tree)) if "#" in text else ()
    regions = find_regions(tree)
    return DocumentFacts(
        imports, regions, found, cells, not regions and tree.root.has_error and COMPILES.search(text) is not None
    )


def _moved_line(line: int, edit: LineEdit) -> int | None:
    if line < edit.first:
        return line
    return line + edit.shift if line >= edit.end else None


def _moved_region(region: Region, edit: LineEdit) -> Region | None:
    if region.end_line < edit.first and (region.target_end_line or 0) < edit.first:
        return region
    line, end_line = _moved_line(region.line, edit), _moved_line(region.end_line, edit)
    if line is None or end_line is None:
        return None
    first = None if region.target_line is None else _moved_line(region.target_line, edit)
    last = None if region.target_end_line is None else _moved_line(region.target_end_line, edit)
    if first is None or last is None:
        first = last = None
    return replace(region, line=line, end_line=end_line, target_line=first, target_end_line=last)
