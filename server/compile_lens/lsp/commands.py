"""The server's commands. Each is advertised, checks its arguments, and can be canceled like any request."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from compile_lens.lsp.assistant_tools import ASSISTANT_TOOL
from compile_lens.lsp.background_runs import EXPLAIN, explain_runs
from compile_lens.lsp.compiler_stages.commands import SOURCE as STAGE_SOURCE
from compile_lens.lsp.compiler_stages.comparing import COMPARE as COMPARE_STAGES
from compile_lens.lsp.convert import path_argument, path_from_uri
from compile_lens.lsp.entries import AS_IF_COMPILED, CHOOSE, LIST
from compile_lens.lsp.language_server import CompileLensServer
from compile_lens.lsp.permissions import ALLOW_COMMAND, LEAVE_GPU, USE_GPU
from compile_lens.lsp.progress import ProgressFeature
from compile_lens.lsp.repros import WRITE_REPRO
from compile_lens.lsp.run_requests import RunRequest
from compile_lens.lsp.runs import Runs
from compile_lens.lsp.sandbox_actions import ALLOW_NETWORK, KEEP_WRITES, WITHOUT_SANDBOX, SandboxActions
from compile_lens.lsp.shown_answers import shown_answer
from compile_lens.pipeline.doctor import examine, to_markdown, worst
from compile_lens.state.consent import Permission
from compile_lens.workers.access import Access
from compile_lens.workers.caches import cache_root
from compile_lens.workers.environment_report import ask_environment
from compile_lens.workers.host import HostError
from compile_lens.workers.interpreter import InterpreterError, find_interpreter

ANALYZE = "compileLens.analyze"
COMPARE = "compileLens.compare"
VARY = "compileLens.vary"
CELL = "compileLens.analyzeCell"
CANCEL = "compileLens.cancel"
REVOKE = "compileLens.revokeWorkspace"
ALLOWED = "compileLens.allowedWorkspaces"
DOCTOR = "compileLens.doctor"
# how many arguments a command takes, where it is not one besides the document
MOST_ARGUMENTS = {WRITE_REPRO: 3, ASSISTANT_TOOL: 3, COMPARE_STAGES: 4, STAGE_SOURCE: 3}
Command = Callable[[str | None], Awaitable[Any]]
CommandWithArguments = Callable[..., Awaitable[Any]]


def register(
    server: CompileLensServer,
    runs: Runs,
    progress: ProgressFeature,
    sandbox: SandboxActions,
    others: Mapping[str, Command],
    with_more: Mapping[str, CommandWithArguments],
) -> None:
    """Register the commands, with ``others`` from the features that have their own; those ``with_more`` take more than a document."""

    async def analyze(
        uri: str | None, name: str | None = None, compare: bool = False, vary: bool = False
    ) -> dict[str, Any] | None:
        """Run a file now. The request is the user's consent to this run. Answers when the run is over."""
        return await run(COMPARE if compare else VARY if vary else ANALYZE, uri, RunRequest(name, compare, vary))

    async def analyze_unsandboxed(uri: str | None) -> dict[str, Any] | None:
        """Run a file without the sandbox, which only this command does."""
        return await run(WITHOUT_SANDBOX, uri, RunRequest(access=Access.FULL))

    async def run(command: str, uri: str | None, request: RunRequest) -> dict[str, Any] | None:
        path_argument(command, uri)
        outcome = await runs.analyze(str(uri), request) if server.may_run() else None
        if outcome is None:
            return None
        return {"status": outcome.status.value, "findings": len(outcome.findings), "duration_s": outcome.duration_s}

    async def allow_network(uri: str | None) -> dict[str, Any] | None:
        """Allow the network for the workspace of a file, then analyze the file."""
        sandbox.allow_network(uri)
        return await analyze(uri)

    async def keep_writes(uri: str | None, folder: str | None) -> dict[str, Any] | None:
        """Keep what runs of the workspace write to ``folder``, by default where the last run wrote; then analyze the file."""
        sandbox.keep_writes(uri, folder)
        return await analyze(uri)

    async def vary(uri: str | None, name: str | None) -> dict[str, Any] | None:
        """Run a file, then its regions, or only ``name``, again with other inputs."""
        return await analyze(uri, name, vary=True)

    async def cell(uri: str | None, line: str | None) -> dict[str, Any] | None:
        """Run a file up to the end of the cell that contains ``line`` (from 1)."""
        if line is None or not line.isdecimal() or int(line) < 1:
            raise JsonRpcInvalidParams(f"{CELL} needs the URI of a file and a line number as a string.")
        return await run(CELL, uri, RunRequest(up_to=int(line)))

    async def cancel(uri: str | None) -> bool:
        """Cancel a run, a search or a repro. Returns whether there was one."""
        return any([runs.cancel(uri), progress.cancel_work(uri)])

    async def allow(uri: str | None, gpu: bool = False) -> None:
        """Allow background runs, on the machine's GPUs, too, if ``gpu``."""
        for root in _roots(server, uri):
            runs.permissions.allow(root, gpu)
        runs.consider_all()

    async def allowed(_: str | None) -> list[str]:
        """The folders of all workspaces that may run in the background, from any editor."""
        return [root.as_uri() for root in server.consent.roots()]

    async def revoke(uri: str | None) -> None:
        path = path_from_uri(uri) if uri is not None else None
        listed = path is not None and Path(path) in server.consent.roots()
        for root in [Path(path)] if path is not None and listed else _roots(server, uri):
            runs.permissions.revoke(root)
        await runs.stop(Permission.REFUSED)
        runs.consider_all()

    async def explain(_: str | None) -> None:
        """Show what background runs do."""
        await explain_runs(server)

    async def choose_entry(uri: str | None, spec: str | None) -> dict[str, Any] | None:
        """Choose the entry of a file, then analyze it."""
        path_argument(CHOOSE, uri)
        return await analyze(uri) if await runs.entries.choose(str(uri), spec) else None

    async def as_if_compiled(uri: str | None, name: str | None) -> dict[str, Any] | None:
        """Compile a class or function as if its file did."""
        if name is None:
            raise JsonRpcInvalidParams(f"{AS_IF_COMPILED} needs the URI of a file and a name.")
        return await analyze(uri, name)

    async def list_entries(uri: str | None) -> list[dict[str, object]]:
        path_argument(LIST, uri)
        return await runs.entries.list(str(uri))

    with_arguments: dict[str, CommandWithArguments] = {
        CHOOSE: choose_entry,
        AS_IF_COMPILED: as_if_compiled,
        VARY: vary,
        CELL: cell,
        KEEP_WRITES: keep_writes,
        **with_more,
    }
    commands: dict[str, Command] = {
        LIST: list_entries,
        ANALYZE: analyze,
        COMPARE: partial(analyze, compare=True),
        WITHOUT_SANDBOX: analyze_unsandboxed,
        CANCEL: cancel,
        ALLOW_COMMAND: allow,
        USE_GPU: partial(allow, gpu=True),
        LEAVE_GPU: allow,
        REVOKE: revoke,
        ALLOW_NETWORK: allow_network,
        ALLOWED: allowed,
        DOCTOR: partial(_check_setup, server),
        EXPLAIN: explain,
        **others,
    }
    for name, command in (commands | with_arguments).items():
        server.command(name)(partial(command))

    @server.feature(types.WORKSPACE_EXECUTE_COMMAND)
    async def execute(params: types.ExecuteCommandParams) -> Any:
        arguments = params.arguments or ()
        uri = _uri(params.command, arguments)
        uri = server.notebooks.document_of(uri) if uri is not None else None
        if params.command in with_arguments:
            more = list(arguments[1 : MOST_ARGUMENTS.get(params.command, 2)]) or [None]
            if not all(argument is None or isinstance(argument, str) for argument in more):
                raise JsonRpcInvalidParams(f"The arguments of {params.command} after the URI must be strings.")
            return shown_answer(await with_arguments[params.command](uri, *more))
        command = commands.get(params.command)
        if command is None:
            raise JsonRpcInvalidParams(f"Unknown command {params.command}.")
        return shown_answer(await command(uri))


