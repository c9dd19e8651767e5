"""Explains background runs, for a user who has been asked to allow them."""

from __future__ import annotations

import logging
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from compile_lens.lsp.language_server import CompileLensServer

log = logging.getLogger(__name__)
EXPLAIN = "compileLens.explainRuns"
PAGE = Path(__file__).with_suffix(".md")


async def explain_runs(server: CompileLensServer) -> None:
    """Show the page about background runs, or say where it is in an editor that cannot show one."""
    if server.editor.shows_documents:
        try:
            await server.window_show_document_async(types.ShowDocumentParams(PAGE.as_uri(), take_focus=True))
            return
        except JsonRpcException as error:
            log.warning("The editor did not show %s: %s", PAGE, error)
    sentence = f"What background runs do is described in {PAGE}."
    server.say(sentence)
