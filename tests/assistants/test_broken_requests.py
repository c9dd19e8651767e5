"""A request that no reader of JSON takes is answered with an error, to whoever waits for it."""

from __future__ import annotations

import mcp_types as types
import pytest

from compile_lens.mcp.broken_requests import NO_JSON, refusal
from compile_lens.mcp.half_characters import whole

DEEP, LONG = "[" * 100_000, "9" * 5000


@pytest.mark.parametrize(
    ("line", "identifier"),
    [
        ('{"jsonrpc":"2.0","id":4,"method":"a","params":' + DEEP + "}", 4),
        ('{"jsonrpc":"2.0","id":4,"method":"a","params":{"b":' + LONG + "}}", 4),
        (' {"params":{"id":1,"c":[{"id":2}],"b":' + LONG + '},"method":"id","id":"x\\"}\\ud800"}', 'x"}\ufffd'),
        ('{"id":' + LONG + ',"method":"a"}', None),
        ('{"id":true,"method":"a","params":' + LONG + "}", None),
        ('{"id":[4],"method":"a","params":' + LONG + "}", None),
        ('{"id":4,"method":"a","params":', 4),
    ],
)
def test_who_sent_it_gets_an_error(line: str, identifier: object) -> None:
    message = whole(line)
    assert isinstance(message, types.JSONRPCError)
    assert (message.id, message.error.code, message.error.message) == (identifier, types.PARSE_ERROR, NO_JSON)


@pytest.mark.parametrize(
    "line",
    [
        '{"method":"a","params":{"id":4,"b":' + LONG + "}}",
        '{"id":4,"result":' + LONG + "}",
        '[{"id":4,"method":"a"',
        "id method",
        "",
        '{"',
        "}",
    ],
)
def test_who_waits_for_nothing_gets_none(line: str) -> None:
    assert whole(line) is None
    assert refusal(line) is None
