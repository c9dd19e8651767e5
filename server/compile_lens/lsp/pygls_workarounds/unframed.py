"""Reads a message whose header does not say how long it is: it ends where its JSON object does."""

from __future__ import annotations

import asyncio
import re

# to the end of a text, past what is escaped in it
_TEXT = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_MARK = re.compile(rb'["{}]')
BEGINS = b"{"


class _Depth:
    """How many objects are open, for bytes that arrive in pieces."""

    def __init__(self) -> None:
        self._in_text = False
        self._is_escaped = False
        self.objects = 0

    def feed(self, piece: bytes) -> None:
        place = 0
        while place < len(piece):
            if self._in_text:
                place = self._after_text(piece, place)
                continue
            mark = _MARK.search(piece, place)
            if mark is None:
                return
            place = mark.end()
            if mark[0] == b'"':
                self._in_text = True
            else:
                self.objects += 1 if mark[0] == BEGINS else -1

    def _after_text(self, piece: bytes, place: int) -> int:
        if self._is_escaped:
            self._is_escaped = False
            return place + 1
        text = _TEXT.match(piece, place)
        end = text.end() if text is not None else place
        if end == len(piece):
            return end
        # a quote, or a backslash with nothing after it yet
        self._is_escaped = piece[end : end + 1] == b"\\"
        self._in_text = self._is_escaped
        return end + 1


async def read_object(reader: asyncio.StreamReader, most: int) -> bytes:
    """The object whose first brace has just been read, of which no more than ``most`` bytes and those of one piece are kept.

    Raises IncompleteReadError if the stream ends before.
    """
    depth, kept = _Depth(), bytearray(BEGINS)
    depth.feed(BEGINS)
    while depth.objects:
        try:
            piece = await reader.readuntil(b"}")
        except asyncio.LimitOverrunError as error:
            piece = await reader.readexactly(error.consumed)
        depth.feed(piece)
        if len(kept) <= most:
            kept += piece
    return bytes(kept)
