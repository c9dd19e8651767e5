"""A header that says a wrong length costs at most its own message: the next one is read."""

from __future__ import annotations

import asyncio

import pytest

from compile_lens.lsp.pygls_workarounds.transport import HEAD, LARGEST_BODY, read_messages

STRANGE = b'{"id": 1, "text": "\\\\\\"}{", "in": {"a": [{}, "}"]}}'
NEXT = b'{"id": 2}'
FRAMED = b"Content-Length: %d\r\n\r\n%s" % (len(NEXT), NEXT)


async def received(sent: bytes, piece: int) -> tuple[list[bytes], list[bytes]]:
    """The bodies that are passed on, and what is refused, of what arrives in pieces of a size."""
    reader = asyncio.StreamReader(limit=256)
    bodies: list[bytes] = []
    refused: list[bytes] = []
    reading = asyncio.create_task(read_messages(reader, bodies.append, refused.append))
    for start in range(0, len(sent), piece):
        reader.feed_data(sent[start : start + piece])
        await asyncio.sleep(0)
    reader.feed_eof()
    await reading
    return bodies, refused


@pytest.mark.parametrize("piece", [1, 7, 100_000])
@pytest.mark.parametrize("length", ["-5", "many", "1" + "0" * 13, "9" * 5000, "", "1.5", "0x10"])
async def test_a_length_that_cannot_be_true_loses_no_message(length: str, piece: int) -> None:
    head = f"Content-Length: {length}\r\n".encode()
    if len(head) > 256 and piece == 1:
        pytest.skip("what is no line for the reader")
    kept = [NEXT] if len(head) > 256 else [STRANGE, NEXT]
    assert await received(head + b"Other: x\r\n\r\n" + STRANGE + FRAMED, piece) == (kept, [])
    assert await received(head + b"\r\n" + FRAMED, piece) == ([NEXT], [])


async def test_what_stands_behind_a_short_length_loses_no_message() -> None:
    assert await received(b"Content-Length: 4\r\n\r\n" + STRANGE + FRAMED, 9) == ([STRANGE[:4], NEXT], [])


async def test_an_object_without_a_length_is_read_up_to_the_largest() -> None:
    large = b'{"id": 1, "text": "' + b"x" * LARGEST_BODY + b'"}'
    bodies, refused = await received(b"Content-Length: -1\r\n\r\n" + large + FRAMED, 1 << 20)
    assert (bodies, refused) == ([NEXT], [large[:HEAD]])
