"""What takes bytes from elsewhere: given any bytes, each of these ends in order. A target raises only for a bug of ours.

A target is made from seeds, real bytes of its kind, which a fuzzer changes.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace
from tests.lsp.ordinary import ordinary
from tests.lsp.stub_server import StubHost, analyze

from compile_lens.agent.runtime.protocol import MAGIC
from compile_lens.analysis.find import find
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.lsp.pygls_workarounds.transport import read_messages
from compile_lens.lsp.serving import create_server
from compile_lens.state.consent import ConsentStore
from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.records import TraceBytes, iterate
from compile_lens.workers.wire import AgentEvent, FrameDecoder

DATA = Path(__file__).parent.parent / "data"
SEED_BYTES = 3_000
ENDS = (b"shutdown", b"exit")
RECORD = re.compile(rb"(?m)^(?=[VDIWEC]\d{4} )")


@dataclass(frozen=True, slots=True)
class Target:
    """``run`` takes any bytes; ``seeds`` are such as it is made for."""

    run: Callable[[bytes], None]
    seeds: list[bytes]


class LoggedError(AssertionError):
    """Our code logged an error: what it thinks of as its own bug."""


class _Raise(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise LoggedError(self.format(record))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        raise


def trace_reader() -> Target:
    """A trace: records, what is built of them, and the findings."""
    seeds = [b"".join(records) for records in _trace_seeds()]

    def run(data: bytes) -> None:
        strict, lenient = ReportBuilder(), ReportBuilder()
        for record in iterate(TraceBytes(data), frozenset()):
            strict.add(record)
            if (
                record is not None and record.payload is not None
            ):  # what a changed payload would do if its checksum fitted
                record = replace(record, payload=replace(record.payload, digest=""))
            lenient.add(record)
        for builder in (strict, lenient):
            report = builder.report()
            find(RunContext(report, Sources("", lambda _: None), RegionIndex(report, "", None)))

    return Target(run, seeds)


def _trace_seeds() -> list[list[bytes]]:
    """One short trace per kind of record: what comes before it that it needs, and the record itself, if it is not long."""
    found: dict[str, list[bytes]] = {}
    for file in sorted(DATA.glob("h200-*/*.log.gz")):
        if "trace" not in file.name:
            continue
        data = gzip.decompress(file.read_bytes())
        strings: list[bytes] = []
        for text in RECORD.split(data):
            if b'{"str":' in text[:200] and len(strings) < 6:
                strings.append(text)
            elif len(text) < SEED_BYTES:
                kind = text.partition(b"{")[2][:40].decode("utf-8", "replace")
                found.setdefault(kind, [*strings, text])
    return list(found.values())[:120]


def agent_wire() -> Target:
    """Frames from an agent, in pieces of any size."""
    events = [
        {
            "event": "hello",
            "pid": 7,
            "torch": "2.13.0",
            "python": "3.11.7",
            "forks": True,
            "seconds": 1.5,
            "library_roots": [],
        },
        {"event": "started", "pid": 9},
        {"event": "raised", "kind": "ValueError", "message": "x", "stack": [{"file": "a.py", "line": 3, "name": "f"}]},
        {"event": "end", "kind": "finished", "code": 0, "crash_stack": ""},
    ]
    frames = [_frame(b"E", json.dumps(event).encode()) for event in events]
    frames.append(_frame(b"T", b'V0101 00:00:00.000000 1 torch/a.py:1] {"dynamo_start": {}}\n'))

    def run(data: bytes) -> None:
        whole = FrameDecoder()
        once = list(whole.feed(data))
        pieces = FrameDecoder()
        step = 1 + len(data) % 7
        parts = [frame for at in range(0, len(data), step) for frame in pieces.feed(data[at : at + step])]
        assert once == parts
        assert whole.stray <= len(data)
        for frame in once:
            assert not isinstance(frame, AgentEvent) or isinstance(frame.name, str)

    return Target(run, [*frames, b"".join(frames), b"noise" + MAGIC[:2] + b"".join(frames)])


def _frame(kind: bytes, payload: bytes) -> bytes:
    return MAGIC + kind + len(payload).to_bytes(4, "big") + payload


class _Sink:
    def write(self, data: bytes) -> None:
        json.loads(data.partition(b"\r\n\r\n")[2])

    def close(self) -> None:
        """Nothing is open."""


def editor_wire() -> Target:
    """Messages of an editor with their headers, to a server that lives through all of them."""
    loop = asyncio.new_event_loop()
    folder = tempfile.TemporaryDirectory()
    root = Path(folder.name)
    messages = [_message({"jsonrpc": "2.0", **message}) for message in ordinary((root / "a.py").as_uri())]
    initialize = {"processId": None, "rootUri": root.as_uri(), "capabilities": {}}
    initialize["initializationOptions"] = {"run": {"enabled": "always"}}  # type: ignore[assignment]
    handler = _Raise(level=logging.ERROR)
    logging.getLogger("compile_lens").addHandler(handler)
    server = None

    async def start() -> None:
        nonlocal server
        server = create_server(StubHost, analyze, ConsentStore(root / "consent"))
        server.protocol.set_writer(_Sink())  # type: ignore[arg-type]
        server.protocol.receive(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}).encode()
        )
        server.protocol.receive(b'{"jsonrpc": "2.0", "method": "initialized", "params": {}}')

    async def converse(data: bytes) -> None:
        assert server is not None
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        await read_messages(reader, server.protocol._receive)
        for _ in range(3):
            await asyncio.sleep(0)

    loop.run_until_complete(start())

    def run(data: bytes) -> None:
        if not any(word in data for word in ENDS):
            loop.run_until_complete(converse(data))

    return Target(run, [*messages, b"".join(messages)])


def _message(content: dict[str, object]) -> bytes:
    body = json.dumps(content).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


TARGETS: dict[str, Callable[[], Target]] = {"trace": trace_reader, "agent": agent_wire, "editor": editor_wire}
