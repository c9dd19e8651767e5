"""Reads types from docstrings, for parameters without an annotation: `:param int width:`, `net (nn.Module): …`, `sizes : list of int`."""

from __future__ import annotations

import builtins
import inspect
import re
import sys
from collections.abc import Iterable
from typing import Any

from ....runtime.foreign_code import attempted

_WRITTEN = (
    re.compile(r"^\s*:(?:param|arg)\s+(?P<type>[\w.\[\], |]+?)\s+(?P<name>\w+)\s*:"),
    re.compile(r"^\s*:type\s+(?P<name>\w+)\s*:\s*(?P<type>.+)$"),
    re.compile(r"^\s*\*{0,2}(?P<name>\w+)\s*\((?P<type>[^()\n]+(?:\([^)]*\)[^()\n]*)*)\)\s*:"),
    re.compile(r"^\s*(?P<name>\w+)\s+:\s+(?P<type>\S.*)$"),
    # `units: list of int, sizes of hidden layers`: a word of Python's own comes before the comma
    re.compile(
        r"^\s*\*{0,2}(?P<name>\w+):\s+(?P<type>(?:(?:list|tuple|sequence)s? of )*(?:integer|int|float|boolean|bool|string|str|list)s?)"
        r"\s*(?:[,.;(]|$)",
        re.I,
    ),
)
_ROLE = re.compile(r":\w+(?::\w+)?:`~?([\w.]+)`|`+~?([\w.]+)`+")
_SEVERAL = re.compile(
    r"(?P<of>list|tuple|sequence|iterable)s?(?:\s+of\s+|\[|\()(?P<item>[\w.]+?)s?(?P<rest>[\]),\s].*|$)", re.I
)
_PLAIN = {
    "integer": int,
    "int": int,
    "float": float,
    "double": float,
    "bool": bool,
    "boolean": bool,
    "str": str,
    "string": str,
    "dict": dict,
    "list": list,
    "tuple": tuple,
    "callable": callable,
}


def types_in_docstring(text: str, names: Iterable[str], function: Any) -> dict[str, Any]:
    """The types, as hints, that the docstring ``text`` of ``function`` gives for the parameters ``names``."""
    wanted = set(names)
    found: dict[str, Any] = {}
    for line in text.splitlines():
        for pattern in _WRITTEN:
            match = pattern.match(line)
            if match is not None and match["name"] in wanted and match["name"] not in found:
                hint = _hint(match["type"], function)
                if hint is not None:
                    found[match["name"]] = hint
                break
    return found


def _hint(written: str, function: Any) -> Any:
    """The class or generic alias that ``written`` means; None where that is not certain."""
    text = _ROLE.sub(lambda match: match[1] or match[2], written).strip()
    several = _SEVERAL.match(text)
    if several is not None:
        item = _item(several, function)
        if item is None:
            return None
        return tuple[item, ...] if several["of"].lower() == "tuple" else list[item]  # type: ignore[valid-type]
    first = re.split(r"\s*(?:,|\||;|\bor\b|\boptional\b)\s*", text)[0]
    found = _class(first.strip("*. "), function)
    return found if isinstance(found, type) and found not in (list, tuple, dict) else None


def _item(several: re.Match[str], function: Any) -> Any:
    """What `list of …` is a list of; a list of lists is one of numbers if nothing else is said."""
    inner = _SEVERAL.match(several["item"] + several["rest"])
    if inner is not None:
        item = _item(inner, function)
        return list[item] if item is not None else None  # type: ignore[valid-type]
    found = _class(several["item"], function)
    if found is list:
        return list[int]
    return found if isinstance(found, type) else None


def _class(name: str, function: Any) -> Any:
    """The class that ``name`` means where ``function`` is written, or, with its full name, in what is loaded."""
    if name.lower() in _PLAIN:
        return _PLAIN[name.lower()]
    if re.fullmatch(r"[A-Za-z_][\w.]*", name) is None or hasattr(builtins, name):
        return None
    if name in ("Tensor", "torch.Tensor", "torch.tensor", "tensor"):
        name = "torch.Tensor"
    first, *rest = name.split(".")
    names = getattr(inspect.unwrap(function), "__globals__", {})
    for start in (names.get(first), sys.modules.get(first)):
        found: Any = start
        for part in rest:
            found = attempted(lambda owner=found, part=part: getattr(owner, part))  # type: ignore[misc]
        if isinstance(found, type):
            return found
    return None
