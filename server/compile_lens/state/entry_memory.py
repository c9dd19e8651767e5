"""Remembers the entry that a user chose for a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from compile_lens.state.file_memory import FileMemory


@dataclass(frozen=True, slots=True)
class EntryMemory:
    """The choices, in ``folder``."""

    folder: Path

    def recall(self, file: str) -> str:
        """The entry chosen for ``file``, or ''."""
        entry = FileMemory(self.folder).recall(file).get("entry")
        return entry if isinstance(entry, str) else ""

    def remember(self, file: str, entry: str) -> None:
        """Keep ``entry`` for ``file``; '' forgets it. Raises OSError where nothing can be written."""
        FileMemory(self.folder).remember(file, {"entry": entry} if entry else {})
