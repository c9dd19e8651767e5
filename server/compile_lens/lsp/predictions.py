"""Predictions while the user types, made after a pause and replaced by the results of the next run.

They run no user code, so they need neither trust nor consent. A thread of their own keeps the event loop free. Until it
is done, the predictions shown move with the text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from lsprotocol import types

from compile_lens.analysis.filters import Filters, apply
from compile_lens.analysis.finding import Finding
from compile_lens.analysis.outcome import Outcome
from compile_lens.analysis.predictions import find_predictions
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.documents.moves import LineEdit
from compile_lens.lsp.convert import SOURCE, to_diagnostic, uri_from_path
from compile_lens.lsp.diagnostics import Diagnostics
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.pipeline.open_predictions import Predicted
from compile_lens.syntax.predictions.registry import chosen
from compile_lens.syntax.tree import parse

# after the last keystroke
PAUSE_S = 0.25
LARGEST = 1_000_000
PREDICTION_SOURCE = f"{SOURCE} (predicted)"


class Predictions:
    """``torch_of`` gives the version of the torch that runs a file, '' while unknown."""

    def __init__(
        self, server: CompileLensServer, diagnostics: Diagnostics, torch_of: Callable[[str | None], str]
    ) -> None:
        self._server = server
        self._diagnostics = diagnostics
        self._torch_of = torch_of
        self._predicted = Predicted()
        self._pauses: dict[str, asyncio.TimerHandle] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="predictions")

    def opened(self, snapshot: Snapshot) -> None:
        """A document was opened. Results of other documents' runs about its file apply to it, too."""
        if snapshot.path is not None:
            key = file_key(snapshot.path)
            for result in self._server.results.regions(key):
                self._predicted.ran(key, uri_from_path(result.outcome.file, self._server.sources), None)
            self._predict_after(snapshot.uri, 0)

    def edited(self, snapshot: Snapshot, edits: list[LineEdit]) -> None:
        """The user typed in a document."""
        if snapshot.path is not None:
            self._predicted.edit(file_key(snapshot.path), edits)
            self._predict_after(snapshot.uri, PAUSE_S)

    def saved(self, snapshot: Snapshot) -> None:
        """A saved document will run, so its predictions must be known by then."""
        if snapshot.path is not None and self._predicted.version(file_key(snapshot.path)) != snapshot.version:
            self._predict_after(snapshot.uri, 0)

    def closed(self, snapshot: Snapshot) -> None:
        """A document was closed: drop its predictions."""
        pause = self._pauses.pop(snapshot.uri, None)
        if pause is not None:
            pause.cancel()
        if snapshot.path is not None:
            self._predicted.forget(file_key(snapshot.path))

    def predict_all(self) -> None:
        """Settings have changed: predict all open documents again."""
        for snapshot in self._server.documents.all():
            self._predict_after(snapshot.uri, 0)
            if snapshot.path is not None:
                self._diagnostics.show({file_key(snapshot.path)})

    def on_run_end(self, uri: str, outcome: Outcome | None, versions: Mapping[str, int]) -> None:
        """A run of ``uri`` ended, which read these versions of the open documents. ``outcome`` is None if its results were withdrawn."""
        self._diagnostics.show(self._predicted.take_back(uri))
        documents = self._server.documents
        compiled = [region for region in outcome.regions if region.frames] if outcome is not None else []
        for key in {file_key(region.place.file) for region in compiled}:
            open_as = documents.uri_of_key(key)
            if open_as is not None:
                self._predicted.ran(key, uri, versions.get(open_as))
                self._remove_answered(key, open_as)

    def current(self, snapshot: Snapshot) -> tuple[Finding, ...]:
        """The predictions of a document, at their current places."""
        if snapshot.path is None or not self._server.settings.predictions.enabled:
            return ()
        key = file_key(snapshot.path)
        return self._predicted.beside(key, self._server.results.findings(key))

    def diagnostics(self, snapshot: Snapshot) -> list[types.Diagnostic]:
        """The predictions of a document as diagnostics."""
        found = [to_diagnostic(one, self._server.sources, self._server.editor) for one in self.current(snapshot)]
        for diagnostic in found:
            diagnostic.source = PREDICTION_SOURCE
        return found

    def close(self) -> None:
        """Stop predicting."""
        for pause in self._pauses.values():
            pause.cancel()
        self._pauses.clear()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _predict_after(self, uri: str, pause_s: float) -> None:
        before = self._pauses.pop(uri, None)
        if before is not None:
            before.cancel()
        loop = asyncio.get_running_loop()
        self._pauses[uri] = loop.call_later(pause_s, self._start, uri)

    def _start(self, uri: str) -> None:
        self._pauses.pop(uri, None)
        snapshot = self._server.documents.get(uri)
        if snapshot is not None and snapshot.is_python and not self._server.stopped.is_set():
            self._server.background.start(self._predict(snapshot))

    async def _predict(self, snapshot: Snapshot) -> None:
        server, path = self._server, snapshot.path
        assert path is not None
        settings = server.settings
        work = partial(
            predict_text,
            path,
            snapshot.text,
            self._torch(snapshot),
            chosen(settings.predictions.rules) if settings.predictions.enabled else frozenset(),
            settings.filters,
        )
        found = await asyncio.get_running_loop().run_in_executor(self._thread, work)
        if server.documents.get(snapshot.uri) is None:
            return
        key = file_key(path)
        before = self.current(snapshot)
        self._predicted.add(key, snapshot.version, found, partial(server.documents.edits_since, snapshot.uri))
        self._remove_answered(key, snapshot.uri)
        if self.current(snapshot) != before:
            self._diagnostics.show({key})

    def _torch(self, snapshot: Snapshot) -> str:
        return self._server.results.torch(snapshot.uri) or self._torch_of(snapshot.path)

    def _remove_answered(self, key: str, open_as: str) -> None:
        before = self._predicted.beside(key, ())
        regions = self._server.results.regions(key)
        self._predicted.answer(key, regions, partial(self._server.documents.edits_since, open_as))
        if self._predicted.beside(key, ()) != before:
            self._diagnostics.show({key})


def predict_text(path: str, text: str, torch: str, rules: frozenset[str], filters: Filters) -> tuple[Finding, ...]:
    """The predictions for a text that pass the user's filters. Pure, since it runs on a thread."""
    if len(text) > LARGEST or not rules or "torch" not in text:
        return ()
    tree = parse(text)
    return apply(find_predictions(path, tree, torch, rules), filters, path, lambda _: tree, completed=False).findings
