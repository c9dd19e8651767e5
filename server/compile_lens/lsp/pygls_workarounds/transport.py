"""Message framing, and standard streams reserved for the protocol."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import threading
from collections.abc import Callable

from compile_lens.lsp.pygls_workarounds.unframed import BEGINS, read_object

log = logging.getLogger(__name__)

# four times the largest document (documents/source_file.py): JSON makes a text longer
LARGEST_BODY = 1 << 25
# no editor sends more: a length above is a mistake, and waiting for it would lose all that follows
LONGEST_SKIPPED = 1 << 30
UNUSABLE = -1
# after a message that was longer than its header said
AFTER_A_MESSAGE = re.compile(rb"[}\]]\s*(content-length\s*:[^:]*)$", re.IGNORECASE)
# method, id and URI come before the text
HEAD = 1 << 12
CHUNK = 1 << 16


async def read_messages(
    reader: asyncio.StreamReader, receive: Callable[[bytes], None], refuse: Callable[[bytes], None] = lambda _: None
) -> None:
    """Pass the body of each message to ``receive`` until the stream ends.

    Of a message that is too large only the first bytes are kept, and passed to ``refuse``. One whose length cannot be true ends with its
    JSON object; so the next one is read, too.
    Other tasks run between two messages, so handlers start in the order in which the messages arrived.
    """
    length: int | None = None
    begun = b""
    while True:
        try:
            line = begun + await reader.readline()
        except ValueError:  # no line end within the reader's limit, so this is not a header
            continue
        if not line:
            return
        begun = b""
        header = AFTER_A_MESSAGE.search(line)
        line = line if header is None else header[1]
        name, colon, value = line.partition(b":")
        if colon and name.strip().lower() == b"content-length":
            length = _length(value)
        elif not line.strip() and length is not None:
            try:
                if length == UNUSABLE:
                    begun = await _receive_object(reader, receive, refuse)
                elif length > LARGEST_BODY:
                    refuse(await _skip(reader, length))
                else:
                    receive(await reader.readexactly(length))
            except asyncio.IncompleteReadError:
                return
            length = None
            await asyncio.sleep(0)


def _length(value: bytes) -> int:
    try:
        length = int(value)
    except ValueError:
        return UNUSABLE
    return length if 0 <= length <= LONGEST_SKIPPED else UNUSABLE


async def _receive_object(
    reader: asyncio.StreamReader, receive: Callable[[bytes], None], refuse: Callable[[bytes], None]
) -> bytes:
    """Pass on what stands in the place of a body. Returns its first byte if that begins no object, but perhaps the next header."""
    first = b" "
    while first.isspace():
        first = await reader.readexactly(1)
    if first != BEGINS:
        return first
    body = await read_object(reader, LARGEST_BODY)
    if len(body) > LARGEST_BODY:
        refuse(body[:HEAD])
    else:
        receive(body)
    return b""


async def _skip(reader: asyncio.StreamReader, length: int) -> bytes:
    """Read a body and drop it, except for its head."""
    head = await reader.readexactly(min(HEAD, length))
    left = length - len(head)
    while left:
        piece = await reader.read(min(left, 1 << 20))
        if not piece:
            raise asyncio.IncompleteReadError(head, length)
        left -= len(piece)
    return head


class PrivateStreams:
    """Standard input and output, reserved for the protocol.

    Descriptor 0 becomes the null device and descriptor 1 standard error, so neither a stray ``print`` nor a child
    process can corrupt the protocol. A daemon thread reads the bare descriptor, so that shutdown never waits for it.
    """

    def __init__(self, on_broken: Callable[[], None], on_end: Callable[[], None] = lambda: None) -> None:
        """``on_end`` is called in the thread that reads, when the editor has closed its end."""
        self._on_broken = on_broken
        self._on_end = on_end
        self._input = os.dup(0)
        self._output = os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        if sys.platform == "win32":
            import msvcrt

            for descriptor in (self._input, self._output):
                msvcrt.setmode(descriptor, os.O_BINARY)

    def reader(self) -> asyncio.StreamReader:
        """A stream of what the editor sends, from now on."""
        reader, loop = asyncio.StreamReader(), asyncio.get_running_loop()
        threading.Thread(target=self._pump, args=(loop, reader), name="standard input", daemon=True).start()
        return reader

    def write(self, data: bytes) -> None:
        """Send all of ``data``. Calls ``on_broken`` if the editor has closed its end."""
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._output, view) :]
        except OSError:
            self._on_broken()

    def close(self) -> None:
        """Nothing is buffered, and the descriptors are closed with the process."""

    def _pump(self, loop: asyncio.AbstractEventLoop, reader: asyncio.StreamReader) -> None:
        data = b"-"
        while data:
            try:
                data = os.read(self._input, CHUNK)
            except OSError:
                data = b""
            try:
                loop.call_soon_threadsafe(reader.feed_data if data else reader.feed_eof, *((data,) if data else ()))
            except RuntimeError:  # the loop is closed: the server has ended
                return
        self._on_end()
