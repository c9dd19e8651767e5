"""Remembers what the newest outcome of each document is about: its text, and the entry that it ran with."""

from __future__ import annotations

from compile_lens.documents.documents import Snapshot
from compile_lens.entries.entry import Entry


class LastRuns:
    """By document, and by the name of what was analyzed beside it: a class or function as if it were compiled."""

    def __init__(self) -> None:
        self._snapshots: dict[tuple[str, str], Snapshot] = {}
        self._entries: dict[str, Entry | None] = {}

    def ended(self, uri: str, beside: str, snapshot: Snapshot | None, entry: Entry | None) -> None:
        """A run of a document, or of what is ``beside`` it, came to its outcome. ``snapshot`` is None if it was not open."""
        if snapshot is not None:
            self._snapshots[uri, beside] = snapshot
        if not beside:
            self._entries[uri] = entry

    def snapshot(self, uri: str, beside: str = "") -> Snapshot | None:
        """The document as the newest outcome is about it, if it was open then."""
        return self._snapshots.get((uri, beside))

    def text(self, uri: str, beside: str = "") -> str | None:
        """The text that the newest outcome is about, if it was open then."""
        ran = self.snapshot(uri, beside)
        return ran.text if ran is not None else None

    def entry(self, uri: str) -> Entry | None:
        """The entry that the document itself ran with."""
        return self._entries.get(uri)

    def forget(self, uri: str) -> None:
        """The document was closed, or its results were withdrawn."""
        self._snapshots = {key: snapshot for key, snapshot in self._snapshots.items() if key[0] != uri}
        self._entries.pop(uri, None)
