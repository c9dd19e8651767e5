"""Commands.

Each is advertised, takes its arguments as an editor may send them, and can be cancelled like any request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from compile_lens.lsp.convert import path_from_uri
from compile_lens.lsp.doctor import DOCTOR, examine_for
from compile_lens.lsp.entries import AS_IF_COMPILED, CHOOSE, LIST
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.repros import WRITE_REPRO, Repros
from compile_lens.lsp.run_requests import Asked
from compile_lens.lsp.runs import Runs
from compile_lens.state.consent import Permission
from compile_lens.workers.access import Access

ANALYZE = "compileLens.analyze"
COMPARE = "compileLens.compare"
ANALYZE_UNSANDBOXED = "compileLens.analyzeWithoutSandbox"
VARY = "compileLens.vary"
CELL = "compileLens.analyzeCell"
CANCEL = "compileLens.cancel"
ALLOW = "compileLens.allowWorkspace"
REVOKE = "compileLens.revokeWorkspace"
ALLOWED = "compileLens.allowedWorkspaces"
Command = Callable[[str | None], Awaitable[Any]]
CommandWithWord = Callable[[str | None, str | None], Awaitable[Any]]


def register(server: CompileLensServer, runs: Runs, repros: Repros, others: Mapping[str, Command]) -> None:
    """Offer the commands, and ``others`` of features that have their own."""

    async def analyze(
        uri: str | None, name: str | None = None, compare: bool = False, vary: bool = False
    ) -> dict[str, Any] | None:
        """Run a file now: the user asks for it, which is an agreement to this run. Answers when the run is over."""
        return await run(COMPARE if compare else VARY if vary else ANALYZE, uri, Asked(name, compare, vary))

    async def analyze_unsandboxed(uri: str | None) -> dict[str, Any] | None:
        """Run a file as in the user's own shell: only ever because of this command."""
        return await run(ANALYZE_UNSANDBOXED, uri, Asked(access=Access.FULL))

    async def run(command: str, uri: str | None, asked: Asked) -> dict[str, Any] | None:
        if uri is None or path_from_uri(uri) is None:
            raise JsonRpcInvalidParams(f"{command} needs the URI of a file.")
        if not server.trusted:
            server.warn("Compile Lens does not run files in a workspace that is not trusted.")
            return None
        outcome = await runs.analyze(uri, asked)
        if outcome is None:
            return None
        return {"status": outcome.status.value, "findings": len(outcome.findings), "duration_s": outcome.duration_s}

    async def vary(uri: str | None, name: str | None) -> dict[str, Any] | None:
        """Run a file, and its regions again with other inputs; ``name`` is one of them, or is compiled as if its file did."""
        return await analyze(uri, name, vary=True)

    async def cell(uri: str | None, line: str | None) -> dict[str, Any] | None:
        """Run a file up to the end of the cell that has a line, from 1."""
        if line is None or not line.isdecimal() or int(line) < 1:
            raise JsonRpcInvalidParams(f"{CELL} needs the URI of a file, and the number of a line as a text.")
        return await run(CELL, uri, Asked(up_to=int(line)))

    async def cancel(uri: str | None) -> bool:
        return runs.cancel(uri)

    async def allow(uri: str | None) -> None:
        for root in _roots(server, uri):
            runs.permissions.allow(root)
        runs.consider_all()

    async def allowed(_: str | None) -> list[str]:
        """The folders of all workspaces that may run in the background, of this editor's or of another's."""
        return [root.as_uri() for root in server.consent.roots()]

    async def revoke(uri: str | None) -> None:
        path = path_from_uri(uri) if uri is not None else None
        listed = path is not None and Path(path) in server.consent.roots()
        for root in [Path(path)] if path is not None and listed else _roots(server, uri):
            runs.permissions.revoke(root)
        await runs.stop(Permission.REFUSED)
        runs.consider_all()

    async def choose_entry(uri: str | None, spec: str | None) -> dict[str, Any] | None:
        """Choose how a file is analysed, and analyze it so."""
        if uri is None:
            raise JsonRpcInvalidParams(f"{CHOOSE} needs the URI of a file.")
        return await analyze(uri) if await runs.entries.ask(uri, spec) else None

    async def as_if_compiled(uri: str | None, name: str | None) -> dict[str, Any] | None:
        """Compile a class or function as if its file did."""
        if name is None:
            raise JsonRpcInvalidParams(f"{AS_IF_COMPILED} needs the URI of a file, and a name.")
        return await analyze(uri, name)

    async def list_entries(uri: str | None) -> list[dict[str, object]]:
        if uri is None:
            raise JsonRpcInvalidParams(f"{LIST} needs the URI of a file.")
        return await runs.entries.list(uri)

    with_a_word: dict[str, CommandWithWord] = {
        CHOOSE: choose_entry,
        AS_IF_COMPILED: as_if_compiled,
        VARY: vary,
        CELL: cell,
        WRITE_REPRO: repros.write,
    }
    commands: dict[str, Command] = {
        LIST: list_entries,
        ANALYZE: analyze,
        COMPARE: partial(analyze, compare=True),
        ANALYZE_UNSANDBOXED: analyze_unsandboxed,
        CANCEL: cancel,
        ALLOW: allow,
        REVOKE: revoke,
        ALLOWED: allowed,
        DOCTOR: partial(examine_for, server),
        **others,
    }
    for name, command in (commands | with_a_word).items():
        server.command(name)(partial(command))

    @server.feature(types.WORKSPACE_EXECUTE_COMMAND)
    async def execute(params: types.ExecuteCommandParams) -> Any:
        arguments = params.arguments or ()
        uri = _uri(params.command, arguments)
        if params.command in with_a_word:
            word = arguments[1] if len(arguments) > 1 else None
            if word is not None and not isinstance(word, str):
                raise JsonRpcInvalidParams(f"The second argument of {params.command} is a text.")
            return await with_a_word[params.command](uri, word)
        command = commands.get(params.command)
        if command is None:
            raise JsonRpcInvalidParams(f"There is no command {params.command}.")
        return await command(uri)


def _uri(command: str, arguments: Sequence[object]) -> str | None:
    """The first argument of every command; an editor may leave it out, or send null."""
    first = arguments[0] if arguments else None
    if first is not None and not isinstance(first, str):
        raise JsonRpcInvalidParams(f"The argument of {command} is a URI.")
    return first


def _roots(server: CompileLensServer, uri: str | None) -> list[Path]:
    path = path_from_uri(uri) if uri is not None else None
    return server.folders() if path is None else [server.root_of(path)]
