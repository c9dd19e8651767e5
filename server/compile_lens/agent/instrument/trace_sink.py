"""Sends every record of the structured trace to the host, in the text that ``TORCH_TRACE`` would write to a file."""

from __future__ import annotations

import copy
import logging
import traceback
from typing import Any

from ..runtime.protocol import CompilerActivity
from ..runtime.wire import Wire

# One per timed block, most of a trace's bytes, and nothing of them is shown: they would only delay what is.
DROPPED = frozenset({"chromium_event"})
# Written from deep inside of an operator's call (torch/_subclasses/fake_tensor.py, torch 2.13), without the user's stack.
WITHOUT_STACK = frozenset({"missing_fake_kernel", "mismatched_fake_kernel"})


class TraceSink(logging.Handler):
    """A handler for the ``torch.__trace`` logger (torch/_logging/_internal.py, ``trace_structured``, torch 2.6 to 2.13)."""

    def __init__(self, wire: Wire) -> None:
        super().__init__(logging.DEBUG)
        from torch._logging._internal import TorchLogsFormatter

        self._wire = wire
        self._open = 0
        self.setFormatter(TorchLogsFormatter(trace=True))

    def emit(self, record: logging.LogRecord) -> None:
        metadata: dict[str, Any] = getattr(record, "metadata", {})
        if "chromium_event" in metadata:
            self._follow(getattr(record, "payload", None) or "")
        if not WITHOUT_STACK.isdisjoint(metadata):
            record = copy.copy(record)  # other handlers have it, too
            record.metadata = {**metadata, "stack": _stack()}
        if DROPPED.isdisjoint(metadata):
            self._wire.trace(self.format(record))

    def _follow(self, event: str) -> None:
        """Tell when the compiler begins and stops to work: a kernel may compile for a minute without a record."""
        before = self._open
        if '"ph": "B"' in event:
            self._open += 1
        elif '"ph": "E"' in event:
            self._open = max(0, self._open - 1)
        if (before == 0) != (self._open == 0):
            self._wire.tell(CompilerActivity(self._open > 0))


def _stack() -> list[dict[str, Any]]:
    """The live stack as torch writes one (torch/_logging/structured.py), with names of files in the place of numbers."""
    return [
        {"line": frame.lineno, "name": frame.name, "filename": frame.filename, "loc": frame.line}
        for frame in traceback.extract_stack()
    ]


def install(wire: Wire) -> None:
    """Attach the sink, with string interning started afresh so that every string the trace names is in it."""
    import torch._logging.structured as structured
    from torch._logging._internal import trace_log

    structured.INTERN_TABLE.clear()
    # first in the list: torch's own handler takes itself off while a record goes round, and the one after it would miss that record
    trace_log.handlers.insert(0, TraceSink(wire))
    _complete_break_records()


def _complete_break_records() -> None:
    """Let Dynamo write break records that it holds back while nobody reads the ``graph_breaks`` log.

    torch/_dynamo/convert_frame.py writes the record of a frame that it skips only if that log is enabled (torch 2.13). It is
    enabled without a handler, and without propagation, so nothing is printed.
    """
    import torch._dynamo.convert_frame as convert_frame

    log = getattr(convert_frame, "graph_break_log", None)
    if log is not None and not log.isEnabledFor(logging.DEBUG):
        log.setLevel(logging.DEBUG)
        log.propagate = False


def write_note(name: str, payload: Any) -> None:
    """Add a record of our own to the trace: an ``artifact`` named ``name`` whose payload is JSON."""
    import torch._logging

    torch._logging.trace_structured(
        "artifact",
        metadata_fn=lambda: {"name": name, "encoding": "json"},
        payload_fn=lambda: payload,
        expect_trace_id=False,
    )
