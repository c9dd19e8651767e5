"""Finds environment variables that are set in text: shell, ``.env``, Dockerfile, YAML, TOML, JSON, or inside a string.

Line by line and without a grammar: ``NAME=value``, ``NAME: value``, ``"NAME": "value"``, ``ENV NAME value``, and the pair of lines
``name: NAME`` and ``value: …`` of a container's description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from compile_lens.late_pattern import pattern

_QUOTED = r"\"[^\"\n]*\"?|'[^'\n]*'?"
_SETTING = pattern(
    r"(?P<name>\b[A-Z][A-Z0-9_]{3,}\b)(?P<between>[\"']?[ \t]*[=:][ \t]*|[ \t]+(?=[+\w-]))"
    rf"(?P<value>{_QUOTED}|[^\s\"';#,}}][^\s\"';#}}]*|)"
)
_NAME_LINE = pattern(r"\bname:[ \t]*[\"']?(?P<name>[A-Z][A-Z0-9_]{3,})[\"']?[ \t]*$")
_VALUE_LINE = pattern(r"^[ \t-]*value:[ \t]*(?P<value>" + _QUOTED + r"|[^\s#]*)")
_DOCKER = pattern(r"^[ \t]*(?:ENV|ARG)[ \t]+", re.IGNORECASE)


class Setting(Struct, frozen=True):
    """``name`` and ``value`` with their columns (from 0, code points) in the line; the value has no quotes."""

    name: str
    name_column: int
    value: str
    value_column: int


def settings_of_line(line: str, line_before: str = "") -> Iterator[Setting]:
    """The settings in a line, in order."""
    paired = _VALUE_LINE.match(line)
    owner = _NAME_LINE.search(line_before) if paired is not None else None
    if paired is not None and owner is not None:
        value, column = _unquoted(paired.group("value"), paired.start("value"))
        yield Setting(owner.group("name"), -1, value, column)
        return
    for match in _SETTING.finditer(line):
        if not match.group("between").strip(" \t\"'") and not _DOCKER.match(line):
            continue  # two words side by side set something in a Dockerfile only
        value, column = _unquoted(match.group("value"), match.start("value"))
        yield Setting(match.group("name"), match.start("name"), value, column)


def _unquoted(value: str, column: int) -> tuple[str, int]:
    if value[:1] in ("'", '"'):
        inner = value[1:]
        return (inner[:-1] if inner.endswith(value[0]) else inner), column + 1
    return value, column


def items(value: str) -> Iterator[tuple[str, int]]:
    """The names in ``+dynamo, graph_breaks`` without their sign, with their offsets."""
    at = 0
    for part in value.split(","):
        name = part.strip().lstrip("+-")
        yield name, at + (part.index(name) if name else len(part) - len(part.lstrip()))
        at += len(part) + 1
