"""Imports torch before a run needs it, and asks for permission where something could run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

from compile_lens.agent.runtime.protocol import Hello
from compile_lens.documents.documents import Snapshot, file_key
from compile_lens.late_pattern import pattern
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.permissions import Permissions
from compile_lens.state.consent import Permission
from compile_lens.workers.host import HostError
from compile_lens.workers.interpreter import InterpreterError, find_interpreter, torch_version
from compile_lens.workers.kernels import python_of_kernel

IMPORTS_TORCH = pattern(r"^[ \t]*(?:import|from)[ \t]+torch\b", re.MULTILINE)


# tells an editor with `experimental.compileLensStatus` which interpreter runs the user's files, and its torch
ENVIRONMENT = "compileLens/environment"


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
            self._server.protocol.notify(ENVIRONMENT, known)
        return torch is not None


class Standbys:
    """Starts standbys. ``problem`` shows why one cannot be used, ``ready`` that one is, and ``answered`` is called after the question."""

    def __init__(
        self,
        server: CompileLensServer,
        permissions: Permissions,
        problem: Callable[[str], None],
        ready: Callable[[], None],
        answered: Callable[[], None],
    ) -> None:
        self.environment = EnvironmentReporter(server)
        self._server = server
        self._permissions = permissions
        self._problem = problem
        self._ready = ready
        self._answered = answered
        # without torch nothing could run: where torch is not found on disk, these wait for the import in the standby
        self._ask_with_torch: set[str] = set()

    def interpreter(self, path: str) -> str:
        """The interpreter that runs a file. Raises InterpreterError."""
        server = self._server
        kernel = server.notebooks.kernel(server.documents.uri_of_key(file_key(path)) or "")
        python = python_of_kernel(kernel, os.environ, Path(path)) if kernel else None
        return find_interpreter(Path(path), server.folders(), python or server.settings.python or None)

    def opened(self, snapshot: Snapshot) -> None:
        """A Python file was opened that does not run at once."""
        path = snapshot.path
        if path and IMPORTS_TORCH.search(snapshot.text) and self._permissions.may_start_standby(path):
            self._server.background.start(self.start(path))

    def ask(self, path: str) -> None:
        """Ask whether the files of a workspace may run."""
        try:
            has_torch = self.environment.show(self.interpreter(path))
        except InterpreterError as error:
            self._problem(str(error))
            return
        if has_torch or not self._permissions.may_start_standby(path):
            self._permissions.ask(path, self._answered)
        else:
            self._ask_with_torch.add(path)

    async def start(self, path: str) -> None:
        """Start a standby for the next run of a file."""
        try:
            python = self.interpreter(path)
            self.environment.show(python)
            host = self._server.hosts.host(python)
            await host.start()
        except (HostError, InterpreterError) as error:
            self._problem(str(error))
            return
        self.environment.show(python, host.hello)
        allowed = self._permissions.of(path)
        if allowed is Permission.ALLOWED:
            self._ready()
        elif allowed is Permission.ASK and path in self._ask_with_torch:
            self._ask_with_torch.discard(path)
            self._permissions.ask(path, self._answered)
