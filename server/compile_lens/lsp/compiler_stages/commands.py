"""Commands: list the compiler's stages of a file, choose one and open it. Asked for them, a file is compiled completely if it has none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from compile_lens.documents.documents import Snapshot
from compile_lens.knowledge.devices import devices
from compile_lens.lsp.code_actions import command_action
from compile_lens.lsp.compiler_stages.comparing import COMPARE, StageComparing
from compile_lens.lsp.compiler_stages.documents import StageDocuments
from compile_lens.lsp.compiler_stages.making import StageMaking
from compile_lens.lsp.compiler_stages.page import StagePages
from compile_lens.lsp.compiler_stages.store import StageStore
from compile_lens.lsp.compiler_stages.titles import resources_of, title_of, title_of_source
from compile_lens.lsp.convert import path_argument
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.runs import Runs
from compile_lens.pipeline.stage_set import StageSet
from compile_lens.stages.model import Graph, Stage
from compile_lens.state.stage_folders import RUN

LIST = "compileLens.stages"
OPEN = "compileLens.openStages"
SHOW = "compileLens.showStage"
PAGE = "compileLens.stagesPage"
SOURCE = "compileLens.stageSource"
AGAIN, GPU, GPUS = "again", "gpu:", "gpus"
# a list that an editor shows as buttons
MOST_ASKED = 24


class StageCommands:
    """A request for stages is the user's consent to the run that they need, as with any command that runs a file."""

    def __init__(
        self,
        server: CompileLensServer,
        runs: Runs,
        store: StageStore,
        making: StageMaking,
        documents: StageDocuments,
    ) -> None:
        self._server, self._runs, self._store, self._making = server, runs, store, making
        self._documents = documents
        self._pages = StagePages(server, store)
        self._comparing = StageComparing(server, store, making)

    def commands(self) -> dict[str, Callable[..., Awaitable[Any]]]:
        """The commands by name; all take more than a document."""
        return {
            LIST: self.of_file,
            OPEN: self.open,
            SHOW: self.show,
            PAGE: self.page,
            SOURCE: self.source,
            COMPARE: self._comparing.compare,
        }

    def actions(self, snapshot: Snapshot, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        """Offer the stages of the innermost region at a range."""
        line = params.range.start.line + 1
        name = self._runs.region_at(snapshot, line)
        if name is not None and snapshot.path is not None and self._server.trusted:
            yield command_action(f"Open the compiler stages of `{name}`…", OPEN, [snapshot.uri, str(line)])

    async def of_file(self, uri: str | None, how: str | None = None) -> dict[str, Any] | None:
        """The stages of a file, by the run or trace and the graph; it runs if there are none, or if ``how`` is ``again``.

        ``how`` may be ``gpu:NAME``: compile it as for that GPU, too; or ``gpus``: run nothing. Of a stage, those of the same run or
        trace. None if the file could not be run, which the user is told.
        """
        if uri is not None and (of := await self._store.find(uri)) is not None:
            return {"sources": [await asyncio.to_thread(self._source, of.of)]}
        path = path_argument(LIST, uri)
        if how is not None and how.startswith(GPU):
            await self._making.preview(str(uri), path, how[len(GPU) :])
            known = self._store.about(path)
        elif how == GPUS:
            known = self._store.about(path)
        elif how in (None, AGAIN):
            known = await self._known(str(uri), path, how == AGAIN)
        else:
            raise JsonRpcInvalidParams(f"{LIST} takes the URI of a file, and {AGAIN}, {GPUS} or {GPU}NAME.")
        if not known and how != GPUS:
            return None
        sources = await asyncio.to_thread(lambda: [self._source(found) for found in known])
        gpus = [{"name": name, "title": device.title} for name, device in devices().items()]
        return {"sources": sources, "gpus": gpus}

    async def open(self, uri: str | None, line: str | None = None) -> dict[str, Any] | None:
        """Ask which stage to open, of the graphs of ``line`` first, and open it."""
        path = path_argument(OPEN, uri)
        known = await self._known(str(uri), path, again=False)
        number = int(line) if line is not None and line.isdecimal() else 0
        titles = await asyncio.to_thread(
            lambda: {title: (found, stage) for found in known for title, stage in _titles(found, path, number)}
        )
        answer = await self._server.ask(
            f"Which compiler stage of {Path(path).name} should be opened?", list(titles)[:MOST_ASKED]
        )
        if answer is None or answer not in titles:
            return None
        return await self._show(*titles[answer], 0)

    async def show(self, uri: str | None, line: str | None = None) -> dict[str, Any] | None:
        """Open the stage ``uri`` at a line (from 1). Nothing runs."""
        found = await self._store.find(str(uri)) if uri is not None else None
        if found is None:
            self._server.warn(
                "Compile Lens: this compiler stage is no longer kept. Open the compiler stages of its file again."
            )
            return None
        return await self._show(found.of, found.stage, int(line) if line is not None and line.isdecimal() else 0)

    async def page(self, uri: str | None, line: str | None = None) -> dict[str, Any] | None:
        """Open the linked page of all stages of a file, or of the run or trace that a stage is of; the graph of ``line`` first."""
        if uri is not None and (of := await self._store.find(uri)) is not None:
            return await self._pages.show(of.of)
        path = path_argument(PAGE, uri)
        known = [of for of in await self._known(str(uri), path, again=False) if of.graphs]
        number = int(line) if line is not None and line.isdecimal() else 0
        return await self._pages.show(known[0], path, number) if known else None

    async def source(self, uri: str | None, file: str | None = None, line: str | None = None) -> dict[str, Any] | None:
        """Where a line (from 1) of a file, as the run or trace of the stage ``uri`` names it, is now: ``uri`` and ``line`` (from 0)."""
        found = await self._store.find(str(uri)) if uri is not None else None
        if found is None or file is None or line is None or not line.isdecimal():
            return None
        here, then = found.of.here(file, int(line))
        place = self._documents.place(found, here, then) if await asyncio.to_thread(Path(here).is_file) else None
        return {"uri": place[0], "line": place[1]} if place is not None else None

    async def _show(self, of: StageSet, stage: Stage, line: int) -> dict[str, Any]:
        uri = await asyncio.to_thread(self._store.uri, of, stage)
        place = types.Position(max(line - 1, 0), 0)
        params = types.ShowDocumentParams(uri, take_focus=True, selection=types.Range(place, place))
        try:
            shown = (await self._server.window_show_document_async(params)).success
        except JsonRpcException:
            shown = False
        if not shown:
            self._server.say(f"Compile Lens: the stage is at {uri}.")
        return {"uri": uri, "shown": shown}

    # -- where they come from

    async def _known(self, uri: str, path: str, again: bool) -> list[StageSet]:
        """What is known of a file, after a run of it if there is nothing."""
        if not again:
            await self._store.load(self._store.folders.key(RUN, path))
            if known := self._store.about(path):
                return known
        await self._making.run(uri, path)
        return self._store.about(path)

    # -- as an editor lists them

    def _source(self, of: StageSet) -> dict[str, Any]:
        index = self._server.sources.index(of.facts.file)
        return {
            "title": title_of_source(of),
            "kind": of.facts.kind,
            "stale": of.is_stale(index),
            "graphs": [self._graph(of, graph) for graph in of.graphs],
        }

    def _graph(self, of: StageSet, graph: Graph) -> dict[str, Any]:
        file, line = of.here(graph.file, graph.line)
        return {
            "title": title_of(graph),
            "direction": graph.direction.value,
            "function": graph.function,
            "file": file,
            "line": line,
            "stages": [
                {
                    "uri": self._store.name(of, stage),
                    "kind": stage.kind.value,
                    "title": stage.title,
                    "language": stage.language,
                    "detail": resources_of(of, graph, stage),
                    "kernel": stage.kernel,
                }
                for stage in graph.stages
            ],
        }


def _titles(of: StageSet, path: str, line: int) -> Iterator[tuple[str, Stage]]:
    """The stages with titles of their own, those of the graphs that compute ``line`` first."""
    mine = {at.graph.id for at in of.newest(of.kernels_at(path, line))}
    for graph in sorted(of.graphs, key=lambda graph: graph.id not in mine):
        for stage in graph.documents:
            yield f"{stage.title} · {title_of(graph)}", stage
