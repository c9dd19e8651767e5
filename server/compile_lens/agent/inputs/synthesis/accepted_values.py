"""Reads from the source of a class which texts it accepts for a parameter: those it compares it with, or looks it up among."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import textwrap
import typing
from collections.abc import Iterator
from typing import Any

from ...runtime.foreign_code import attempted

MOST = 12


def literal_of(hint: Any) -> Any:
    """The first value of a ``Literal[…]``, also in ``Optional``; None for other hints."""
    if typing.get_origin(hint) is typing.Literal:
        return typing.get_args(hint)[0]
    return next((found for each in typing.get_args(hint) if (found := literal_of(each)) is not None), None)


@functools.lru_cache(maxsize=256)
def accepted_texts(cls: type) -> dict[str, tuple[str, ...]]:
    """For the names of parameters and attributes of ``cls``, the texts that its methods compare them with, in their order."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return {}
    names = vars(sys.modules.get(cls.__module__, typing))
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        for name, texts in _compared(node, names):
            found.setdefault(name, []).extend(texts)
    return {name: tuple(dict.fromkeys(texts))[:MOST] for name, texts in found.items() if texts}


def _compared(node: ast.AST, names: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Names, and the texts that ``node`` compares them with."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        subject, other = node.left, node.comparators[0]
        if isinstance(subject, ast.Constant):
            subject, other = other, subject
        name = _name(subject)
        if name and isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is)):
            yield name, _texts(other, names)
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        name = _name(node.slice)
        if name:
            yield name, _texts(node.value, names)
    elif isinstance(node, ast.Match):
        name = _name(node.subject)
        patterns = [p.value for case in node.cases for p in ast.walk(case.pattern) if isinstance(p, ast.MatchValue)]
        if name:
            yield name, [text for pattern in patterns for text in _texts(pattern, names)]


def _name(node: ast.expr) -> str:
    """``mode`` for ``mode``, ``self.mode`` and ``mode.lower()``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("lower", "upper"):
        node = node.func.value
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _texts(node: ast.expr, names: dict[str, Any]) -> list[str]:
    """The texts in a display, or among the keys and items of a container of the module."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.Dict):
        return [text for key in node.keys if key is not None for text in _texts(key, {})]
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [text for item in node.elts for text in _texts(item, {})]
    value = names.get(node.id) if isinstance(node, ast.Name) else None
    if isinstance(value, (dict, list, tuple, set, frozenset)):
        items = attempted(lambda: list(value)[:MOST]) or []
        return [item for item in items if isinstance(item, str)]
    return []
