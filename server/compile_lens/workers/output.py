"""Keeps the beginning and the end of what a program prints."""

from __future__ import annotations

KEPT = 1 << 16


class BoundedOutput:
    """Keeps the first and the last 64 KiB of a stream of bytes; ``total`` counts all of it."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def clear(self) -> None:
        """Forget everything (a new run begins)."""
        self._head.clear()
        self._tail.clear()
        self.total = 0

    def add(self, data: bytes) -> None:
        """Take more bytes."""
        self.total += len(data)
        room = KEPT - len(self._head)
        self._head += data[:room] if room > 0 else b""
        self._tail += data[max(room, 0) :]
        if len(self._tail) > 2 * KEPT:
            del self._tail[:-KEPT]

    def text(self) -> str:
        """The output, with one line that says how much is left out, if any is."""
        tail = bytes(self._tail[-KEPT:])
        left_out = self.total - len(self._head) - len(tail)
        between = f"\n[… {left_out:,} bytes left out …]\n".encode() if left_out else b""
        return (bytes(self._head) + between + tail).decode("utf-8", "replace")
