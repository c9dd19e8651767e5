"""Follows the editor's documents: open, change, save, close. The handlers are synchronous, which keeps the order of the messages."""

from __future__ import annotations

import logging
from pathlib import Path

from lsprotocol import types

from compile_lens.documents.documents import file_key
from compile_lens.documents.source_file import LARGEST_BYTES, too_large
from compile_lens.lsp.convert import from_changes, path_from_uri
from compile_lens.lsp.diagnostics import Diagnostics
from compile_lens.lsp.document_facts import DocumentFactsOf
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.predictions import Predictions
from compile_lens.lsp.runs import Runs
from compile_lens.lsp.status import StatusReporter
from compile_lens.pipeline.scheduler import Reason

log = logging.getLogger(__name__)


def register(
    server: CompileLensServer,
    runs: Runs,
    diagnostics: Diagnostics,
    predictions: Predictions,
    facts: DocumentFactsOf,
    status: StatusReporter,
) -> None:
    """Register the handlers. A document that is too large is treated as one that is not open."""
    refused: set[str] = set()

    def refuse(uri: str) -> None:
        if uri in refused:
            return
        refused.add(uri)
        close(uri)
        status.limited(uri, too_large(Path(path_from_uri(uri) or uri).name))

    def close(uri: str) -> None:
        snapshot = server.documents.close(uri)
        if snapshot is not None:
            predictions.closed(snapshot)
            runs.forget(snapshot.uri)
            diagnostics.closed(snapshot)
            facts.closed(uri)

    server.protocol.on_too_large = refuse

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        refused.discard(document.uri)
        if len(document.text) > LARGEST_BYTES:
            refuse(document.uri)
            return
        path = path_from_uri(document.uri)
        language = str(getattr(document.language_id, "value", document.language_id))
        snapshot = server.documents.open(document.uri, path, language, document.version, document.text)
        diagnostics.opened(snapshot)
        predictions.opened(snapshot)
        runs.consider(snapshot, Reason.OPENED)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        if document.uri in refused:
            return
        if server.documents.get(document.uri) is None:
            log.warning("Ignored a change of a document that is not open: %s", document.uri)
            return
        edits = server.documents.change(document.uri, document.version, from_changes(params.content_changes))
        path = path_from_uri(document.uri)
        snapshot = server.documents.get(document.uri)
        if snapshot is not None and snapshot.index.length > LARGEST_BYTES:
            refuse(document.uri)
            return
        if edits and path is not None:
            runs.edited(file_key(path), edits)
        if snapshot is not None:
            facts.edited(snapshot, edits)
            predictions.edited(snapshot, edits)
            diagnostics.edited(snapshot)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        snapshot = server.documents.get(params.text_document.uri)
        if snapshot is not None:
            server.documents.saved(snapshot.uri)
            predictions.saved(snapshot)
            runs.consider(snapshot, Reason.SAVED)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        refused.discard(params.text_document.uri)
        status.unlimited(params.text_document.uri)
        close(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def notebook_did_open(params: types.DidOpenNotebookDocumentParams) -> None:
        did_open(server.notebooks.opened(params))

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def notebook_did_change(params: types.DidChangeNotebookDocumentParams) -> None:
        change = server.notebooks.changed(params)
        if change is not None:
            did_change(change)
            diagnostics.show({file_key(path_from_uri(change.text_document.uri) or "")})

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def notebook_did_save(params: types.DidSaveNotebookDocumentParams) -> None:
        did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(params.notebook_document.uri)))

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def notebook_did_close(params: types.DidCloseNotebookDocumentParams) -> None:
        uri = params.notebook_document.uri
        server.notebooks.closed(uri)
        did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
