"""Tells the editor which interpreter runs the user's files, and its torch (for an editor with ``experimental.compileLensStatus``)."""

from __future__ import annotations

from compile_lens.agent.runtime.protocol import Hello
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.workers.interpreter import torch_version

METHOD = "compileLens/environment"


class EnvironmentReporter:
    """Sends ``python`` and ``torch``, which is left out where there is none, when they change."""

    def __init__(self, server: CompileLensServer) -> None:
        self._server = server
        self._last: dict[str, str] | None = None

    def show(self, python: str, hello: object = None) -> bool:
        """Show the interpreter of the file that the user opened; ``hello`` is what its agent said. Returns whether it has torch."""
        torch = hello.torch if isinstance(hello, Hello) else torch_version(python)
        known = {"python": python} if torch is None else {"python": python, "torch": torch}
        if known != self._last and self._server.editor.shows_status:
            self._last = known
            self._server.protocol.notify(METHOD, known)
        return torch is not None
