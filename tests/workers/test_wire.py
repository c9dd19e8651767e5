"""Frames survive any cutting, and bytes that are no frame; the agent's half and the host's agree."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

from hypothesis import given
from hypothesis import strategies as st

from compile_lens.workers.host import AGENT_FOLDER
from compile_lens.workers.wire import MAGIC, AgentEvent, Frame, FrameDecoder, TraceRecord


def agent_wire() -> ModuleType:
    """The agent's module, loaded the way that nothing else does: by its path."""
    spec = importlib.util.spec_from_file_location("agent_wire_under_test", Path(AGENT_FOLDER) / "wire.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WIRE = agent_wire()


def written(frames: list[str | dict[str, int]]) -> list[bytes]:
    """What the agent writes for trace records (str) and events (dict)."""
    chunks = []
    for frame in frames:
        reader, writer = os.pipe()
        wire = WIRE.Wire(writer)
        if isinstance(frame, str):
            wire.trace(frame)
        else:
            wire.event("note", **frame)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            chunks.append(pipe.read())
    return chunks


frames_strategy = st.lists(
    st.one_of(st.text(max_size=50), st.dictionaries(st.sampled_from(["a", "b"]), st.integers(), max_size=2)), max_size=6
)


@given(
    frames_strategy,
    st.lists(st.binary(max_size=20).filter(lambda junk: b"\x89" not in junk), min_size=7, max_size=7),
    st.integers(1, 17),
)
def test_frames_come_through(frames: list[str | dict[str, int]], junk: list[bytes], step: int) -> None:
    data = b"".join(between + frame for between, frame in zip(junk, written(frames), strict=False))
    decoder = FrameDecoder()
    found: list[Frame] = []
    for start in range(0, len(data), step):
        found += decoder.feed(data[start : start + step])
    expected = [
        TraceRecord(frame.encode("utf-8", "backslashreplace")) if isinstance(frame, str) else AgentEvent("note", frame)
        for frame in frames
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
    wire = WIRE.Wire(writer)
    child = os.fork()
    if child == 0:
        wire.event("from a child of the program")
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.read() == b""
