"""The stages that are known to this server, and the names by which an editor knows them.

An editor that takes the text of documents from the server gets ``compile-lens-stage:/KEY/NAME``; another one, a file in the private cache.
In a comparison, ``?with=KEY/NAME`` is the earlier side of that stage: the same lines, with noise spelled as there. ``?compared`` is the
later side, and ``?absent`` stands for a stage that only the other side has.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from compile_lens.diff.stage_text import spelled_alike
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.documents.source_file import source_if_named
from compile_lens.lsp.convert import path_from_uri
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.pipeline.open_stages import Read, debug_folder_at, open_stage_set, traces_at
from compile_lens.pipeline.stage_set import StageSet, name_of
from compile_lens.shown_text import visible
from compile_lens.stages.model import Stage
from compile_lens.state.stage_folders import OPENED, RUN, VARIANT, StageFacts, StageFolders
from compile_lens.trace.files import TraceError
from compile_lens.workers.caches import cache_root

log = logging.getLogger(__name__)

SCHEME = "compile-lens-stage"
PART = "stages"
# the variant of a file that is the run before its last one
EARLIER = "earlier"
WITH, COMPARED, ABSENT = "with=", "compared", "absent"
Side = tuple[StageSet, Stage | None]


@dataclass(frozen=True, slots=True)
class StageDocument:
    """A stage, and the run or trace that it is of."""

    of: StageSet
    stage: Stage


class StageStore:
    """Stages by the key of their folder. What is not loaded is loaded when the editor shows a document of it again."""

    def __init__(self, server: CompileLensServer) -> None:
        self._server = server
        self.folders = StageFolders(cache_root(os.environ) / PART)
        self._sets: dict[str, StageSet] = {}
        self._loading: dict[str, asyncio.Task[StageSet | None]] = {}
        self._on_change: list[Callable[[str], None]] = []

    def on_change(self, listener: Callable[[str], None]) -> None:
        """Call ``listener`` with the key of stages that are new, renewed or gone."""
        self._on_change.append(listener)

    # -- what is known

    def of_run(self, path: str) -> StageSet | None:
        """The stages of the last run of a file, if they are loaded."""
        return self._sets.get(self.folders.key(RUN, path))

    def about(self, path: str) -> list[StageSet]:
        """What is loaded and tells of a file: its own run first."""
        own, key = self.of_run(path), file_key(path)
        others = [
            found
            for found in self._sets.values()
            if found is not own and found.facts.kind != VARIANT and (key in found.files or found.facts.file == path)
        ]
        return [own, *others] if own is not None else others

    def loaded(self, uri: str) -> StageDocument | None:
        """The stage that is the document ``uri``, if it is loaded."""
        if self.is_absent(uri):
            return None
        place = self.place_of(uri)
        known = self._sets.get(place[0]) if place is not None else None
        stage = known.stage_named(place[1]) if known is not None and place is not None else None
        return StageDocument(known, stage) if known is not None and stage is not None else None

    async def find(self, uri: str) -> StageDocument | None:
        """The stage that is the document ``uri``; None if nothing is kept of it any more."""
        place = self.place_of(uri)
        if place is None:
            return None
        await self.load(place[0])
        return self.loaded(uri)

    async def text(self, uri: str) -> str | None:
        """The text of the document ``uri``; None if nothing is kept of it any more."""
        if self.is_absent(uri):
            return ""
        found = await self.find(uri)
        if found is None:
            return None
        query = unquote(urlsplit(uri).query)
        other = await self.find(f"{SCHEME}:/{quote(query.removeprefix(WITH))}") if query.startswith(WITH) else None
        if other is None:
            return await asyncio.to_thread(lambda: found.stage.text)
        return await asyncio.to_thread(lambda: spelled_alike(found.stage.text, other.stage.text))

    async def load(self, key: str) -> StageSet | None:
        """What is kept under a key."""
        if key not in self._sets:
            task = self._loading.get(key)
            if task is None:
                task = self._loading[key] = asyncio.ensure_future(self._load(key))
                task.add_done_callback(lambda _: self._loading.pop(key, None))
            await asyncio.shield(task)
        return self._sets.get(key)

    async def _load(self, key: str) -> StageSet | None:
        facts = await asyncio.to_thread(self.folders.known, key)
        if facts is None:
            return None
        try:
            found = await asyncio.to_thread(open_stage_set, key, facts, self._maps(), self._roots())
        except TraceError:
            return None  # it was readable when it was kept, and has been changed since
        self._publish(found)
        return found

    # -- what is new

    async def add(self, facts: StageFacts, read: Read = source_if_named) -> StageSet:
        """Take the stages of a run or of an opened trace; ``read`` reads the files that it is about. Raises TraceError and OSError."""
        key = self.folders.key(facts.kind, facts.file, facts.how)
        found = await asyncio.to_thread(open_stage_set, key, facts, self._maps(), self._roots(), read)
        if facts.kind != OPENED:  # the files that it read may change soon
            await asyncio.to_thread(found.read_kernels, read)
        await asyncio.to_thread(self.folders.keep, key, found.facts)
        self._publish(found)
        return found

    async def keep_earlier(self, path: str) -> None:
        """Keep the last run of a file to compare with, before the next one replaces it. Raises OSError."""
        facts = await asyncio.to_thread(self.folders.known, self.folders.key(RUN, path))
        if facts is not None:
            key = self.folders.key(VARIANT, path, EARLIER)
            earlier = replace(facts, kind=VARIANT, variant=EARLIER)
            await asyncio.to_thread(self.folders.keep_copy, key, earlier)
            self._sets.pop(key, None)

    async def add_debug_folder(self, path: Path) -> StageSet | None:
        """Take the stages of a folder of ``TORCH_COMPILE_DEBUG``; None if ``path`` is none. Raises OSError."""
        facts = await asyncio.to_thread(debug_folder_at, path)
        return await self.add(facts) if facts is not None else None

    async def add_traces(self, path: Path) -> None:
        """Take the stages of a trace that was opened. What cannot be read of it has been said by then."""
        try:
            for facts in await asyncio.to_thread(lambda: list(traces_at(path, self.folders))):
                await self.add(facts)
        except (TraceError, OSError) as problem:
            log.info("No stages of %s: %s", path, problem)

    def forget_traces(self) -> None:
        """The opened traces were closed."""
        for key in [key for key, found in self._sets.items() if found.facts.kind == OPENED]:
            del self._sets[key]
            self._tell(key)

    def _publish(self, found: StageSet) -> None:
        self._sets[found.key] = found
        self._tell(found.key)
        if not found.knows_kernels:
            self._server.background.start(self._read_kernels(found))

    async def _read_kernels(self, found: StageSet) -> None:
        await asyncio.to_thread(found.read_kernels, source_if_named)
        if self._sets.get(found.key) is found:
            self._tell(found.key)

    def _tell(self, key: str) -> None:
        for listener in self._on_change:
            listener(key)

    def _maps(self) -> tuple[tuple[str, str], ...]:
        return tuple(self._server.settings.traces.map.items())

    def _roots(self) -> tuple[str, ...]:
        return tuple(map(str, self._server.folders()))

    # -- names

    def place_of(self, uri: str) -> tuple[str, str] | None:
        """The key and the name of a document that is a stage; None for any other document."""
        if uri.startswith(f"{SCHEME}:"):
            key, _, name = unquote(urlsplit(uri).path).lstrip("/").partition("/")
            return (key, name) if key and name else None
        path = path_from_uri(uri)
        return self.folders.place_of(path) if path is not None else None

    def name(self, of: StageSet, stage: Stage) -> str:
        """The name of a stage as a document that need not exist yet."""
        return f"{SCHEME}:/{quote(f'{of.key}/{name_of(stage)}')}"

    def compared(self, before: Side, after: Side) -> tuple[str, str]:
        """The documents of two sides of a comparison."""
        (old, first), (new, second) = before, after
        if first is None or second is None:
            there = self.name(old, first) if first is not None else self.name(new, second) if second is not None else ""
            absent = f"{there}?{ABSENT}"
            return (absent, there) if first is None else (there, absent)
        against = quote(f"{new.key}/{name_of(second)}", safe="")
        return f"{self.name(old, first)}?{WITH}{against}", f"{self.name(new, second)}?{COMPARED}"

    def is_absent(self, uri: str) -> bool:
        """Whether the document stands for a stage that is not there."""
        return uri.startswith(f"{SCHEME}:") and unquote(urlsplit(uri).query) == ABSENT

    def uri(self, of: StageSet, stage: Stage) -> str:
        """The document that the editor can open: a file is written for one that opens nothing else. Raises OSError."""
        if self._server.editor.takes_contents:
            return self.name(of, stage)
        return self.folders.write_document(of.key, name_of(stage), visible(stage.text)).as_uri()

    def open_documents(self, key: str) -> Iterator[Snapshot]:
        """The documents of a key that the editor shows."""
        for snapshot in self._server.documents.all():
            place = self.place_of(snapshot.uri)
            if place is not None and (place[0] == key or f"{WITH}{key}/" in unquote(snapshot.uri)):
                yield snapshot
