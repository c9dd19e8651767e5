"""Who waits for an answer to a line that no reader of JSON takes: it is nested too deeply, or has numbers of too many digits."""

from __future__ import annotations

import json
import re

import mcp_types as types

NO_JSON = "The request cannot be read as JSON. Use shorter numbers and less nesting."
_PART = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)
_OPENS, _CLOSES = ("{", "["), ("}", "]")


def refusal(line: str) -> types.JSONRPCError | None:
    """The answer to ``line``, which is no JSON for us; None if nobody waits for one, since it is no request.

    It is for nobody where the identifier itself cannot be read (JSON-RPC 2.0, section 5).
    """
    members = _members(line)
    if "method" not in members or "id" not in members:
        return None
    try:
        identifier = json.loads(members["id"])
    except ValueError:
        identifier = None
    if isinstance(identifier, bool) or not isinstance(identifier, (str, int)):
        identifier = None
    elif isinstance(identifier, str):
        identifier = identifier.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    error = types.ErrorData(code=types.PARSE_ERROR, message=NO_JSON)
    return types.JSONRPCError(jsonrpc="2.0", id=identifier, error=error)


def _members(line: str) -> dict[str, str]:
    """The members ``id`` and ``method`` of the object that ``line`` begins, each with the first part of its value."""
    if not line.lstrip().startswith("{"):
        return {}
    found: dict[str, str] = {}
    depth, before, name = 0, "", ""
    for match in _PART.finditer(line):
        part = match[0]
        if depth == 1 and before == ":" and name in ('"id"', '"method"'):
            found.setdefault(name.strip('"'), part)
        if part in _OPENS:
            depth += 1
        elif part in _CLOSES:
            depth -= 1
        elif depth == 1 and before in ("{", ","):
            name = part
        if len(found) == 2 or not depth:
            break
        before = part
    return found
