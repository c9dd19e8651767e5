"""Right line numbers in the functions that Dynamo makes of what follows a graph break.

Dynamo writes their tables of lines itself, and counts the step to a new line twice for each instruction that needs two entries of the
table, which attributes and methods do (``linetable_311_writer`` of torch/_dynamo/bytecode_transformation.py, torch 2.6 to 2.15). After a
chain of methods over several lines everything in the function has a wrong line: breaks, guards, operations of the graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..torch_internals.dynamo import LINETABLE_WRITER

# code units that an entry of the table covers at most (CPython, Objects/locations.md)
ENTRY = 8


def install() -> None:
    """Have torch write each entry by itself: the second entry of an instruction is on the line of the first."""
    LINETABLE_WRITER.wrap(_entry_by_entry)


def _entry_by_entry(original: Callable[..., Any]) -> Callable[..., Any]:
    def writer(first_line: int) -> tuple[Any, Callable[[Any, int], None]]:
        table, update = original(first_line)

        def update_in_entries(positions: Any, size: int) -> None:
            for start in range(0, size, ENTRY):
                update(positions, min(ENTRY, size - start))

        return table, update_in_entries

    return writer
