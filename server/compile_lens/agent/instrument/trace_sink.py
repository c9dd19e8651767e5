"""Sends every record of the structured trace to the host, as the text that ``TORCH_TRACE`` would write to a file."""

from __future__ import annotations

import copy
import logging
import sys
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

from ..runtime.protocol import CompilerActivity
from ..runtime.wire import Wire
from ..torch_internals.core import INTERN_TABLE, TORCH_LOGS_FORMATTER, TRACE_LOG, TRACE_STRUCTURED
from ..torch_internals.dynamo import GRAPH_BREAK_LOG
from .stacks import frames_outward

# One per timed block and most of a trace's bytes. None is shown, and they would delay the records that are.
DROPPED = frozenset({"chromium_event"})
# Written inside an operator's call (torch/_subclasses/fake_tensor.py, torch 2.13), without the user's stack.
WITHOUT_STACK = frozenset({"missing_fake_kernel", "mismatched_fake_kernel"})


class TraceSink(logging.Handler):
    """A handler for the ``torch.__trace`` logger (torch/_logging/_internal.py, ``trace_structured``, torch 2.6 to 2.13)."""

    def __init__(self, wire: Wire, drops: frozenset[str] = DROPPED) -> None:
        super().__init__(logging.DEBUG)
        self._wire = wire
        self._drops = drops
        self._open_events = 0
        self.setFormatter(TORCH_LOGS_FORMATTER.need()(trace=True))

    def emit(self, record: logging.LogRecord) -> None:
        metadata: dict[str, Any] = getattr(record, "metadata", {})
        if "chromium_event" in metadata:
            self._track_compiling(getattr(record, "payload", None) or "")
        if not WITHOUT_STACK.isdisjoint(metadata):
            record = copy.copy(record)  # other handlers get it, too
            record.metadata = {**metadata, "stack": _stack()}
        if self._drops.isdisjoint(metadata):
            self._wire.trace(self.format(record))

    def _track_compiling(self, event: str) -> None:
        """Report when compilation begins and ends: a kernel may compile for a minute without a record."""
        before = self._open_events
        if '"ph": "B"' in event:
            self._open_events += 1
        elif '"ph": "E"' in event:
            self._open_events = max(0, self._open_events - 1)
        if (before == 0) != (self._open_events == 0):
            self._wire.tell(CompilerActivity(self._open_events > 0))


def _stack() -> list[dict[str, Any]]:
    """The live stack as torch writes one (torch/_logging/structured.py), with file names instead of their interned numbers."""
    return [
        {"line": frame.lineno, "name": frame.name, "filename": frame.filename, "loc": frame.line}
        for frame in traceback.extract_stack()
    ]


def install(wire: Wire, with_times: bool = False) -> None:
    """Attach the sink. String interning starts afresh, so that the trace defines every string it refers to.

    ``with_times``: the time of each phase and pass is recorded, too.
    """
    INTERN_TABLE.need().clear()
    # first in the list: torch's own handler removes itself during a record, and the handler after it would miss that record
    TRACE_LOG.need().handlers.insert(0, TraceSink(wire, frozenset() if with_times else DROPPED))
    _complete_break_records()


def watch_records(name: str, on_record: Callable[[FrameType], None]) -> None:
    """Call ``on_record`` just before each record ``name`` is sent, with the frame that logs it."""
    TRACE_LOG.need().handlers.insert(0, _RecordWatcher(name, on_record))


def filter_records(accepts: Callable[[logging.LogRecord], bool]) -> None:
    """Leave out of the trace each record that ``accepts`` does not accept. Other handlers get it."""
    for handler in TRACE_LOG.need().handlers:
        if isinstance(handler, TraceSink):
            handler.addFilter(accepts)


class _RecordWatcher(logging.Handler):
    def __init__(self, name: str, on_record: Callable[[FrameType], None]) -> None:
        super().__init__(logging.DEBUG)
        self._name = name
        self._on_record = on_record

    def emit(self, record: logging.LogRecord) -> None:
        if self._name in getattr(record, "metadata", {}):
            callers = frames_outward(sys._getframe(1))
            self._on_record(next(frame for frame in callers if frame.f_code.co_filename != logging.__file__))


def _complete_break_records() -> None:
    """Make Dynamo write the break records that it omits while the ``graph_breaks`` log is off.

    torch/_dynamo/convert_frame.py writes the record of a frame that it skips only if that log is enabled (torch 2.13). The log is
    enabled without a handler and without propagation, so nothing is printed.
    """
    log = GRAPH_BREAK_LOG.get()
    if log is not None and not log.isEnabledFor(logging.DEBUG):
        log.setLevel(logging.DEBUG)
        log.propagate = False


def write_note(name: str, payload: Any, encoding: str = "json") -> None:
    """Add a record of the agent's to the trace: an ``artifact`` named ``name`` whose payload is JSON, or text (``string``)."""
    TRACE_STRUCTURED.need()(
        "artifact",
        metadata_fn=lambda: {"name": name, "encoding": encoding},
        payload_fn=lambda: payload,
        expect_trace_id=False,
    )
