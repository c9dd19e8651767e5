"""Reads what a program accepts where it refuses a value: in its error (``mode must be 'a' or 'b', got 'mean'``), in the line that failed,
or in what that line looks it up in."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from typing import Any

from ..source.accepted_values import compared_in, in_order
from .failed_conditions import relations
from .failing_lines import failing_line, innermost, keys_looked_up_in

MOST_VALUES = 5
_QUOTED = re.compile(r"""['"`]([A-Za-z][\w./+\-]{0,38})['"`]""")
_LISTED = re.compile(r"(?:\bin|\bof|\bfrom|\bare|:)\s*[\[({]([^\[\](){}]{1,200})[\])}]")
_ONE_OF = re.compile(
    r"(?:\b(?:one of|from|are|options)\b:?|\b(?:available|supported|registered|known|valid|allowed|possible)(?: \w+){0,2}:)\s+"
    r"((?:[\w.+-]+,? (?:or |and )?)+[\w.+-]+)",
    re.I,
)


def accepted_by(error: BaseException) -> list[Any]:
    """The values that an error, its line and what its line names list."""
    if not isinstance(error, (ValueError, KeyError, AssertionError, NotImplementedError, RuntimeError)):
        return []
    line = failing_line(error)
    found: list[Any] = []
    # one that the program raises itself is no table that lacks a key
    is_lookup = isinstance(error, KeyError) and not line.startswith("raise ")
    if not is_lookup:
        found += _QUOTED.findall(str(error))
        for listed in (*_LISTED.findall(str(error)), *_ONE_OF.findall(re.sub(r",\s*", ", ", str(error)))):
            words = [word.strip(" '\"`") for word in listed.split(",")]
            found += [word for word in words if re.fullmatch(r"[A-Za-z][\w.+-]*", word)]
    found += [
        word for word in _QUOTED.findall(line) if isinstance(error, (AssertionError, KeyError)) and "raise" not in line
    ]
    frame = innermost(error)[0]
    if frame is not None and not is_lookup:
        compared = compared_in(frame.f_code, frame.f_globals)
        found += [text for name in re.findall(r"[A-Za-z_]\w*", line) for text in compared.get(name, ())]
    found += _of_conditions(error)
    if isinstance(error, KeyError):
        found += [key for key in keys_looked_up_in(error) if isinstance(key, str)]
    found += _of_containers(error, line)
    return [each for each in dict.fromkeys(found) if not hasattr(builtins, each)]


def _of_conditions(error: BaseException) -> Iterator[str]:
    """The keys and items of what a condition that the program raised for looks in: `if name not in self._layers: raise …`."""
    for relation in relations(error):
        inside = relation.value(relation.right) if relation.operator is ast.In else None
        if isinstance(inside, (dict, list, tuple, set, frozenset)):
            yield from [each for each in in_order(inside)[:MOST_VALUES] if isinstance(each, str)]


def _of_containers(error: BaseException, line: str) -> Iterator[Any]:
    """The keys and items of what the failing line names: `TABLE[name]`, `assert name in NAMES`."""
    frame = innermost(error)[0]
    if frame is None:
        return
    known = {*frame.f_locals, *frame.f_globals}
    for name in dict.fromkeys(re.findall(r"[A-Za-z_]\w*", line)):
        if name not in known:
            continue
        value = frame.f_locals.get(name, frame.f_globals.get(name))
        if isinstance(value, (dict, list, tuple, set, frozenset)):
            keys = in_order(value)[:MOST_VALUES]
            if keys and all(isinstance(key, str) for key in keys):
                yield from keys
        elif isinstance(value, str) and name.isupper() and isinstance(error, AssertionError):
            yield value  # a constant: `assert mode in {BINARY, MULTICLASS}`
