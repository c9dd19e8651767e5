"""Findings as diagnostics, which the editor either pulls or gets pushed, never both for one document.

An editor that pulls does so for its open documents. Findings in other files are pushed, and withdrawn once the file
is opened.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Iterable

from lsprotocol import types

from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.convert import path_from_uri, to_diagnostic, uri_from_path
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.refresh import Refresh

# partial outcomes and edits come in bursts
BURST_S = 0.03


class Diagnostics:
    """Keeps the editor's diagnostics up to date with the results."""

    def __init__(self, server: CompileLensServer) -> None:
        self._server = server
        self._changed: set[str] = set()
        self._flush: asyncio.TimerHandle | None = None
        self._pushed: dict[str, str] = {}
        self._refresh_needed = False
        # changes have been collected for BURST_S by then
        self._refresh = Refresh(server, lambda: server.workspace_diagnostic_refresh_async(None), delay_s=0)
        # diagnostics that need no run: lsp/knowledge_diagnostics.py, lsp/predictions.py, lsp/searches.py
        self.without_run: list[Callable[[Snapshot], list[types.Diagnostic]]] = []
        self._on_change: list[Callable[[], None]] = []

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` when findings change, and when a document is opened, edited or closed."""
        self._on_change.append(listener)

    def _notify(self) -> None:
        for listener in self._on_change:
            listener()

    def register_pull(self) -> None:
        """Answer an editor that pulls diagnostics."""
        self._server.on(types.TEXT_DOCUMENT_DIAGNOSTIC, self._on_pull)

    def show(self, keys: Iterable[str], edited: str | None = None) -> None:
        """Update the diagnostics of the files ``keys``. The editor pulls those of ``edited``, where the user typed, by itself."""
        for key in keys:
            if self._is_pulled(key):
                self._refresh_needed = self._refresh_needed or key != edited
            else:
                self._changed.add(key)
        if (self._changed or self._refresh_needed) and self._flush is None:
            self._flush = asyncio.get_running_loop().call_later(BURST_S, self._send)
        self._notify()

    def opened(self, snapshot: Snapshot) -> None:
        """A document was opened: diagnostics that were pushed for its file are withdrawn and pulled instead."""
        self._notify()
        if snapshot.path is None:
            return
        key = file_key(snapshot.path)
        pushed = self._pushed.get(key)
        if pushed is not None and (self._is_pulled(key) or pushed != snapshot.uri):
            del self._pushed[key]
            self._publish(pushed, None, [])
        if self._server.results.findings(key) or not self._is_pulled(key):
            self.show({key})

    def edited(self, snapshot: Snapshot) -> None:
        """The user typed in a document. An editor that pulls asks again by itself."""
        self._notify()
        if snapshot.path is None:
            return
        key = file_key(snapshot.path)
        if not self._is_pulled(key):
            self.show({key}, edited=key)

    def closed(self, snapshot: Snapshot) -> None:
        """A document was closed: findings of other documents' runs in its file are pushed from now on."""
        if snapshot.path is not None:
            self.show({file_key(snapshot.path)})

    def _is_pulled(self, key: str) -> bool:
        uri = self._server.documents.uri_of_key(key)
        # the diagnostics of a notebook are pushed, to all of its cells
        return self._server.editor.pulls_diagnostics and uri is not None and not self._server.notebooks.is_notebook(uri)

    def _send(self) -> None:
        self._flush = None
        changed, self._changed = self._changed, set()
        for key in sorted(changed):
            if not self._is_pulled(key):
                self._push(key)
        if self._refresh_needed:
            self._refresh_needed = False
            self._refresh.request()

    def _push(self, key: str) -> None:
        server = self._server
        findings = server.results.findings(key)
        uri = server.documents.uri_of_key(key) or self._pushed.get(key)
        snapshot = server.documents.get(uri) if uri is not None else None
        items = [to_diagnostic(finding, server.sources, server.editor) for finding in findings]
        items += self._without_run(snapshot)
        if not items and key not in self._pushed:
            return
        if uri is None:
            uri = uri_from_path(findings[0].place.file, server.sources)
        self._pushed[key] = uri
        self._publish(uri, snapshot.version if snapshot else None, items)
        if not items:
            del self._pushed[key]

    def _without_run(self, snapshot: Snapshot | None) -> list[types.Diagnostic]:
        return [item for known in self.without_run for item in known(snapshot)] if snapshot is not None else []

    def _publish(self, uri: str, version: int | None, items: list[types.Diagnostic]) -> None:
        for params in self._server.notebooks.diagnostics(uri, version, items):
            self._server.text_document_publish_diagnostics(params)

    def _on_pull(self, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        """Answers synchronously, so that the result fits the version that the editor means."""
        path = path_from_uri(params.text_document.uri)
        key = file_key(path) if path is not None else ""
        if not self._is_pulled(key):
            return types.RelatedFullDocumentDiagnosticReport(items=[], result_id="0")
        server = self._server
        snapshot = server.documents.get(params.text_document.uri)
        server.documents.looked_at(params.text_document.uri)
        found = self._without_run(snapshot)
        result = str(server.results.stamp(key))
        if found:
            result += f":{zlib.crc32(repr(found).encode())}"
        if params.previous_result_id == result:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result)
        items = [to_diagnostic(finding, server.sources, server.editor) for finding in server.results.findings(key)]
        items += found
        return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result)
