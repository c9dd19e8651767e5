"""The agent's half of the wire: frames out, one JSON command per line in.

A frame is ``MAGIC``, one byte of kind, four bytes of length (big endian), the payload. The magic lets the host find the next frame
after bytes that a program wrote to a descriptor that is not its own. The other half is ``compile_lens/workers/wire.py``.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import threading
from typing import Any

MAGIC = b"\x89CLw"
EVENT = b"E"
TRACE = b"T"


class Wire:
    """Writes frames to a private descriptor. Only the process that owns it writes; a forked child of the program does not."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._owner = os.getpid()

    def adopt(self) -> None:
        """Make the calling process the owner (after a fork that is ours)."""
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def event(self, name: str, **fields: Any) -> None:
        """Send one event; ``fields`` must be JSON."""
        self._send(EVENT, json.dumps({"event": name, **fields}, default=str).encode())

    def trace(self, record: str) -> None:
        """Send one record of the structured trace, as torch formats it."""
        self._send(TRACE, record.encode("utf-8", "backslashreplace"))

    def _send(self, kind: bytes, payload: bytes) -> None:
        if os.getpid() != self._owner:
            return
        data = memoryview(MAGIC + kind + struct.pack(">I", len(payload)) + payload)
        # the host may be gone, or the program may have closed every descriptor: then nobody listens, and the program goes on
        with self._lock, contextlib.suppress(OSError):
            while data:
                data = data[os.write(self._descriptor, data) :]
