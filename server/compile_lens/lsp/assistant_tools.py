"""Answers tools of an assistant in the editor: with unsaved documents, and as the editor's settings and permissions say."""

from __future__ import annotations

import json
import logging
import os
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pygls.exceptions import JsonRpcInvalidParams

from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.runs import Runs
from compile_lens.pipeline.scheduler import Reason
from compile_lens.state.consent import Permission
from compile_lens.workers.job import Job

if TYPE_CHECKING:
    from compile_lens.workers.host import Host

ASSISTANT_TOOL = "compileLens.assistantTool"
# arguments of tools that are paths
PATHS = ("file", "path")

log = logging.getLogger(__name__)


class EditorGround:
    """What an assistant may have run in this editor: what the editor's own background runs may."""

    def __init__(self, server: CompileLensServer, runs: Runs) -> None:
        self._server = server
        self._runs = runs

    def allow(self, file: str) -> None:
        """Raise NotAllowed where background runs are not allowed, and where a link leads out of the workspace."""
        from compile_lens.assistants.ground import NOT_ALLOWED, NotAllowed

        root = self._server.root_of(file)
        leads_out = not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(root))
        if leads_out or self._runs.permissions.of(file) is not Permission.ALLOWED:
            raise NotAllowed(NOT_ALLOWED.format(folder=root))

    def root(self, file: str) -> Path | None:
        """The workspace folder."""
        return self._server.root_of(file)

    async def unsaved(self, file: str) -> str | None:
        """The text of an open document with unsaved changes."""
        snapshot = self._server.documents.of_file(file)
        return self._server.sources.unsaved(file, snapshot.text) if snapshot is not None else None

    def job(self, file: str, text: str | None) -> Job:
        """The run that the settings ask for."""
        return replace(self._runs.jobs.job(file, None), text=text)

    def interpreter(self, file: str) -> str:
        """The one that background runs use."""
        return self._runs.interpreter(file)

    def turn(self, python: str) -> AbstractAsyncContextManager[Host]:
        """A turn before background runs."""
        return cast("AbstractAsyncContextManager[Host]", self._server.hosts.turn(python, Reason.REQUESTED))


class AssistantTools:
    """The command that the editor's language-model tools call."""

    def __init__(self, server: CompileLensServer, runs: Runs) -> None:
        self._server = server
        self._ground = EditorGround(server, runs)

    async def answer(self, _: str | None, name: str | None, given: str | None = None) -> dict[str, Any]:
        """What the tool ``name`` answers to ``given``, a JSON object. ``refused``: the text says in a sentence why not."""
        # only an assistant needs them
        from compile_lens.assistants.bench import Bench
        from compile_lens.assistants.fitting import written
        from compile_lens.assistants.quoting import refusal_text
        from compile_lens.assistants.tools import REFUSALS, answer

        try:
            arguments = json.loads(given or "{}")
        except ValueError:
            arguments = None
        if not isinstance(arguments, dict):
            raise JsonRpcInvalidParams(f"{ASSISTANT_TOOL} needs null, the name of a tool, and its arguments as JSON.")
        try:
            found = await answer(Bench(self._ground), name or "", self._located(arguments), log.debug)
        except REFUSALS as refusal:
            return {"refused": True, "text": refusal_text(refusal)}
        return {"refused": False, "text": written(found)}

    def _located(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Relative paths are of the first workspace folder."""
        folder = next(iter(self._server.folders()), None)
        if folder is None:
            return arguments
        return {
            name: str(folder / value) if name in PATHS and isinstance(value, str) and value else value
            for name, value in arguments.items()
        }
