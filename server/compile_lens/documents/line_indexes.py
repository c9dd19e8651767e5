"""Looks up the line index of any file: the open document's, else one of the file on disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from compile_lens.documents.documents import Documents
from compile_lens.documents.line_index import LineIndex
from compile_lens.documents.source_file import source_if_readable

# files on disk whose lines are kept; a library file that many findings point at is read once
KEPT = 64


@dataclass(slots=True)
class LineIndexes:
    """Line indexes of files.

    An open document's own, else one made from the file on disk and kept while the file is unchanged.
    """

    documents: Documents
    _on_disk: dict[str, tuple[tuple[int, int], LineIndex]] = field(default_factory=dict)

    def index(self, path: str) -> LineIndex | None:
        """The lines of the file ``path``, or None when it cannot be read."""
        snapshot = self.documents.of_file(path)
        return snapshot.index if snapshot else self._disk_index(path)

    def unsaved(self, path: str, text: str) -> str | None:
        """``text`` if it differs from what the file holds, else None: what a run has to be given."""
        saved = source_if_readable(path, keep_line_ends=True)
        return None if saved is not None and saved == text.removeprefix("\ufeff") else text

    def _disk_index(self, path: str) -> LineIndex | None:
        try:
            status = Path(path).stat()
        except (OSError, ValueError):
            return None
        stamp = (status.st_mtime_ns, status.st_size)
        kept = self._on_disk.pop(path, None)
        if kept is None or kept[0] != stamp:
            text = source_if_readable(path, keep_line_ends=True)
            if text is None:
                return None
            kept = (stamp, LineIndex(text))
        self._on_disk[path] = kept
        if len(self._on_disk) > KEPT:
            del self._on_disk[next(iter(self._on_disk))]
        return kept[1]
