"""Enforces the limits of a run that are counted in the server: output, trace, and time without compilation."""

from __future__ import annotations

import time

from compile_lens.agent.runtime.protocol import CompilerActivity
from compile_lens.workers.access import Access
from compile_lens.workers.job import End, EndKind, Job
from compile_lens.workers.wire import Frame, TraceRecord

# between looks at what a run has printed
EVERY_S = 0.25
# of trace, from one run
MAX_TRACE = 1 << 30
# of everything else that it reports, which is kept until its end
MAX_EVENTS = 1 << 26


class RunLimits:
    """What is counted on this side of a run: what it prints and writes to its trace, and for how long nothing is compiled."""

    def __init__(self, job: Job | None) -> None:
        limited = job is not None and job.access is Access.SANDBOXED
        self._budget = job.budget if job is not None and limited else None
        self._trace = 0
        self._compiling = False
        self._last: float | None = None
        self.ended: End | None = None

    def patience(self) -> float | None:
        """Seconds until ``check`` must be called, if no frame comes."""
        if self._budget is None or self.ended is not None:
            return None
        if not self._budget.idle_s or self._last is None or self._compiling:
            return EVERY_S
        return min(EVERY_S, max(0.0, self._last + self._budget.idle_s - time.monotonic()))

    def add(self, frame: Frame, printed: int, events: int = 0) -> bool:
        """Count a frame; whether the run must end now. ``events`` are the bytes of all its events so far."""
        if isinstance(frame, TraceRecord):
            self._trace += len(frame.data)
            self._last = time.monotonic()
        elif isinstance(frame, CompilerActivity):
            self._compiling = frame.now
            self._last = time.monotonic()
        return self.check(printed, events)

    def check(self, printed: int, events: int = 0) -> bool:
        """Whether the run must end now, told once."""
        if self._budget is None or self.ended is not None:
            return False
        if printed > self._budget.output_bytes or self._trace > MAX_TRACE or events > MAX_EVENTS:
            self.ended = End(EndKind.BUDGET, reason="output")
        elif self._is_idle(self._budget.idle_s):
            self.ended = End(EndKind.IDLE)
        return self.ended is not None

    def _is_idle(self, idle_s: float) -> bool:
        if not idle_s or self._last is None or self._compiling:
            return False
        return time.monotonic() - self._last >= idle_s
