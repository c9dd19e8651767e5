"""Reads from source which texts are accepted for a parameter: those it is compared with, or looked up among."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import typing
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed_source_of

MOST = 12
# how often a parameter is passed on
MAX_DEPTH = 3


def literal_of(hint: Any) -> Any:
    """The first value of a ``Literal[…]``, also in ``Optional``; None for other hints."""
    if typing.get_origin(hint) is typing.Literal:
        return typing.get_args(hint)[0]
    return next((found for each in typing.get_args(hint) if (found := literal_of(each)) is not None), None)


@functools.lru_cache(maxsize=256)
def accepted_texts(subject: Any, depth: int = 0) -> dict[str, tuple[str, ...]]:
    """For the names of parameters and attributes of a class or function, the texts that its source compares them with, in their order;
    of those that it passes on, also those that the callee compares them with."""
    tree = parsed_source_of(subject)
    if tree is None:
        return {}
    names = vars(sys.modules.get(subject.__module__, typing))
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        for name, texts in _compared(node, names):
            found.setdefault(name, []).extend(texts)
    for node in ast.walk(tree) if depth < MAX_DEPTH else ():
        if isinstance(node, ast.Call):
            for name, accepted in _passed_on(node, subject, names, depth):
                found.setdefault(name, []).extend(accepted)
    return {name: tuple(dict.fromkeys(texts))[:MOST] for name, texts in found.items() if texts}


@functools.lru_cache(maxsize=16)
def texts_of_attributes(module: ModuleType) -> dict[str, tuple[str, ...]]:
    """For names of attributes of whatever object, the texts that the source of ``module`` compares them with: `args.kind == "gru"`."""
    tree = parsed_source_of(module)
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if not isinstance(node, ast.Compare) or not isinstance(node.left, ast.Attribute):
            continue
        if isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
            found.setdefault(node.left.attr, []).extend(_texts(node.comparators[0], vars(module)))
    return {name: tuple(dict.fromkeys(texts))[:MOST] for name, texts in found.items() if texts}


def compared_in(code: CodeType, names: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """For each name in the source of ``code``, the texts that it is compared with there."""
    tree = parsed_source_of(code)
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree) if tree is not None else ():
        for name, texts in _compared(node, names):
            found.setdefault(name, []).extend(texts)
    return {name: tuple(dict.fromkeys(texts))[:MOST] for name, texts in found.items() if texts}


def _passed_on(
    node: ast.Call, subject: Any, names: dict[str, Any], depth: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names that a call passes to a class or function of the same package, and the texts that those compare them with."""
    passed = {keyword.arg: _name(keyword.value) for keyword in node.keywords if keyword.arg}
    positional = [_name(argument) for argument in node.args]
    if not any((*passed.values(), *positional)):
        return
    callee = _callee(node.func, subject, names)
    if callee is None or callee is subject:
        return
    if positional:
        try:
            parameters = list(inspect.signature(callee).parameters)
        except (TypeError, ValueError):
            return
        passed = {**dict(zip(parameters, positional, strict=False)), **passed}
    accepted = accepted_texts(callee, depth + 1)
    for parameter, name in passed.items():
        if name and parameter in accepted:
            yield name, accepted[parameter]


def _callee(node: ast.expr, subject: Any, names: dict[str, Any]) -> Any:
    """The class or function of the same package that ``node`` names: `Layer`, `layers.Layer`, `super().__init__`."""
    found: Any
    if isinstance(node, ast.Name):
        found = names.get(node.id)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        found = vars(names[node.value.id]).get(node.attr) if isinstance(names.get(node.value.id), ModuleType) else None
    elif isinstance(node, ast.Attribute) and node.attr == "__init__" and isinstance(subject, type):
        found = subject.__mro__[1]
    else:
        return None
    if not isinstance(found, (type, FunctionType)):
        return None
    return found if found.__module__.partition(".")[0] == subject.__module__.partition(".")[0] else None


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
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "get" and node.args:
        # what is not found is missed later: `scale = SCALES.get(name)`
        name = _name(node.args[0])
        if name and isinstance(node.func, ast.Attribute):
            yield name, _texts(node.func.value, names)
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
        items = attempted(lambda: in_order(value)[:MOST]) or []
        return [item for item in items if isinstance(item, str)]
    return []


def in_order(container: Iterable[Any]) -> list[Any]:
    """The keys or items; those of a set sorted, since it has another order in each process."""
    return sorted(container, key=repr) if isinstance(container, (set, frozenset)) else list(container)
