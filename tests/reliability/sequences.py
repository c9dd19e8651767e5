"""Random sequences of edits, requests and cancellations against the server in this process, its text compared with a model.

``python -m tests.reliability.sequences --count 200000 --seed 1`` plays as many; the first difference, unanswered request or
error of ours ends it with the seed that plays it again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from tests.lsp.stub_server import StubHost, analyze
from tests.reliability.model_text import ModelText

from compile_lens.documents import pieces
from compile_lens.lsp.serving import create_server
from compile_lens.state.consent import ConsentStore

PIECES = [
    *("\n", "\r\n", "\r", "\n\n", "\f", "\v", "\x85", "\u2028", "\t", " ", "    ", "a", "x1", "é", "€", "😀", "\ud83d", "\ude00", "\ufeff"),
    *("import torch\n", "@torch.compile\n", "def f(x):\n", "    return x\n", "    print(x)  # finding GB0001\n", "class M:\n"),
    *("torch._dynamo.config.cache_size_limit = 3\n", 'os.environ["TORCH_LOGS"] = "+dynamo,', '"""', "'", "(", ")", "#", "f'{"),
    *("torch.compile(f, mode='", "torch.export.export(", "x.item()", "# compile-lens: ignore[GB0001]\n"),
]  # fmt: skip
REQUESTS = (
    "hover",
    "completion",
    "definition",
    "signatureHelp",
    "codeLens",
    "inlayHint",
    "codeAction",
    "documentLink",
    "diagnostic",
)
DOCUMENTS = 3
LONGEST = 4_000
# of a document in the server: these short texts have many pieces, as long ones do
PIECE = 48
PATIENCE_S = 30.0
Message = dict[str, Any]


class Difference(Exception):
    """What went wrong, and how to see it again."""


class Answers:
    """The server's side of the wire: remembers which requests are answered."""

    def __init__(self) -> None:
        self.pending: set[int] = set()
        self.errors: list[Message] = []
        self.ask: list[Any] = []

    def write(self, data: bytes) -> None:
        _, _, body = data.partition(b"\r\n\r\n")
        message = json.loads(body)
        if "method" in message:
            if "id" in message:
                self.ask.append(message["id"])
            return
        if message["id"] not in self.pending:
            raise Difference(f"an answer to what was not asked, or a second one: {message}")
        self.pending.discard(message["id"])
        if message.get("error", {}).get("code") == -32603:
            self.errors.append(message)

    def close(self) -> None:
        """Nothing is open."""


