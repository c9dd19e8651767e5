"""Finds examples in a project's documentation that use what a file defines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from compile_lens.agent.runtime.entry_plans import DocumentedExample
from compile_lens.entries.entry import Entry, EntryKind
from compile_lens.entries.importers import WorkspaceFile, imported_names
from compile_lens.entries.targets import Target

EXAMPLE = "example:"


def find_examples(file: str, documented: Sequence[WorkspaceFile], targets: Sequence[Target]) -> Iterator[Entry]:
    """The first example that imports the outermost class of ``file`` and constructs it, as an entry."""
    if not targets or targets[0].is_region:
        return
    target = targets[0]
    for example in documented:
        text = example.tree.text
        if target.name in imported_names(example, file) and re.search(rf"\b{re.escape(target.name)}\(", text):
            page = Path(example.path).name
            plan = DocumentedExample(text, example.path, target.compile_line or target.line)
            yield Entry(EntryKind.EXAMPLE, f"{EXAMPLE}{page}", f"an example in {page}", 0, plan)
            return
