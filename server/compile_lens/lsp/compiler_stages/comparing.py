"""Compares the compiler's stages of a file with what they would be otherwise: another text, other options, another GPU, an earlier run.

docs/editors/protocol.md describes ``compileLens.compareStages``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams

from compile_lens.diff.stage_comparison import (
    GraphChange,
    StageChange,
    StageComparison,
    compare_pass,
    compare_stages,
)
from compile_lens.formats import stage_comparison
from compile_lens.knowledge.devices import UnknownDeviceError, devices, find_device
from compile_lens.lsp.compiler_stages.making import StageMaking
from compile_lens.lsp.compiler_stages.page import open_in_browser
from compile_lens.lsp.compiler_stages.store import EARLIER, StageStore
from compile_lens.lsp.compiler_stages.titles import title_of
from compile_lens.lsp.convert import path_argument
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.pipeline.revisions import RevisionError, commit_of
from compile_lens.pipeline.stage_set import StageSet
from compile_lens.pipeline.torch_options import DYNAMIC, read_option
from compile_lens.stages.model import Graph, StageKind
from compile_lens.state.stage_folders import OPENED, PREVIEW, RUN, VARIANT
from compile_lens.wording import counted

COMPARE = "compileLens.compareStages"
AGAIN = "again"
# how a side is named: the file as it is, as it was in git, with options, for a GPU; what is known under a key
PLAIN, GIT, OPTIONS, GPU, KEY = "", "git:", "options:", "gpu:", "key:"
DYNAMIC_SHAPES, PASSES = "dynamic", "passes"
PAGE = "comparison.html"
PASS_STAGES = (
    (StageKind.PRE_GRAD_BEFORE, StageKind.PRE_GRAD),
    (StageKind.POST_GRAD_BEFORE, StageKind.POST_GRAD),
    (StageKind.IR_PRE_FUSION, StageKind.IR_POST_FUSION),
)


@dataclass(frozen=True, slots=True)
class Compared:
    """One side, with the name that the user reads."""

    name: str
    of: StageSet


class StageComparing:
    """A comparison compiles what is not known yet. Like any command that runs a file, it implies the user's consent."""

    def __init__(self, server: CompileLensServer, store: StageStore, making: StageMaking) -> None:
        self._server, self._store, self._making = server, store, making

    async def compare(
        self, uri: str | None, before: str | None = None, after: str | None = None, how: str | None = None
    ) -> dict[str, Any] | None:
        """The stages of two sides, and what differs; without sides, what can be compared. With ``again``, both are compiled anew.

        None if one of them could not be compiled, which the user is told, or if the user chose nothing.
        """
        of = await self._store.find(str(uri)) if uri is not None else None
        file, base = (of.of.facts.file, of.of) if of is not None else (path_argument(COMPARE, uri), None)
        if base is not None and base.facts.kind != OPENED:
            uri, base = Path(file).as_uri(), None
        if how not in (None, AGAIN):
            raise JsonRpcInvalidParams(f"{COMPARE} takes {AGAIN} after the two sides.")
        if before is None:
            choices = await self._choices(file, base)
            if self._server.editor.links_stages:
                return {"choices": choices}
            chosen = await self._ask(file, choices)
            if chosen is None:
                return None
            before, after = chosen["before"], chosen["after"]
        makes_again = how == AGAIN
        if before == PASSES:
            one = await self._side(str(uri), file, after or PLAIN, makes_again)
            return await self._answer(one, one, _passes(one)) if one is not None else None
        sides: dict[str, Compared] = {}
        # a run for the other side makes the one that is shown the run before
        for side in sorted((before, after or PLAIN), key=lambda side: side == EARLIER):
            made = await self._side(str(uri), file, side, makes_again)
            if made is None:
                return None
            sides[side] = made
        old, new = sides[before], sides[after or PLAIN]
        comparison = await asyncio.to_thread(
            compare_stages,
            (old.name, replace(old.of.opened, graphs=old.of.graphs)),
            (new.name, replace(new.of.opened, graphs=new.of.graphs)),
        )
        return await self._answer(old, new, comparison)

    # -- what can be compared

    async def _choices(self, path: str, base: StageSet | None) -> list[dict[str, Any]]:
        """What a user can choose from; ``{0}`` and ``{1}`` in a side are for the answers to ``asks``."""
        now = f"{KEY}{base.key}" if base is not None else PLAIN
        others = [found for found in self._store.about(path) if found.facts.kind == OPENED and found is not base]
        traces = [_choice(f"The trace {of.facts.title}", "", f"{KEY}{of.key}", now) for of in others]
        passes = _choice("Before and after the compiler's passes", "of each graph", PASSES, now)
        if base is not None:
            return [*traces, passes]
        name, found = Path(path).name, []
        # git starts programs that a repository names
        if self._server.trusted and await asyncio.to_thread(_is_committed, path):
            asks = [{"prompt": f"The git revision to compare {name} with", "value": "HEAD~1"}]
            found += [
                _choice("The last commit", "HEAD", f"{GIT}HEAD", now),
                _choice("Another git revision…", "", f"{GIT}{{0}}", now, asks),
            ]
        if await self._has_earlier(path):
            found.append(_choice("The run before", "before the one that is shown", EARLIER, now))
        options = [{"prompt": "Options of torch._inductor.config to compile with", "value": "max_autotune=1"}]
        gpus = [{"title": device.title, "value": name} for name, device in devices().items()]
        two = [{"prompt": "Choose the first GPU", "values": gpus}, {"prompt": "Choose the second GPU", "values": gpus}]
        return [
            *found,
            _choice("Dynamic shapes", "against static ones", PLAIN, DYNAMIC_SHAPES),
            _choice("Other options of the compiler…", "", PLAIN, f"{OPTIONS}{{0}}", options),
            _choice("Two GPUs…", "neither has to be in this machine", f"{GPU}{{0}}", f"{GPU}{{1}}", two),
            *traces,
            passes,
        ]

    async def _has_earlier(self, path: str) -> bool:
        """Whether there is a run before the one that is shown, or that is made for a comparison."""
        shown = await self._store.load(self._store.folders.key(RUN, path))
        if shown is not None and shown.is_of_another_text(self._server.sources.index(path)):
            return True
        earlier = self._store.folders.key(VARIANT, path, EARLIER)
        return await asyncio.to_thread(self._store.folders.known, earlier) is not None

    async def _ask(self, path: str, choices: list[dict[str, Any]]) -> dict[str, Any] | None:
        titles = {choice["title"]: choice for choice in choices if not choice["asks"]}
        answer = await self._server.ask(f"What should {Path(path).name} be compared with?", titles)
        return titles.get(answer) if answer is not None else None

    # -- a side

    async def _side(self, uri: str, path: str, side: str, again: bool) -> Compared | None:
        """What ``side`` names, made if it is not known; None if it could not be, which the user is told."""
        name = Path(path).name
        if side.startswith(KEY) or side == EARLIER:
            key = side.removeprefix(KEY) if side != EARLIER else self._store.folders.key(VARIANT, path, EARLIER)
            known = await self._store.load(key)
            if known is None:
                self._server.warn(f"Compile Lens: no stages of {name} are kept to compare with.")
                return None
            return Compared(f"{name} in the run before" if side == EARLIER else known.facts.title, known)
        making = self._making
        if side == PLAIN:
            return await self._made(name, path, RUN, "", again, lambda: making.run(uri, path))
        if side.startswith(GPU):
            return await self._for_gpu(uri, path, side.removeprefix(GPU), again)
        if side.startswith(GIT):
            return await self._at_revision(uri, path, side.removeprefix(GIT), again)
        options, title = _options(side)
        if not options:
            self._server.warn(f"Compile Lens: {title}")
            return None
        title = f"{name} with {title}"
        return await self._made(
            title, path, VARIANT, side, again, lambda: making.with_options(uri, path, side, title, options)
        )

    async def _made(
        self, title: str, path: str, kind: str, how: str, again: bool, make: Callable[[], Awaitable[StageSet | None]]
    ) -> Compared | None:
        """What is kept if it is of this text, else made anew."""
        known = await self._store.load(self._store.folders.key(kind, path, how))
        if known is None or again or known.is_of_another_text(self._server.sources.index(path)):
            known = await make()
        return Compared(title, known) if known is not None and known.graphs else None

    async def _for_gpu(self, uri: str, path: str, gpu: str, again: bool) -> Compared | None:
        try:
            device = find_device(gpu)
        except UnknownDeviceError as problem:
            self._server.warn(f"Compile Lens: {problem}")
            return None
        title = f"{Path(path).name} for {device.title}"
        return await self._made(title, path, PREVIEW, device.key, again, lambda: self._making.preview(uri, path, gpu))

    async def _at_revision(self, uri: str, path: str, revision: str, again: bool) -> Compared | None:
        """The file in a git revision, which is compiled once for each commit."""
        if not self._server.may_run():
            return None
        try:
            commit = await asyncio.to_thread(commit_of, revision, Path(path))
        except RevisionError as problem:
            self._server.warn(f"Compile Lens: {problem}")
            return None
        variant, title = f"{GIT}{commit}", f"{Path(path).name} at {revision}"
        known = await self._store.load(self._store.folders.key(VARIANT, path, variant))
        if known is None or again:
            known = await self._making.at_revision(uri, path, variant, title, revision)
        return Compared(title, known) if known is not None and known.graphs else None

    # -- the answer

    async def _answer(self, old: Compared, new: Compared, comparison: StageComparison) -> dict[str, Any]:
        before, after = comparison.figures
        told = {
            "title": f"{comparison.before} → {comparison.after}" if old.of is not new.of else comparison.after,
            "summary": stage_comparison.summary(before, after) if old.of is not new.of else _of_passes(comparison),
            "changed": comparison.is_changed,
        }
        if not self._server.editor.links_stages:
            html = await asyncio.to_thread(stage_comparison.to_html, comparison)
            file = await asyncio.to_thread(self._store.folders.write_document, new.of.key, PAGE, html, True)
            return {**told, **await open_in_browser(self._server, file)}
        graphs = [self._graph(old.of, new.of, change) for change in comparison.graphs]
        return {**told, "graphs": await asyncio.to_thread(lambda: graphs)}

    def _graph(self, old: StageSet, new: StageSet, change: GraphChange) -> dict[str, Any]:
        return {
            "title": title_of(change.shown),
            "what": stage_comparison.graph_change(change) if old is not new else "",
            "changed": change.is_changed,
            "stages": [self._stage(old, new, stage) for stage in change.stages],
        }

    def _stage(self, old: StageSet, new: StageSet, change: StageChange) -> dict[str, Any]:
        shown = change.after or change.before
        assert shown is not None
        before, after = self._store.compared((old, change.before), (new, change.after))
        return {
            "title": shown.title,
            "what": stage_comparison.stage_change(change),
            "changed": change.is_changed,
            "before": before,
            "after": after,
        }