class Session:
    """One server, its documents, and the model of each."""

    def __init__(self, folder: Path, dice: random.Random) -> None:
        self.dice = dice
        self.folder = folder
        self.answers = Answers()
        self.server = create_server(StubHost, analyze, ConsentStore(folder / "consent"))
        self.server.protocol.set_writer(self.answers)  # type: ignore[arg-type]
        self.models: dict[str, ModelText] = {}
        self.versions: dict[str, int] = {}
        self.next_id = 0
        self.sent = 0

    def send(self, method: str, params: Any, *, request: bool = False) -> None:
        message: Message = {"jsonrpc": "2.0", "method": method, "params": params}
        if request:
            self.next_id += 1
            message["id"] = self.next_id
            self.answers.pending.add(self.next_id)
        self.sent += 1
        self.server.protocol.receive(json.dumps(message).encode())

    async def start(self) -> None:
        root = (self.folder / "root").as_uri()
        (self.folder / "root").mkdir()
        capabilities = {"textDocument": {"publishDiagnostics": {}, "hover": {"contentFormat": ["markdown"]}}}
        params = {
            "rootUri": root,
            "capabilities": capabilities,
            "initializationOptions": {"run": {"enabled": "always"}},
        }
        self.send("initialize", {"processId": None, **params}, request=True)
        self.send("initialized", {})
        await self.settle()

    async def settle(self) -> None:
        """Let the server answer everything that is asked."""
        deadline = time.monotonic() + PATIENCE_S
        while self.answers.pending or self.answers.ask:
            while self.answers.ask:
                identifier = self.answers.ask.pop()
                self.server.protocol.receive(json.dumps({"jsonrpc": "2.0", "id": identifier, "result": None}).encode())
            await asyncio.sleep(0)
            if time.monotonic() > deadline:
                raise Difference(f"requests without an answer: {sorted(self.answers.pending)}")

    def text(self, most: int = 12) -> str:
        return "".join(self.dice.choices(PIECES, k=self.dice.randrange(most)))

    def position(self, model: ModelText) -> tuple[int, int]:
        """Mostly in the text, sometimes beyond it."""
        lines = model.lines()
        line = self.dice.randrange(len(lines) + 2)
        start, end = lines[min(line, len(lines) - 1)]
        return line, self.dice.choice([0, self.dice.randrange((end - start) // 2 + 3), 2**31 - 1])

    def open(self) -> None:
        uri = (self.folder / "root" / f"{self.dice.randrange(DOCUMENTS)}.py").as_uri()
        text, version = self.text(30), self.dice.randrange(5)
        document = {"uri": uri, "languageId": "python", "version": version, "text": text}
        self.send("textDocument/didOpen", {"textDocument": document})
        self.models[uri], self.versions[uri] = ModelText.of(text), version

    def change(self, uri: str) -> None:
        model, changes = self.models[uri], []
        for _ in range(self.dice.randrange(1, 4)):
            text = self.text()
            if self.dice.random() < 0.1 or len(model.units) > LONGEST:
                changes.append({"text": text})
                self.models[uri] = model = ModelText.of(text)
                continue
            start, end = self.position(model), self.position(model)
            start, end = (start, end) if self.dice.random() < 0.05 else (min(start, end), max(start, end))
            place = {"start": {"line": start[0], "character": start[1]}, "end": {"line": end[0], "character": end[1]}}
            changes.append({"range": place, "text": text})
            model.replace(start, end, text)
        self.versions[uri] += self.dice.randrange(1, 3)
        document = {"uri": uri, "version": self.versions[uri]}
        self.send("textDocument/didChange", {"textDocument": document, "contentChanges": changes})

    def request(self, uri: str) -> None:
        line, character = self.position(self.models[uri])
        point = {"line": line, "character": character}
        params: Message = {"textDocument": {"uri": uri}, "position": point}
        name = self.dice.choice(REQUESTS)
        if name in ("inlayHint", "codeAction"):
            params["range"] = {"start": point, "end": {"line": line + 3, "character": 0}}
            params["context"] = {"diagnostics": []}
        self.send(f"textDocument/{name}", params, request=True)

    def command(self, uri: str) -> None:
        name = self.dice.choice(["analyze", "analyze", "cancel", "allowWorkspace", "revokeWorkspace"])
        self.send("workspace/executeCommand", {"command": f"compileLens.{name}", "arguments": [uri]}, request=True)

    async def step(self) -> None:
        """One message, of what an editor sends."""
        uri = self.dice.choice(list(self.models)) if self.models else None
        draw = self.dice.random()
        if uri is None or draw < 0.06:
            self.open()
        elif draw < 0.55:
            self.change(uri)
        elif draw < 0.80:
            self.request(uri)
        elif draw < 0.88:
            self.send("$/cancelRequest", {"id": self.dice.randrange(max(1, self.next_id - 3), self.next_id + 2)})
        elif draw < 0.93:
            self.command(uri)
        elif draw < 0.97:
            self.send("textDocument/didSave", {"textDocument": {"uri": uri}})
        else:
            self.send("textDocument/didClose", {"textDocument": {"uri": uri}})
            del self.models[uri]
        if self.dice.random() < 0.3:
            await asyncio.sleep(0)

    def compare(self) -> None:
        """The texts, byte for byte; nothing else is open; no error was ours."""
        theirs = {snapshot.uri: snapshot.text for snapshot in self.server.documents.all()}
        ours = {uri: model.text for uri, model in self.models.items()}
        if theirs != ours:
            raise Difference(f"the texts differ:\nmodel  {ours!r}\nserver {theirs!r}")
        if self.answers.errors:
            raise Difference(f"an internal error was answered: {self.answers.errors}")


class ErrorsRaise(logging.Handler):
    """What our code logs as an error is a bug that these sequences have found."""

    def emit(self, record: logging.LogRecord) -> None:
        problems.append(self.format(record))


problems: list[str] = []


async def play(count: int, seed: int, on_progress: Callable[[int], None] = lambda _: None) -> dict[str, float]:
    """``count`` sequences of 2 to 8 messages, the texts compared after each. Raises Difference."""
    handler = ErrorsRaise(level=logging.ERROR)
    logging.getLogger("compile_lens").addHandler(handler)
    problems.clear()
    began = time.perf_counter()
    size, pieces.SIZE = pieces.SIZE, PIECE
    try:
        with tempfile.TemporaryDirectory() as folder:
            session = Session(Path(folder), random.Random(seed))
            await session.start()
            for number in range(count):
                state = session.dice.getstate()
                try:
                    for _ in range(session.dice.randrange(2, 9)):
                        await session.step()
                    await session.settle()
                    session.compare()
                    if problems:
                        raise Difference(problems[0])
                except Difference as difference:
                    raise Difference(f"seed {seed}, sequence {number} (of {count}): {difference}") from None
                assert state != session.dice.getstate()
                on_progress(number + 1)
            await session.server.close()
    finally:
        logging.getLogger("compile_lens").removeHandler(handler)
        pieces.SIZE = size
    return {"sequences": count, "messages": session.sent, "seconds": time.perf_counter() - began}


@click.command()
@click.option("--count", default=200_000, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(count: int, seed: int) -> None:
    """Play COUNT random sequences of edits, requests and cancellations."""
    logging.getLogger().addHandler(logging.NullHandler())
    click.echo(json.dumps({"seed": seed, **asyncio.run(play(count, seed))}))


if __name__ == "__main__":
    main()
