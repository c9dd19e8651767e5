"""Requests of a client that the SDK does not read are answered all the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from compile_lens.mcp.half_characters import NOT_A_MESSAGE, whole


def test_half_a_character_is_another_one() -> None:
    line = r'{"jsonrpc":"2.0","id":"\ud800","method":"a","params":{"\udc00":["\ud83d\ude00 \ud800"]}}'
    message = whole(line)
    assert isinstance(message, types.JSONRPCRequest)
    assert (message.id, message.params) == ("\ufffd", {"\ufffd": ["\U0001f600 \ufffd"]})


@pytest.mark.parametrize(
    "line", ["", "[]", "{", "7", "[" * 100_000, '{"id":' + "9" * 5000 + "}", '{"id": 3, "result": "\\ud800"}']
)
def test_what_is_no_request_is_not_answered(line: str) -> None:
    assert not isinstance(whole(line), types.JSONRPCError)


def test_a_request_that_cannot_be_read_is_refused() -> None:
    deep = '{"method":"a","params":{"b":%s},"jsonrpc":"2.0","id":4}' % ("[" * 300 + "]" * 300)
    message = whole(deep)
    assert isinstance(message, types.JSONRPCError)
    assert (message.id, message.error.message) == (4, NOT_A_MESSAGE)


def test_the_server_answers_a_request_with_half_a_character(tmp_path: Path) -> None:
    def line(**message: Any) -> str:
        return json.dumps({"jsonrpc": "2.0", **message})

    begin = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    sent = (
        line(id=1, method="initialize", params=begin),
        line(method="notifications/initialized"),
        line(id=2, method="tools/call", params={"name": "explain", "arguments": {"name": "GB\ud8000001"}}),
        line(id=3, method="tools/call", params={"name": "explain\udc00", "arguments": {}}),
        line(id=5, method="tools/list", params={"deep": 0}).replace("0}", "[" * 1000 + "]" * 1000 + "}"),
        line(id=6, method="tools/list", params={"long": 0}).replace("0}", "9" * 5000 + "}"),
    )
    folders = {"XDG_STATE_HOME": str(tmp_path), "COMPILE_LENS_CACHE_DIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-m", "compile_lens", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **folders},
        text=True,
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        answers = {}
        for text in sent:
            server.stdin.write(f"{text}\n")
            server.stdin.flush()
            if '"id"' in text:
                answer = json.loads(server.stdout.readline())
                answers[answer["id"]] = answer
        server.stdin.close()
        assert server.wait(60) == 0
    assert "meanings" in answers[2]["result"]["structuredContent"]
    assert "There is no tool" in answers[3]["error"]["message"]
    # how deep is too deep is Python's to say
    assert answers[5]["error"]["code"] in (types.PARSE_ERROR, types.INVALID_REQUEST)
    assert answers[6]["error"]["code"] == types.PARSE_ERROR
