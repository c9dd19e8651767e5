"""Findings as diagnostics: for each document either pulled by the editor or pushed to it, never both.

An editor that pulls does so for the documents that are open in it; what a run finds in a file that is not open is
pushed, and taken back when the file is opened.
"""

from __future__ import annotations

import asyncio
import contextlib
import zlib
from collections.abc import Callable, Iterable

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.lsp.convert import SOURCE, path_from_uri, to_diagnostic, uri_from_path
from compile_lens.lsp.language_server import CompileLensServer

# partial outcomes and edits come in bursts
TOGETHER_S = 0.03
# an editor that does not answer a refresh is asked again after this long
REFRESH_ANSWER_S = 5.0


class Diagnostics:
    """Keeps the editor's diagnostics equal to the results."""

    def __init__(self, server: CompileLensServer) -> None:
        self._server = server
        self._changed: set[str] = set()
        self._flush: asyncio.TimerHandle | None = None
        self._pushed: dict[str, str] = {}
        self._refresh_wanted = False
        self._refreshing = False
        # what is known of a document without a run: lsp/knowledge_diagnostics.py, lsp/predictions.py
        self.without_run: list[Callable[[Snapshot], list[types.Diagnostic]]] = []

    def register_pull(self) -> None:
        """Offer to be pulled from. Only for an editor that can: pygls would tell every editor."""
        options = types.DiagnosticOptions(identifier=SOURCE, inter_file_dependencies=True, workspace_diagnostics=False)
        self._server.on(types.TEXT_DOCUMENT_DIAGNOSTIC, self._on_pull, options)

    def show(self, keys: Iterable[str], edited: str | None = None) -> None:
        """The findings of the files ``keys`` changed.

        The editor pulls ``edited``, which the user just typed in, by itself.
        """
        for key in keys:
            if self._is_pulled(key):
                self._refresh_wanted = self._refresh_wanted or key != edited
            else:
                self._changed.add(key)
        if (self._changed or self._refresh_wanted) and self._flush is None:
            self._flush = asyncio.get_running_loop().call_later(TOGETHER_S, self._send)

    def opened(self, snapshot: Snapshot) -> None:
        """A document was opened: what was pushed for its file is pulled from now on."""
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
        """The user typed in a document; an editor that pulls does so by itself."""
        if snapshot.path is None:
            return
        key = file_key(snapshot.path)
        if not self._is_pulled(key):
            self.show({key}, edited=key)

    def closed(self, snapshot: Snapshot) -> None:
        """A document was closed: what other documents' runs found in its file is pushed from now on."""
        if snapshot.path is not None:
            self.show({file_key(snapshot.path)})

    def _is_pulled(self, key: str) -> bool:
        return self._server.client.pulls and self._server.documents.uri_of_key(key) is not None

    def _send(self) -> None:
        self._flush = None
        changed, self._changed = self._changed, set()
        for key in sorted(changed):
            if not self._is_pulled(key):
                self._push(key)
        if self._refresh_wanted and not self._refreshing:
            self._refreshing = True
            self._server.background.start(self._refresh())

    def _push(self, key: str) -> None:
        server = self._server
        findings = server.results.findings(key)
        uri = server.documents.uri_of_key(key) or self._pushed.get(key)
        snapshot = server.documents.get(uri) if uri is not None else None
        items = [to_diagnostic(finding, server.sources, server.client) for finding in findings]
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
        params = types.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=items)
        self._server.text_document_publish_diagnostics(params)

    async def _refresh(self) -> None:
        """Ask the editor to pull again; what changes while it answers is one more request, however much it is."""
        try:
            while self._refresh_wanted:
                self._refresh_wanted = False
                with contextlib.suppress(JsonRpcException, asyncio.TimeoutError):
                    await asyncio.wait_for(self._server.workspace_diagnostic_refresh_async(None), REFRESH_ANSWER_S)
        finally:
            self._refreshing = False

    def _on_pull(self, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        """Answers from what is known: it is no task of its own, so it speaks of the version that the editor means."""
        path = path_from_uri(params.text_document.uri)
        key = file_key(path) if path is not None else ""
        if not self._is_pulled(key):
            return types.RelatedFullDocumentDiagnosticReport(items=[], result_id="0")
        server = self._server
        snapshot = server.documents.get(params.text_document.uri)
        found = self._without_run(snapshot)
        result = str(server.results.stamp(key))
        if found:
            result += f":{zlib.crc32(repr(found).encode())}"
        if params.previous_result_id == result:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result)
        items = [to_diagnostic(finding, server.sources, server.client) for finding in server.results.findings(key)]
        items += found
        return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result)
