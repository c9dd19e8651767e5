"""Keeps open documents: one immutable snapshot per version, and the edits between versions."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from compile_lens.documents.line_index import Encoding, LineIndex, Position
from compile_lens.documents.moves import LineEdit, line_edits

# Edits remembered per document. A run that began before the oldest of them cannot be placed any more, and is dropped.
EDITS_KEPT = 5_000


@dataclass(frozen=True, slots=True)
class Change:
    """One content change as an editor tells it. ``start`` and ``end`` are None when ``text`` is the whole new text."""

    text: str
    start: Position | None = None
    end: Position | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One version of one document. ``path`` is None for what is no file on disk (untitled, a diff's other side)."""

    uri: str
    path: str | None
    language: str
    version: int
    index: LineIndex

    @property
    def text(self) -> str:
        """The whole text, line ends as the editor has them. After an edit it is put together when it is asked for."""
        return self.index.text

    @property
    def is_python(self) -> bool:
        """Whether this is Python source in a file that a Python interpreter can run."""
        if self.path is None:
            return False
        return self.language == "python" or os.path.splitext(self.path)[1] in (".py", ".pyw")  # noqa: PTH122


@dataclass(slots=True)
class _Open:
    current: Snapshot
    first_version: int
    saved_version: int
    edits: deque[tuple[int, LineEdit]] = field(default_factory=lambda: deque(maxlen=EDITS_KEPT))
    forgotten_up_to: int = -1


class Documents:
    """The open documents by URI. ``encoding`` is what was agreed on with the editor."""

    def __init__(self, encoding: Encoding = Encoding.UTF16) -> None:
        self.encoding = encoding
        self._open: dict[str, _Open] = {}
        self._by_file: dict[str, str] = {}

    def open(self, uri: str, path: str | None, language: str, version: int, text: str) -> Snapshot:
        """A document was opened (again)."""
        snapshot = Snapshot(uri, path, language, version, LineIndex(_paired(text)))
        self._open[uri] = _Open(snapshot, version, version)
        if path is not None:
            self._by_file[file_key(path)] = uri
        return snapshot

    def change(self, uri: str, version: int, changes: Sequence[Change]) -> list[LineEdit]:
        """Apply ``changes`` in their order.

        The edits in whole lines. Raises KeyError for a document that is not open.
        """
        document = self._open[uri]
        edits: list[LineEdit] = []
        index = document.current.index
        for change in changes:
            index, made = _apply(index, change, self.encoding)
            edits += made
        old = document.current
        document.current = Snapshot(uri, old.path, old.language, version, index)
        for edit in edits:
            if len(document.edits) == EDITS_KEPT:
                document.forgotten_up_to = document.edits[0][0]
            document.edits.append((version, edit))
        return edits

    def saved(self, uri: str) -> None:
        """The current version of the document is on disk now."""
        if document := self._open.get(uri):
            document.saved_version = document.current.version

    def close(self, uri: str) -> Snapshot | None:
        """A document was closed; its last snapshot."""
        document = self._open.pop(uri, None)
        if document is None:
            return None
        path = document.current.path
        if path is not None and self._by_file.get(file_key(path)) == uri:
            del self._by_file[file_key(path)]
        return document.current

    def get(self, uri: str) -> Snapshot | None:
        """The current snapshot of an open document."""
        document = self._open.get(uri)
        return document.current if document else None

    def of_file(self, path: str) -> Snapshot | None:
        """The current snapshot of the document that is open for the file ``path``."""
        uri = self._by_file.get(file_key(path))
        return self.get(uri) if uri is not None else None

    def uri_of_key(self, key: str) -> str | None:
        """The URI under which the file with this ``file_key`` is open."""
        return self._by_file.get(key)

    def looked_at(self, uri: str) -> None:
        """The editor asked about a document as it does for those that are visible."""
        if uri in self._open:
            self._open[uri] = self._open.pop(uri)

    def all(self) -> list[Snapshot]:
        """The current snapshot of each open document."""
        return [document.current for document in self._open.values()]

    def versions_on_disk(self) -> dict[str, int]:
        """For each open document the version that its file on disk has: what another file's run reads."""
        return {uri: document.saved_version for uri, document in self._open.items()}

    def edits_since(self, uri: str, version: int | None) -> list[LineEdit] | None:
        """The edits from ``version`` (None.

        From when it was opened) to the current one; None when they are not known any more.
        """
        document = self._open.get(uri)
        if document is None:
            return []
        since = document.first_version if version is None else version
        if since < document.forgotten_up_to:
            return None
        return [edit for made, edit in document.edits if made > since]

    def edits_to_file(self, key: str, versions: Mapping[str, int]) -> list[LineEdit] | None:
        """As ``edits_since``, for the file with this ``file_key``; ``versions`` by URI, None for those that are not there."""
        uri = self.uri_of_key(key)
        return [] if uri is None else self.edits_since(uri, versions.get(uri))


def _apply(index: LineIndex, change: Change, encoding: Encoding) -> tuple[LineIndex, list[LineEdit]]:
    if change.start is None or change.end is None:
        new = LineIndex(_paired(change.text))
        return new, line_edits(index, new, 0, index.length, new.length)
    start = index.offset(change.start, encoding)
    end = max(start, index.offset(change.end, encoding))
    new = index.edited(start, end, change.text)
    if _splits_a_character(new, start) or _splits_a_character(new, start + len(change.text)):
        new = LineIndex(_paired(new.text))
        return new, line_edits(index, new, 0, index.length, new.length)
    return new, line_edits(index, new, start, end, start + len(change.text))


def _splits_a_character(index: LineIndex, offset: int) -> bool:
    """Whether two halves of one UTF-16 character stand as two code points at ``offset``.

    An editor may send them one by one.
    """
    around = index.between(offset - 1, offset + 1)
    return "\ud800" <= around[:1] <= "\udbff" and "\udc00" <= around[1:] <= "\udfff"


def _paired(text: str) -> str:
    """``text`` with halves of UTF-16 characters that stand side by side joined into one code point."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


@lru_cache(maxsize=4096)
def file_key(path: str) -> str:
    """The same text for all spellings of one file: links followed, case folded where the system does so. In no folder where no file can
    have that name: a program names its code as it likes, with half a character, too."""
    try:
        return os.path.normcase(os.path.realpath(path))
    except ValueError:
        return f"\0{path}"