def _uri(command: str, arguments: Sequence[object]) -> str | None:
    """The first argument of every command; an editor may leave it out, or send null."""
    first = arguments[0] if arguments else None
    if first is not None and not isinstance(first, str):
        raise JsonRpcInvalidParams(f"The first argument of {command} must be a URI.")
    return first


def _roots(server: CompileLensServer, uri: str | None) -> list[Path]:
    path = path_from_uri(uri) if uri is not None else None
    return server.folders() if path is None else [server.root_of(path)]


async def _check_setup(server: CompileLensServer, uri: str | None) -> dict[str, Any] | None:
    """The page of ``compile-lens doctor`` for a document's interpreter: ``state`` and ``markdown``. None where it may not run."""
    if not server.trusted:
        server.warn("Compile Lens does not start an interpreter in an untrusted workspace.")
        return None
    path = path_from_uri(uri) if uri is not None else None
    file = Path(path) if path else next(iter(server.folders()), Path.cwd()) / "program.py"
    try:
        python = find_interpreter(file, server.folders(), server.settings.python or None)
        facts = await ask_environment(python, os.environ)
    except (InterpreterError, HostError) as error:
        server.warn(f"Compile Lens: {error}")
        return None
    checks = examine(facts, cache_root(os.environ))
    return {"state": worst(checks).value, "markdown": to_markdown(checks)}
