"""Writes frames to the server (``protocol`` defines them; ``compile_lens/workers/wire.py`` decodes them).

A run's child has a pipe to the standby, which passes on what comes there as frames of the kind ``CHUNK``: nothing that a program
writes can look like a word of the standby's. Its frames begin with a magic of that run, so that nothing looks like one by chance.
"""

from __future__ import annotations

import os
import threading

from .protocol import CHUNK, EVENT, LENGTH, MAGIC, TRACE, AgentEvent, event_payload

# a program may replace what it finds in these modules
_payload, _pack = event_payload, LENGTH.pack
_write, _getpid = os.write, os.getpid


class Wire:
    """Writes frames to a private descriptor. Only the process that made it writes; a forked child of the program does not."""

    def __init__(self, descriptor: int, magic: bytes = MAGIC) -> None:
        self._magic = magic
        self.descriptor = descriptor
        self._lock = threading.Lock()
        self._owner = _getpid()

    def move_to_this_process(self) -> None:
        """From here on this process writes, a descendant of the one that did."""
        self._owner = _getpid()

    def tell(self, event: AgentEvent) -> None:
        """Send one event."""
        self._send(EVENT, _payload(event))

    def trace(self, record: str) -> None:
        """Send one record of the structured trace, as torch formats it."""
        self._send(TRACE, record.encode("utf-8", "backslashreplace"))

    def chunk(self, data: bytes) -> None:
        """Pass on bytes of a run's child."""
        self._send(CHUNK, data)

    def _send(self, kind: bytes, payload: bytes) -> None:
        if _getpid() != self._owner:
            return
        data = memoryview(self._magic + kind + _pack(len(payload)) + payload)
        with self._lock:
            # Not `contextlib.suppress`: Dynamo may trace its frames, and the records of that would wait here for the lock.
            try:
                while data:
                    data = data[_write(self.descriptor, data) :]
            except OSError:
                pass  # the host is gone, or the program closed every descriptor; the program goes on
