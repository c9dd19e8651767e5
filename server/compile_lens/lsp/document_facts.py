"""The regions, candidates and cells of each open document: of a short one at once, of a long one when a process of its own has read it.

Until then, what is known moves with the edits. So no answer waits for a document, however long it is and however fast the user types.
One of medium length is read at once when it is opened; after an edit, in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from compile_lens.documents.documents import Snapshot
from compile_lens.documents.moves import LineEdit
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.status import StatusReporter
from compile_lens.pipeline.document_facts import NO_FACTS, DocumentFacts, facts_of
from compile_lens.pipeline.facts_process import LIMIT_S, FactsProcess, TooSlow
from compile_lens.syntax.definitions import parse_with_definitions
from compile_lens.syntax.regions import MOST_REGIONS
from compile_lens.syntax.tree import SourceTree, parse

# characters: a document of this length is read in 5 ms, a keystroke's share; …
SHORT = 5_000
# … and one of this length in a few hundredths of a second
MEDIUM = 40_000
# brackets that nothing closes, comments and continued lines: the parser looks at all that follow, again for each
MOST_OPEN = 1_000
# of the documents that were asked about last; a tree takes a megabyte for a thousand lines
MOST_TREES = 6
# after the last keystroke, of a medium and of a long document
SOON_S, PAUSE_S = 0.05, 0.25


@dataclass(slots=True)
class _Known:
    version: int
    facts: DocumentFacts
    is_exact: bool


class DocumentFactsOf:
    """Keeps the facts of open documents. Handlers ask ``of`` and get an answer at once."""

    def __init__(self, server: CompileLensServer, status: StatusReporter) -> None:
        self._server = server
        self._status = status
        self._known: dict[str, _Known] = {}
        self._trees: dict[str, tuple[int, SourceTree]] = {}
        self._wants_tree: set[str] = set()
        self._due: dict[str, float] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}
        # documents that are read once nobody types
        self._pausing: set[str] = set()
        self._process = FactsProcess()
        server.on_close.append(self._process.close)
        self._on_ready: list[Callable[[Snapshot], None]] = []

    def on_ready(self, listener: Callable[[Snapshot], None]) -> None:
        """Call ``listener`` when a long document has been read."""
        self._on_ready.append(listener)

    def of(self, snapshot: Snapshot) -> DocumentFacts:
        """What is known of a document now."""
        known = self._known.get(snapshot.uri)
        if known is None or known.version != snapshot.version:
            if self.is_long(snapshot):
                self._read_after(snapshot.uri, 0)
                return known.facts if known is not None else NO_FACTS
            known = self._keep(snapshot, facts_of(snapshot.text))
        return known.facts

    def are_known(self, snapshot: Snapshot) -> bool:
        """Whether ``of`` is true of this very text. If not, it is being read."""
        self.of(snapshot)
        if self._is_exact(snapshot):
            return True
        if snapshot.uri in self._pausing:  # whoever asks for the exact facts waits for no further keystroke
            self._reading[snapshot.uri].cancel()
            self._pausing.discard(snapshot.uri)
            self._due[snapshot.uri] = 0.0
            self._reading[snapshot.uri] = self._server.background.start(self._read(snapshot.uri))
        return False

    def tree(self, snapshot: Snapshot) -> SourceTree | None:
        """The syntax tree of a document; None while a long one is being parsed, after which ``on_ready`` is called."""
        known = self._trees.pop(snapshot.uri, None)
        if known is not None and known[0] == snapshot.version:
            self._trees[snapshot.uri] = known  # the newest is the last
            return known[1]
        if not self.is_long(snapshot):
            return self._keep_tree(snapshot, parse(snapshot.text))
        self._wants_tree.add(snapshot.uri)
        self._read_after(snapshot.uri, PAUSE_S)
        return None

    def _keep_tree(self, snapshot: Snapshot, tree: SourceTree) -> SourceTree:
        self._trees[snapshot.uri] = snapshot.version, tree
        if len(self._trees) > MOST_TREES:
            del self._trees[next(iter(self._trees))]
        return tree

    def is_long(self, snapshot: Snapshot) -> bool:
        """Whether work that is linear in the document must not be done at once."""
        return snapshot.index.length > MEDIUM or takes_long(snapshot.text)

    def edited(self, snapshot: Snapshot, edits: Iterable[LineEdit]) -> None:
        """The user typed: move what is known of a document that is not short, and read it again after a pause."""
        known = self._known.pop(snapshot.uri, None)
        if snapshot.index.length <= SHORT or (known is None and not self.is_long(snapshot)):
            return
        facts = known.facts if known is not None else NO_FACTS
        for edit in edits:
            facts = facts.edited(edit)
        self._known[snapshot.uri] = _Known(snapshot.version, facts, is_exact=False)
        self._read_after(snapshot.uri, PAUSE_S if self.is_long(snapshot) else SOON_S)

    def closed(self, uri: str) -> None:
        """A document was closed."""
        self._known.pop(uri, None)
        self._trees.pop(uri, None)
        self._wants_tree.discard(uri)
        self._status.unlimited(uri)
        self._pausing.discard(uri)
        reading = self._reading.pop(uri, None)
        if reading is not None:
            reading.cancel()

    def _keep(self, snapshot: Snapshot, facts: DocumentFacts) -> _Known:
        known = self._known[snapshot.uri] = _Known(snapshot.version, facts, is_exact=True)
        if len(facts.regions) >= MOST_REGIONS:
            name = Path(snapshot.path or snapshot.uri).name
            self._status.limited(snapshot.uri, f"{name}: only the first {MOST_REGIONS:,} compile regions are analyzed.")
        else:
            self._status.unlimited(snapshot.uri)
        return known

    def _read_after(self, uri: str, pause_s: float) -> None:
        """Read a document once nobody has typed in it for ``pause_s``."""
        self._due[uri] = asyncio.get_running_loop().time() + pause_s
        reading = self._reading.get(uri)
        if reading is None or reading.done():
            self._reading[uri] = self._server.background.start(self._read(uri))

    async def _read(self, uri: str) -> None:
        loop = asyncio.get_running_loop()
        while True:
            while (pause_s := self._due[uri] - loop.time()) > 0:
                self._pausing.add(uri)
                await asyncio.sleep(pause_s)
                self._pausing.discard(uri)
            snapshot = self._server.documents.get(uri)
            if snapshot is None:
                return
            if not self._is_exact(snapshot):
                facts = await self._facts_of(snapshot)
                if not self._is_current(snapshot):
                    continue
                self._keep(snapshot, facts)
            if uri in self._wants_tree:
                tree = await asyncio.to_thread(parse_with_definitions, snapshot.text)
                if not self._is_current(snapshot):
                    continue
                self._keep_tree(snapshot, tree)
            for listener in self._on_ready:
                listener(snapshot)
            return

    async def _facts_of(self, snapshot: Snapshot) -> DocumentFacts:
        if not self.is_long(snapshot):
            return await asyncio.to_thread(facts_of, snapshot.text)
        try:
            return await self._process.read(snapshot.text)
        except TooSlow:
            name = Path(snapshot.path or snapshot.uri).name
            self._status.limited(snapshot.uri, f"{name} is not analyzed: parsing it took more than {LIMIT_S:g} s.")
            return NO_FACTS

    def _is_current(self, snapshot: Snapshot) -> bool:
        now = self._server.documents.get(snapshot.uri)
        return now is not None and now.version == snapshot.version

    def _is_exact(self, snapshot: Snapshot) -> bool:
        known = self._known.get(snapshot.uri)
        return known is not None and known.is_exact and known.version == snapshot.version


def takes_long(text: str) -> bool:
    """Whether a document with this ``text`` is read in a process of its own."""
    if len(text) > MEDIUM:
        return True
    opened = sum(text.count(opened) - text.count(closed) for opened, closed in ("()", "[]", "{}"))
    return max(opened, text.count("#"), text.count("\\\n")) > MOST_OPEN
