"""Decodes frames from an agent (``agent/runtime/protocol.py`` defines them)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compile_lens.agent.runtime.protocol import (
    CHUNK,
    EVENT,
    LENGTH,
    MAGIC,
    OF_STANDBY,
    TRACE,
    event_from,
)
from compile_lens.agent.runtime.protocol import AgentEvent as AgentEvent

HEADER = len(MAGIC) + 1 + LENGTH.size
# a record of the trace may hold a whole graph; an event is decoded on the event loop
LARGEST = {TRACE: 1 << 26, EVENT: 1 << 23, CHUNK: 1 << 26}
ALL_KINDS = EVENT + TRACE + CHUNK
# of a run's child: it cannot pass on what another one says
OF_PROGRAMS = EVENT + TRACE


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """One record of the structured trace, in torch's own text."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes from a run's child, passed on by the standby: frames again, or whatever the program made of them."""

    data: bytes


Frame = AgentEvent | TraceRecord | Chunk


class FrameDecoder:
    """Turns bytes into frames of ``kinds``. Other bytes are passed over up to the next magic, and counted in ``stray``."""

    def __init__(self, kinds: bytes = ALL_KINDS, magic: bytes = MAGIC) -> None:
        """``magic`` begins each frame; it is as long as ``MAGIC``."""
        self._kinds = kinds
        self._magic = magic
        self._pending = bytearray()
        self.stray = 0
        # of events, which are kept in full
        self.event_bytes = 0

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Take more bytes; yield the frames that they complete."""
        self._pending += data
        while True:
            start = self._pending.find(self._magic)
            if start < 0:
                # a magic may have begun in the last bytes
                extra = max(0, len(self._pending) - len(MAGIC) + 1)
                self._skip(extra)
                return
            self._skip(start)
            if len(self._pending) < HEADER:
                return
            kind = bytes(self._pending[len(MAGIC) : len(MAGIC) + 1])
            (length,) = LENGTH.unpack(self._pending[len(MAGIC) + 1 : HEADER])
            if kind not in self._kinds or length > LARGEST[kind]:
                self._skip(len(MAGIC))
                continue
            if len(self._pending) < HEADER + length:
                return
            payload = bytes(self._pending[HEADER : HEADER + length])
            del self._pending[: HEADER + length]
            self.event_bytes += length if kind == EVENT else 0
            frame = _decode(kind, payload)
            if frame is None:
                self.stray += len(payload)
            else:
                yield frame

    def _skip(self, count: int) -> None:
        self.stray += count
        del self._pending[:count]


class AgentFrames:
    """The frames of an agent, and those that it passes on from a run's child, which cannot speak as the agent does."""

    def __init__(self) -> None:
        self._of_agent = FrameDecoder()
        self._of_program = FrameDecoder(OF_PROGRAMS)
        self._before = 0

    def begin_run(self, magic: bytes) -> None:
        """From here on, those of the child begin with ``magic``."""
        self._of_program = FrameDecoder(OF_PROGRAMS, magic)
        self._before = self._of_agent.event_bytes

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Take more bytes; yield the frames that they complete."""
        for frame in self._of_agent.feed(data):
            if not isinstance(frame, Chunk):
                yield frame
                continue
            for inner in self._of_program.feed(frame.data):
                if not isinstance(inner, OF_STANDBY):
                    yield inner

    @property
    def event_bytes(self) -> int:
        """Of all events of the run: an agent that cannot fork is the program, too."""
        return self._of_program.event_bytes + self._of_agent.event_bytes - self._before


def _decode(kind: bytes, payload: bytes) -> Frame | None:
    if kind == TRACE:
        return TraceRecord(payload)
    return Chunk(payload) if kind == CHUNK else event_from(payload)
