"""Finds methods that must be called before ``forward``: they set what it reads and what the constructor leaves unset."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from typing import Any

from ....runtime.parsed_source import parsed_source_of
from ..errors.failing_lines import failing_line

MAX_METHODS = 3
MAX_READ = 40
_FILLING = frozenset({"append", "extend", "update", "add", "insert", "setdefault"})


def after_method(name: str) -> str:
    """How what is said of a call begins that has come further with the method ``name`` before it."""
    return f"`{name}()` must be called first, and after that:"


def preparing_methods(made: Any, method: str, error: BaseException | None = None) -> Iterator[str]:
    """Names of methods of ``made`` that may have to come before ``method``.

    Those that ``error`` names come first, then those that set what the line which raised it reads, then those that set most of the
    attributes which ``method`` reads and which are unset.
    """
    functions = _functions_of(type(made))
    inside = _called_by(functions, method) | {"__init__", method}
    others = {n: tree for n, tree in functions.items() if n not in inside and not n.startswith("__")}
    unset = {name for name in _read_by(functions, method) if _is_unset(made, name)}
    failing = set(re.findall(r"\bself\.(\w+)", failing_line(error))) if error is not None else set()
    told = set(re.findall(r"\w{4,}", str(error))) if isinstance(error, Exception) else set()
    found: list[tuple[bool, int, int, str]] = []
    for name, tree in others.items():
        is_set = _set_in(tree)
        rank = (name not in told, -len((is_set | _filled_in(tree)) & failing), -len(is_set & unset), name)
        if rank[:3] != (True, 0, 0):
            found.append(rank)
    yield from [rank[3] for rank in sorted(found, key=lambda rank: rank[:3])][:MAX_METHODS]


def _functions_of(cls: type) -> dict[str, ast.AST]:
    """The methods of a class and of its bases that are not torch's, by name."""
    found: dict[str, ast.AST] = {}
    for base in cls.__mro__:
        if base is object or base.__module__.partition(".")[0] == "torch":
            continue
        for name, value in vars(base).items():
            function = inspect.unwrap(value) if callable(value) else None
            if name in found or not inspect.isfunction(function):
                continue
            tree = parsed_source_of(function)
            if tree is not None:
                found[name] = tree
    return found


def _called_by(functions: dict[str, ast.AST], method: str) -> set[str]:
    """Methods that ``method`` calls on ``self``, and those that they call."""
    found: set[str] = set()
    waiting = [method]
    while waiting and len(found) < MAX_READ:
        tree = functions.get(waiting.pop())
        for name in _attributes(tree, ast.Load) if tree is not None else ():
            if name in functions and name not in found:
                found.add(name)
                waiting.append(name)
    return found


def _read_by(functions: dict[str, ast.AST], method: str) -> set[str]:
    trees = [functions[name] for name in (method, *_called_by(functions, method)) if name in functions]
    return {name for tree in trees for name in _attributes(tree, ast.Load)} - functions.keys()


def _set_in(tree: ast.AST) -> set[str]:
    buffers = {
        str(node.args[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("register_buffer", "register_parameter", "add_module")
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    return buffers | set(_attributes(tree, ast.Store))


def _filled_in(tree: ast.AST) -> set[str]:
    """Attributes of ``self`` that get items: `self.states["h"] = …`, `self.rows.append(…)`."""
    found: set[str] = set()
    for node in ast.walk(tree):
        owner: ast.AST | None = None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            owner = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING:
            owner = node.func.value
        if isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name) and owner.value.id == "self":
            found.add(owner.attr)
    return found


def _attributes(tree: ast.AST, context: type[ast.expr_context]) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, context):
            continue
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            yield node.attr


def _is_unset(made: Any, name: str) -> bool:
    try:
        return getattr(made, name) is None
    except AttributeError:
        return True
    except Exception:  # a property of the user's may raise anything
        return False
