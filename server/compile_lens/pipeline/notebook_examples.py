"""Reads the notebooks of a project as examples of its documentation: each is one program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from compile_lens.agent.runtime.regular_file import read_regular
from compile_lens.syntax.notebook import program_of

MOST = 4
# pictures among the outputs make them large
LARGEST_BYTES = 4_000_000


class _Cell(msgspec.Struct):
    cell_type: str = ""
    source: str | list[str] = ""


class _Notebook(msgspec.Struct):
    cells: list[_Cell] = []


def notebook_programs(root: Path) -> Iterator[tuple[Path, str]]:
    """The notebooks in ``root`` and in its folders, up to MOST of them, each with its program; none of what is no notebook."""
    for page in [*sorted(root.glob("*.ipynb")), *sorted(root.glob("[!.]*/*.ipynb"))][:MOST]:
        try:
            notebook = msgspec.json.decode(read_regular(page, LARGEST_BYTES), type=_Notebook)
        except (OSError, msgspec.MsgspecError, RecursionError):
            continue
        cells = ["".join(cell.source) for cell in notebook.cells if cell.cell_type == "code"]
        yield page, program_of(cells)[0]
