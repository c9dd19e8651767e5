"""JSON of names that need be no text: a file or a folder may have any bytes in its name, and no JSON has half characters."""

from __future__ import annotations

import json

import msgspec


def json_bytes(value: object) -> bytes:
    """``value`` as JSON; a question mark stands for what is no character."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), ensure_ascii=False).encode("utf-8", "replace")
