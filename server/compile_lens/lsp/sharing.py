"""Shares unsaved documents with the server for assistants, of workspaces whose files may run."""

from __future__ import annotations

from pathlib import Path

from compile_lens.documents.shared_texts import SharedTexts
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.permissions import Permissions
from compile_lens.state.consent import Permission


class Sharing:
    """One socket for each workspace folder, as long as this server runs."""

    def __init__(self, server: CompileLensServer, permissions: Permissions) -> None:
        self._server = server
        self._permissions = permissions
        self._shared: list[SharedTexts] = []
        server.on_close.append(self._close)

    async def start(self) -> None:
        """Share the documents of the folders that are open now."""
        for folder in self._server.folders():
            shared = SharedTexts(Path(folder), self._text_of)
            if await shared.start():
                self._shared.append(shared)

    def _text_of(self, file: str) -> str | None:
        snapshot = self._server.documents.of_file(file)
        if snapshot is None or self._permissions.of(file) is not Permission.ALLOWED:
            return None
        return self._server.sources.unsaved(file, snapshot.text)

    async def _close(self) -> None:
        for shared in self._shared:
            await shared.close()
