"""Reads the key under which torch's cache stores a compiled graph.

The form is that of ``FxGraphHashDetails.debug_lines`` (torch/_inductor/codecache.py, torch 2.6 to 2.13): one text for each component,
``[hash of the value] name: the value``.
"""

from __future__ import annotations

import json
import re

from msgspec import Struct

from compile_lens.late_pattern import pattern

COMPONENT = pattern(r"^\[(?P<hash>\w+)\] (?P<name>[^:]+): (?P<text>.*)$", re.DOTALL)
MAX_TEXT = 20_000


class Component(Struct, frozen=True):
    """One part of a key: ``hash`` decides whether it is the same, ``text`` is torch's for it (it may hold addresses)."""

    hash: str
    text: str


def parse_cache_key(payload: str) -> dict[str, Component]:
    """The components of a key by name, from the payload of a cache's hit or miss; none if torch gives none."""
    try:
        record = json.loads(payload)
    except ValueError:
        return {}
    lines = record.get("components") if isinstance(record, dict) else None
    matches = [COMPONENT.match(line) for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
    return {match["name"]: Component(match["hash"], match["text"][:MAX_TEXT]) for match in matches if match}
