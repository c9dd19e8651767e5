"""Finds methods that must be called before ``forward``: they set what it reads and what the constructor leaves unset."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

MAX_METHODS = 3
MAX_READ = 40


def preparing_methods(made: Any, method: str) -> Iterator[str]:
    """Names of methods of ``made`` that set attributes which ``method`` reads and which are unset: those that set most first."""
    functions = _functions_of(type(made))
    read = _read_by(functions, method)
    unset = {name for name in read if _is_unset(made, name)}
    if not unset:
        return
    found: list[tuple[int, str]] = []
    for name, tree in functions.items():
        if name in ("__init__", method) or name.startswith("__") or name in _called_by(functions, method):
            continue
        count = len(_set_in(tree) & unset)
        if count:
            found.append((-count, name))
    yield from [name for _, name in sorted(found, key=lambda pair: pair[0])][:MAX_METHODS]


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
            try:
                found[name] = ast.parse(textwrap.dedent(inspect.getsource(function)))
            except (OSError, TypeError, SyntaxError):
                continue
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
