"""What an assistant may have run: files of workspaces that the user has allowed, in the sandbox and within the budget."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Protocol

from compile_lens.documents.shared_texts import unsaved_text
from compile_lens.pipeline.host_pool import HostPool
from compile_lens.pipeline.job_factory import job_of_settings
from compile_lens.pipeline.scheduler import Reason
from compile_lens.settings.settings import Settings
from compile_lens.state.consent import ConsentStore
from compile_lens.workers.access import Access
from compile_lens.workers.host import Host
from compile_lens.workers.interpreter import find_interpreter
from compile_lens.workers.job import Job
from compile_lens.workers.memory_shares import MemoryShares

NOT_ALLOWED = (
    "Not run: the user has not allowed Compile Lens to run files of {folder}. Ask the user to do one of two things: open the "
    "folder in an editor with Compile Lens and choose Allow, or run `compile-lens consent allow {folder}` in a terminal. No tool can do "
    "this. `entries`, `explain` and `trace` work without."
)


class NotAllowed(Exception):
    """The user has not agreed to runs of the file. Its text says what the user must do."""


class Ground(Protocol):
    """What the tools need of whoever they work for: an editor's server, or nobody."""

    def allow(self, file: str) -> None:
        """Raise NotAllowed if files of the workspace of ``file`` may not run."""

    def root(self, file: str) -> Path | None:
        """The workspace of ``file``."""

    async def unsaved(self, file: str) -> str | None:
        """The text of ``file`` in an editor, if it differs from the one on disk."""

    def job(self, file: str, text: str | None) -> Job:
        """The run of ``file``, confined as background runs of its workspace are."""

    def interpreter(self, file: str) -> str:
        """The interpreter that runs ``file``. Raises InterpreterError."""

    def turn(self, python: str) -> AbstractAsyncContextManager[Host]:
        """Wait for the host of ``python``, and hold it."""


class OwnGround:
    """A server without an editor: it reads the answers that the user gave in editors and in the terminal, at each call."""

    def __init__(
        self,
        python: str | None = None,
        consent: ConsentStore | None = None,
        make_host: Callable[[str], Host] | None = None,
    ) -> None:
        self._python = python
        self._consent = consent or ConsentStore.of_user()
        self._hosts: HostPool[Host] = HostPool(make_host or partial(Host, shares=MemoryShares()))

    def allow(self, file: str) -> None:
        """Raise NotAllowed, unless ``file`` lies in a workspace that the user has allowed, and a link does not lead out of it."""
        if self._allowed(file) is None:
            raise NotAllowed(NOT_ALLOWED.format(folder=self.root(file) or Path(file).parent))

    def root(self, file: str) -> Path | None:
        """The allowed workspace; else the project's folder, for what is only read."""
        from compile_lens.pipeline.workspace import workspace_root

        return self._allowed(file) or workspace_root(Path(file))

    async def unsaved(self, file: str) -> str | None:
        """The text in an editor that has the allowed workspace open and shares it."""
        root = self._allowed(file)
        return await unsaved_text(root, file) if root is not None else None

    def job(self, file: str, text: str | None) -> Job:
        """The run that an editor with default settings would make."""
        root = self._allowed(file)
        folder = root or Path(file).parent
        access = Access.SANDBOXED if root is not None else Access.NONE
        gpu = root is not None and self._consent.gpu(root)
        return job_of_settings(Settings(), file, text, folder, access, gpu, self._consent.grants(folder))

    def interpreter(self, file: str) -> str:
        """The one of the command line, else the nearest with torch."""
        root = self._allowed(file)
        return find_interpreter(Path(file), (root,) if root is not None else (), self._python)

    def turn(self, python: str) -> AbstractAsyncContextManager[Host]:
        """One run at a time."""
        return self._hosts.turn(python, Reason.REQUESTED)

    async def close(self) -> None:
        """End what runs."""
        await self._hosts.close()

    def _allowed(self, file: str) -> Path | None:
        real = Path(os.path.realpath(file))
        fitting = [
            root
            for root in self._consent.roots()
            if _lies_in(Path(file), root, whole := self._consent.is_allowed(root, with_subfolders=True))
            and _lies_in(real, Path(os.path.realpath(root)), whole)
        ]
        return max(fitting, key=lambda root: len(root.parts), default=None)


def _lies_in(file: Path, folder: Path, anywhere: bool) -> bool:
    return file.is_relative_to(folder) if anywhere else file.parent == folder
