"""Reads from docstrings which texts a parameter takes: `pooling (str): one of 'mean', 'max'`, `mode : {'sum', 'none'}`."""

from __future__ import annotations

import functools
import inspect
import re
from typing import Any

from ....runtime.foreign_code import attempted

MOST = 6
# a description goes on until the next parameter, an empty line or so many lines
MOST_LINES = 5
_PARAMETER = re.compile(
    r"^\s*(?:[-*] )?(?::(?:param|arg|type)\s+(?:[\w.\[\]]+\s+)?(?P<sphinx>\w+)\s*:"
    r"|`{0,2}(?P<plain>[A-Za-z_]\w*)`{0,2}\s*(?:\([^()\n]*\))?\s*:)(?P<rest>.*)$"
)
_LISTING = re.compile(
    r"\b(?:one of|either|any of|options?|choices?|choose|can be|could be|must be|should be|supports?|supported|available|allowed"
    r"|valid|possible)\b|\{",
    re.I,
)
_TEXT = re.compile(r"""(?:'([\w.+-]{1,30})'|"([\w.+-]{1,30})"|``?([a-z][\w.+-]{0,29})``?)""")


@functools.lru_cache(maxsize=256)
def listed_texts(subject: Any) -> dict[str, tuple[str, ...]]:
    """For parameters of a class or function, the texts that its docstrings list for them, two or more, in their order."""
    found: dict[str, tuple[str, ...]] = {}
    for documented in (subject, getattr(subject, "__init__", None)):
        text = attempted(functools.partial(inspect.getdoc, documented)) or ""
        for name, description in _descriptions(text):
            listing = _LISTING.search(description)
            texts = _TEXT.findall(description[listing.start() :]) if listing is not None else []
            values = tuple(dict.fromkeys(next(filter(None, groups)) for groups in texts))
            # one text in quotes may be anything
            if len(values) > 1:
                found.setdefault(name, values[:MOST])
    return found


def _descriptions(text: str) -> list[tuple[str, str]]:
    """The parameters in a docstring, and what it says of each."""
    found: list[tuple[str, list[str]]] = []
    is_open = False
    for line in text.splitlines():
        match = _PARAMETER.match(line)
        if match is not None:
            found.append((match["sphinx"] or match["plain"], [match["rest"]]))
            is_open = True
        elif is_open and line.strip() and len(found[-1][1]) < MOST_LINES:
            found[-1][1].append(line.strip())
        else:
            is_open = False
    return [(name, " ".join(lines)) for name, lines in found]
