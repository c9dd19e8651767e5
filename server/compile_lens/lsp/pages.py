"""Shows texts in the editor: a titled preview where it can, else a file that it opens."""

from __future__ import annotations

import asyncio
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.shown_text import one_line
from compile_lens.state.atomic_file import write_beside

METHOD = "compileLens/showPage"


class Pages:
    """Shows verdicts, logs and details."""

    def __init__(self, server: CompileLensServer) -> None:
        self._server = server

    async def show(self, title: str, markdown: str, file: Path) -> None:
        """Show a page. ``file`` is where it is written for an editor that can only open files."""
        if self._server.editor.shows_pages:
            self._server.protocol.notify(METHOD, {"title": one_line(title), "markdown": markdown})
            return
        await self.open(file, markdown)

    async def open(self, file: Path, text: str) -> None:
        """Write ``file`` and open it in the editor, or say where it is."""
        await asyncio.to_thread(write_beside, file, text)
        try:
            params = types.ShowDocumentParams(file.as_uri(), take_focus=True)
            shown = await self._server.window_show_document_async(params)
        except JsonRpcException:
            shown = None
        if shown is None or not shown.success:
            self._server.say(f"Compile Lens wrote {file}.")