def _passes(of: Compared) -> StageComparison:
    """What the passes changed that stand between two stages of each graph."""

    def change(graph: Graph) -> GraphChange:
        found = [compare_pass(graph, before, after) for before, after in PASS_STAGES]
        return GraphChange(graph, graph, tuple(one for one in found if one is not None))

    return StageComparison(of.name, of.name, tuple(change(graph) for graph in of.of.graphs))


def _of_passes(comparison: StageComparison) -> str:
    changes = [stage for graph in comparison.graphs for stage in graph.stages]
    changed = sum(stage.is_changed for stage in changes)
    return f"passes changed {changed} of {counted(len(changes), 'stage')}"


def _choice(
    title: str, detail: str, before: str, after: str, asks: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    return {"title": title, "detail": detail, "before": before, "after": after, "asks": asks or []}


def _options(side: str) -> tuple[dict[str, str], str]:
    """The options that a side names, with its words; none and a sentence if it cannot be read."""
    if side == DYNAMIC_SHAPES:
        return dict(DYNAMIC), "dynamic shapes"
    if not side.startswith(OPTIONS):
        raise JsonRpcInvalidParams(f"{COMPARE} does not know the side {side!r}.")
    text = side.removeprefix(OPTIONS)
    try:
        options = dict(map(read_option, text.split()))
    except ValueError as problem:
        return {}, str(problem)
    return options, text if options else "Name at least one option, as in max_autotune=1."


def _is_committed(path: str) -> bool:
    try:
        return bool(commit_of("HEAD", Path(path)))
    except RevisionError:
        return False
