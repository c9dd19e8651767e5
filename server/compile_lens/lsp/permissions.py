"""Whether the files of a workspace may run in the background; asks the user."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.state.consent import Permission, permission

ALLOW, NOT_NOW = "Allow", "Not now"


class Permissions:
    """Asks once per workspace root. Remembers a yes permanently, a no until the server ends."""

    def __init__(self, server: CompileLensServer) -> None:
        self._server = server
        self._declined: set[Path] = set()
        self._asking: set[Path] = set()

    def of(self, path: str) -> Permission:
        """Whether the file ``path`` may run in the background."""
        server, root = self._server, self._server.root_of(path)
        remembered = server.consent.is_allowed(root)
        trusted = server.trusted if server.reports_trust or not server.trusted else None
        setting = server.settings.run.enabled if server.run_is_set else None
        return permission(trusted, setting, remembered, root in self._declined)

    def ask(self, path: str, python: str, then: Callable[[], None]) -> None:
        """Ask for the workspace of ``path``, unless the question is open already; ``then`` is called after the answer."""
        root = self._server.root_of(path)
        if root not in self._asking:
            self._asking.add(root)
            self._server.background.start(self._ask(root, python, then))

    async def _ask(self, root: Path, python: str, then: Callable[[], None]) -> None:
        question = types.ShowMessageRequestParams(
            type=types.MessageType.Info,
            message=(
                "Allow Compile Lens to run files of this workspace in the background to see what torch.compile does? "
                f"It uses {python}."
            ),
            actions=[types.MessageActionItem(ALLOW), types.MessageActionItem(NOT_NOW)],
        )
        try:
            answer = await self._server.window_show_message_request_async(question)
        except JsonRpcException:  # an editor that cannot ask; the command and the setting still allow runs
            answer = None
        finally:
            self._asking.discard(root)
        if answer is not None and answer.title == ALLOW:
            self.allow(root)
        else:
            self._declined.add(root)
        then()

    def allow(self, root: Path) -> None:
        """The user allows background runs for ``root``."""
        self._declined.discard(root)
        try:
            self._server.consent.allow(root)
        except OSError as error:
            self._server.warn(f"Compile Lens could not save your answer: {error.strerror}.")

    def revoke(self, root: Path) -> None:
        """The user revokes the permission for ``root``, and is not asked again in this session."""
        self._declined.add(root)
        try:
            self._server.consent.revoke(root)
        except OSError as error:
            self._server.warn(f"Compile Lens could not revoke the permission: {error.strerror}.")
