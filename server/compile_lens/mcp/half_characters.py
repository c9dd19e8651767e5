"""Messages of a client that are JSON, and that the SDK does not read: it answers none of them, and the client would wait without end.

JavaScript writes half a character of a text (one that was cut in the middle of a surrogate pair) as an escape, which is JSON by its
grammar (RFC 8259, section 8.2). The SDK takes such a line for none.
"""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
from mcp.shared.message import SessionMessage

from compile_lens.mcp.broken_requests import refusal

NOT_A_MESSAGE = "The request cannot be read. Send one of MCP, nested less deeply."


class WholeMessages:
    """The stream ``read`` of the SDK's transport, in which half characters are replaced. What is no message, and has an identifier, is
    answered by ``write``."""

    def __init__(self, read: Any, write: Any) -> None:
        self._read = read
        self._write = write

    def __getattr__(self, name: str) -> Any:
        # the dispatcher asks for the context of the last message
        return getattr(self._read, name)

    async def __aenter__(self) -> WholeMessages:
        await self._read.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> bool | None:
        ends: bool | None = await self._read.__aexit__(*raised)
        return ends

    def __aiter__(self) -> WholeMessages:
        return self

    async def __anext__(self) -> Any:
        while True:
            item = await self._read.__anext__()
            message = whole(_line_of(item)) if isinstance(item, Exception) else None
            if not isinstance(message, types.JSONRPCError):
                return item if message is None else SessionMessage(message)
            await self._write.send(SessionMessage(message))


def _line_of(refused: Exception) -> str:
    """The line that the SDK could not read; '' if it does not tell."""
    errors = getattr(refused, "errors", None)
    line = errors(include_url=False, include_context=False)[0].get("input") if errors is not None else None
    return line if isinstance(line, str) else ""


def whole(line: str) -> types.JSONRPCMessage | None:
    """The message of ``line`` with another character in the place of each half one; an error that answers it, if it is none and has an
    identifier, or is no JSON and asks for an answer. None for all else."""
    try:
        data = json.loads(line)
        text = json.dumps(data, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        identifier = json.loads(text)["id"] if isinstance(data, dict) and "id" in data else None
    except (ValueError, RecursionError):
        return refusal(line)
    try:
        return types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        if not isinstance(identifier, (str, int)) or "method" not in data:
            return None  # an answer is not answered
    error = types.ErrorData(code=types.INVALID_REQUEST, message=NOT_A_MESSAGE)
    return types.JSONRPCError(jsonrpc="2.0", id=identifier, error=error)
