"""Follows the editor's documents: open, change, save, close. The handlers are synchronous, which keeps the order of the messages."""

from __future__ import annotations

import logging

from lsprotocol import types

from compile_lens.documents.documents import file_key
from compile_lens.lsp.convert import from_changes, path_from_uri
from compile_lens.lsp.diagnostics import Diagnostics
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.predictions import Predictions
from compile_lens.lsp.runs import Runs
from compile_lens.pipeline.scheduler import Reason

log = logging.getLogger(__name__)


def register(server: CompileLensServer, runs: Runs, diagnostics: Diagnostics, predictions: Predictions) -> None:
    """Register the handlers."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        path = path_from_uri(document.uri)
        language = str(getattr(document.language_id, "value", document.language_id))
        snapshot = server.documents.open(document.uri, path, language, document.version, document.text)
        diagnostics.opened(snapshot)
        predictions.opened(snapshot)
        runs.consider(snapshot, Reason.OPENED)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        if server.documents.get(document.uri) is None:
            log.warning("Ignored a change of a document that is not open: %s", document.uri)
            return
        edits = server.documents.change(document.uri, document.version, from_changes(params.content_changes))
        path = path_from_uri(document.uri)
        if edits and path is not None:
            runs.edited(file_key(path), edits)
        snapshot = server.documents.get(document.uri)
        if snapshot is not None:
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
        snapshot = server.documents.close(params.text_document.uri)
        if snapshot is not None:
            predictions.closed(snapshot)
            runs.forget(snapshot.uri)
            diagnostics.closed(snapshot)
