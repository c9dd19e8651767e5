"""Frames survive any cutting, and bytes that are no frame; the agent's half and the host's agree."""

from __future__ import annotations

import dataclasses
import json
import os

from hypothesis import given
from hypothesis import strategies as st

from compile_lens.agent.runtime.entry_plans import (
    CallTarget,
    CompileAt,
    DoctestExamples,
    ExampleInputs,
    ImportingScript,
    ImportingTest,
    ModelOfScript,
    SynthesizedCalls,
    UsingScript,
    UsingTest,
    WrittenCall,
)
from compile_lens.agent.runtime.entry_protocol import EntryCalled
from compile_lens.agent.runtime.protocol import (
    MAGIC,
    AgentEvent,
    FilesDiscarded,
    ProgramRaised,
    RunCommand,
    SandboxKind,
    SandboxSpec,
    command_from,
    command_line,
    event_from,
    event_payload,
)
from compile_lens.agent.runtime.search_protocol import BisectionBegan, BisectRequest, VerdictExplained
from compile_lens.agent.runtime.wire import Wire
from compile_lens.workers.wire import Frame, FrameDecoder, TraceRecord


def written(frames: list[str | AgentEvent]) -> list[bytes]:
    """What the agent writes for trace records (str) and events (messages)."""
    chunks = []
    for frame in frames:
        reader, writer = os.pipe()
        wire = Wire(writer)
        if isinstance(frame, str):
            wire.trace(frame)
        else:
            wire.tell(frame)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            chunks.append(pipe.read())
    return chunks


EVENTS = st.one_of(
    st.from_type(kind) for kind in (FilesDiscarded, EntryCalled, ProgramRaised, BisectionBegan, VerdictExplained)
)
frames_strategy = st.lists(st.one_of(st.text(max_size=50), EVENTS), max_size=6)


@given(
    frames_strategy,
    st.lists(st.binary(max_size=20).filter(lambda junk: b"\x89" not in junk), min_size=7, max_size=7),
    st.integers(1, 17),
)
def test_frames_come_through(frames: list[str | AgentEvent], junk: list[bytes], step: int) -> None:
    data = b"".join(between + frame for between, frame in zip(junk, written(frames), strict=False))
    decoder = FrameDecoder()
    found: list[Frame] = []
    for start in range(0, len(data), step):
        found += decoder.feed(data[start : start + step])
    expected = [
        TraceRecord(frame.encode("utf-8", "backslashreplace")) if isinstance(frame, str) else frame for frame in frames
    ]
    assert found == expected
    assert decoder.stray == sum(len(between) for between, _ in zip(junk, frames, strict=False))


@given(st.lists(st.binary(max_size=60), max_size=10))
def test_any_bytes_can_be_fed(chunks: list[bytes]) -> None:
    decoder = FrameDecoder()
    for chunk in chunks:
        list(decoder.feed(chunk))


def test_a_header_that_lies_is_passed_over() -> None:
    decoder = FrameDecoder()
    (good,) = written(["after"])
    assert list(decoder.feed(MAGIC + b"E\xff\xff\xff\xff" + MAGIC + b"?\0\0\0\1" + good)) == [TraceRecord(b"after")]


def test_an_event_that_is_no_json_is_counted() -> None:
    decoder = FrameDecoder()
    assert list(decoder.feed(MAGIC + b"E\0\0\0\3abc")) == []
    assert decoder.stray == 3


def test_only_the_owner_writes() -> None:
    reader, writer = os.pipe()
    wire = Wire(writer)
    child = os.fork()
    if child == 0:
        wire.tell(FilesDiscarded((), 0))
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.read() == b""


@given(EVENTS)
def test_an_event_is_read_as_it_was_written(event: AgentEvent) -> None:
    assert event_from(event_payload(event)) == event


KINDS = [*AgentEvent.__subclasses__()]
NAMES = [kind.name for kind in KINDS]
FIELDS = sorted(
    {field.name for kind in KINDS for field in dataclasses.fields(kind)} | {"file", "line", "text", "target"}
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)


@given(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=12))
def test_a_forged_event_is_refused_or_has_fields_of_the_right_types(name: str, fields: dict[str, object]) -> None:
    event = event_from(json.dumps({"event": name, **fields}).encode())
    assert event is None or event_from(event_payload(event)) == event


def test_what_is_no_event_is_refused() -> None:
    deep = b"[" * 100_000
    for payload in (
        b"",
        b"null",
        b"[]",
        b'{"event": []}',
        b'{"event": "nobody"}',
        b'{"event": "end", "kind": 1}',
        b"\xff",
        deep,
    ):
        assert event_from(payload) is None


def test_a_command_is_read_as_it_was_written() -> None:
    spec = SandboxSpec(SandboxKind.LANDLOCK, "/s", ("/c",), (), True, False, 10, 1, 2, 3, 4)
    search = BisectRequest("/r.py", "/", ("-x",), "/s/search", 1.5, at_once=2)
    command = RunCommand("/f.py", "/", argv=("a",), env={"A": "b"}, bisect=search, sandbox=spec)
    at = CompileAt(3, fullgraph=True)
    for plan in (
        None,
        ExampleInputs("get_inputs", "f", at),
        DoctestExamples("", None),
        ImportingTest("/t.py::test_f"),
        ImportingScript("/s.py"),
        UsingTest("/t.py::test_f", (CallTarget("f", at),)),
        UsingScript("/s.py", (CallTarget("f", at),), 2.5),
        WrittenCall("f(1)", at),
        ModelOfScript(2.5),
        SynthesizedCalls((CallTarget("f", at, {"n": "3"}, {"x": "float32[2]"}), CallTarget("g")), True, 1.5, 7),
    ):
        assert command_from(command_line(dataclasses.replace(command, plan=plan))) == dataclasses.replace(
            command, plan=plan
        )
    assert command_from(command_line(command).replace(b'"plan": null', b'"plan": {"kind": "nobody"}')) is None
    assert command.search is search
    assert command_from(b'{"cancel": true}\n') is None
