"""An editor for tests: a real server process over stdio, and what an editor knows after its messages."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from tests.lsp.forked_server import ForkedServer, start

SERVER = Path(__file__).resolve().parents[2] / "server"
STUB = Path(__file__).resolve().parent / "stub_server.py"
REAL = [sys.executable, "-m", "compile_lens", "serve"]
LIMIT_S = 60.0
Message = dict[str, Any]
PREDICTED = "compile-lens (predicted)"


class RequestError(Exception):
    """The server answered with an error."""

    def __init__(self, error: Message) -> None:
        super().__init__(error)
        self.code: int = error["code"]
        self.error = error


def capabilities(*, pull: bool = False, status: bool = True, progress: bool = True, **more: Any) -> Message:
    """What an editor says of itself."""
    found: Message = {
        "workspace": {"configuration": False, "diagnostics": {"refreshSupport": pull}},
        "textDocument": {
            "publishDiagnostics": {"relatedInformation": True},
            "hover": {"contentFormat": ["markdown", "plaintext"]},
        },
        "window": {"workDoneProgress": progress},
        "experimental": {"compileLensStatus": status},
    }
    if pull:
        found["textDocument"]["diagnostic"] = {"dynamicRegistration": False, "relatedDocumentSupport": False}
    for section, entries in more.items():
        found.setdefault(section, {}).update(entries)
    return found


def of_runs(diagnostics: list[Message]) -> list[Message]:
    """What runs found, without what is only predicted."""
    return [entry for entry in diagnostics if entry["source"] != PREDICTED]


def predicted(diagnostics: list[Message]) -> list[Message]:
    """What is only predicted."""
    return [entry for entry in diagnostics if entry["source"] == PREDICTED]


class Editor:
    """Speaks to one server process. ``answers`` are the editor's answers to the server's requests, by method."""

    def __init__(self, process: asyncio.subprocess.Process | ForkedServer) -> None:
        self.process = process
        self.received: list[Message] = []
        self.answers: dict[str, Callable[[Any], Any]] = {
            "window/workDoneProgress/create": lambda _: None,
            "workspace/diagnostic/refresh": lambda _: None,
            "client/registerCapability": lambda _: None,
        }
        self._identifiers = 0
        self._news = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())

    # -- the wire

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while True:
            length = 0
            while (line := await self.process.stdout.readline()).strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not line:
                break
            message = json.loads(await self.process.stdout.readexactly(length))
            if "id" in message and "method" in message:
                answer = self.answers.get(message["method"])
                if answer is not None:
                    await self.send({"id": message["id"], "result": answer(message.get("params"))})
            async with self._news:
                self.received.append(message)
                self._news.notify_all()
        async with self._news:
            self.received.append({"method": "$closed"})
            self._news.notify_all()

    async def send_bytes(self, body: bytes) -> None:
        """Send a body as it is."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        with contextlib.suppress(ConnectionError):
            await self.process.stdin.drain()

    async def send(self, message: Message) -> None:
        await self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def notify(self, method: str, params: Any = None) -> None:
        await self.send({"method": method, "params": params})

    async def begin(self, method: str, params: Any = None) -> int:
        """Send a request; its id."""
        self._identifiers += 1
        await self.send({"id": self._identifiers, "method": method, "params": params})
        return self._identifiers

    async def answer(self, identifier: int | None) -> Any:
        """The answer to a request that was begun. Raises RequestError."""
        message = await self.wait(lambda m: m.get("id", "") == identifier and "method" not in m)
        if "error" in message:
            raise RequestError(message["error"])
        return message.get("result")

    async def request(self, method: str, params: Any = None) -> Any:
        return await self.answer(await self.begin(method, params))

    async def wait(self, wanted: Callable[[Message], bool], since: int = 0) -> Message:
        """The first message from the ``since``-th on that is wanted, now or later."""

        def first() -> Message | None:
            return next((message for message in self.received[since:] if wanted(message)), None)

        async with self._news:
            try:
                await asyncio.wait_for(self._news.wait_for(lambda: first() is not None), LIMIT_S)
            except asyncio.TimeoutError:
                tail = "\n".join(json.dumps(message)[:300] for message in self.received[-20:])
                raise AssertionError(f"the message did not come; the last that did:\n{tail}") from None
        found = first()
        assert found is not None
        return found

    def mark(self) -> int:
        """Now, for ``since``."""
        return len(self.received)

    # -- what an editor does

    async def initialize(
        self, root: Path, options: Any = None, trust: bool | None = True, **parameters: Any
    ) -> Message:
        """``trust`` is what the editor says of the workspace beside its settings; None for an editor that knows no such thing."""
        if trust is not None and (options is None or isinstance(options, dict)):
            options = {"trusted": trust, **(options or {})}
        result: Message = await self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": root.as_uri(),
                "workspaceFolders": [{"uri": root.as_uri(), "name": root.name}],
                "capabilities": capabilities(),
                "initializationOptions": options,
                **parameters,
            },
        )
        await self.notify("initialized", {})
        return result

    async def open(self, file: Path, text: str | None = None, version: int = 1) -> str:
        uri = file.as_uri()
        document = {"uri": uri, "languageId": "python", "version": version}
        await self.notify("textDocument/didOpen", {"textDocument": {**document, "text": text or file.read_text()}})
        return uri

    async def insert(self, uri: str, version: int, line: int, text: str, character: int = 0) -> None:
        place = {"line": line, "character": character}
        await self.change(uri, version, {"range": {"start": place, "end": place}, "text": text})

    async def change(self, uri: str, version: int, *changes: Message) -> None:
        document = {"uri": uri, "version": version}
        await self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    async def save(self, uri: str) -> None:
        await self.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    async def close(self, uri: str) -> None:
        await self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    async def pull(self, uri: str, previous: str | None = None) -> Message:
        """A report, whose ``items`` are findings of runs, and ``predicted`` what is only predicted."""
        params = {"textDocument": {"uri": uri}, "previousResultId": previous, "identifier": "compile-lens"}
        report: Message = await self.request("textDocument/diagnostic", params)
        items = report.get("items")
        return report if items is None else {**report, "items": of_runs(items), "predicted": predicted(items)}

    async def hover(self, uri: str, line: int, character: int) -> Message | None:
        found: Message | None = await self.request(
            "textDocument/hover",
            {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}},
        )
        return found

    async def lenses(self, uri: str) -> list[Message]:
        found: list[Message] = await self.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
        return found

    def shown(self) -> list[str]:
        """The texts of the messages that the server has shown so far."""
        return [m["params"]["message"] for m in self.received if m.get("method") == "window/showMessage"]

    async def command(self, name: str, *arguments: Any) -> Any:
        return await self.request("workspace/executeCommand", {"command": name, "arguments": list(arguments)})

    async def published(
        self,
        uri: str,
        wanted: Callable[[list[Message]], bool] = bool,
        since: int = 0,
        part: Callable[[list[Message]], list[Message]] = of_runs,
    ) -> list[Message]:
        """The pushed diagnostics of a document, once they are as wanted: those of runs, or another ``part`` of them."""

        def fits(message: Message) -> bool:
            if message.get("method") != "textDocument/publishDiagnostics":
                return False
            return bool(message["params"]["uri"] == uri and wanted(part(message["params"]["diagnostics"])))

        message = await self.wait(fits, since)
        return part(message["params"]["diagnostics"])

    async def status(self, since: int = 0, **wanted: Any) -> Message:
        """The first status whose fields are as wanted."""

        def fits(message: Message) -> bool:
            params = message.get("params") or {}
            return message.get("method") == "compileLens/status" and all(params.get(k) == v for k, v in wanted.items())

        found: Message = (await self.wait(fits, since))["params"]
        return found

    async def shut_down(self) -> int:
        """A proper end; the exit code."""
        await self.request("shutdown")
        await self.notify("exit")
        return await asyncio.wait_for(self.process.wait(), LIMIT_S)

    async def end(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)


def private_environment(folder: Path) -> dict[str, str]:
    """An environment whose state and caches are all below ``folder``."""
    names = ("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "HOME")
    places = {name: str(folder / name.lower()) for name in names}
    path = os.pathsep.join(filter(None, [str(SERVER), os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, **places, "PYTHONPATH": path}


@contextlib.asynccontextmanager
async def editor(folder: Path, command: list[str] | None = None) -> AsyncIterator[Editor]:
    """An editor with a server: by default the one whose analysis is a stub."""
    environment = private_environment(folder)
    process: asyncio.subprocess.Process | ForkedServer
    with open(folder / "server.log", "ab") as log:  # noqa: ASYNC230, PTH123
        if command is None and hasattr(os, "fork"):
            process = await start(environment, log.fileno())
        else:
            process = await asyncio.create_subprocess_exec(
                *(command or [sys.executable, str(STUB)]),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=environment,
                limit=1 << 26,
            )
    found = Editor(process)
    try:
        yield found
    finally:
        await found.end()
