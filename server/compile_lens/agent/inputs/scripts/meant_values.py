"""Tells what an expression of a program that has not run may mean: a name, an item of a table, what a registry or a module has by name.

Nothing is called or asked for that: tables are read where programs keep them, in dictionaries and in the attributes of objects.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

from ...runtime.foreign_code import attempted
from ..importing.absent import Absent

# of a table whose key is not known
MOST_OF_TABLE = 2
# from a name to what it is assigned, and so on
DEEPEST = 4
# methods by which tables and registries give what a name stands for
_LOOK_UP = frozenset({"get", "pop", "build", "create", "make", "lookup", "get_class", "__getitem__", "setdefault"})


def meant(node: ast.expr, names: Mapping[str, Any], assigned: Mapping[str, ast.expr], depth: int = 0) -> list[Any]:
    """What ``node``, which is called, may be, the likeliest first. ``assigned`` is what the code around it binds to its own names."""
    if depth > DEEPEST:
        return []
    if isinstance(node, ast.Name) and node.id not in names and node.id in assigned:
        return meant(assigned[node.id], names, assigned, depth + 1)
    if isinstance(node, ast.IfExp):
        return [each for part in (node.body, node.orelse) for each in meant(part, names, assigned, depth + 1)]
    if isinstance(node, ast.Subscript):
        return _items(node.value, node.slice, names, assigned)
    if isinstance(node, ast.Call):
        return _looked_up(node, names, assigned)
    found = value_of(node, names)
    if found is None and is_registry(node, names) and isinstance(node, ast.Attribute):
        return _items(node.value, None, names, assigned)  # `REGISTRY.build(options)`
    return [] if found is None else [found]


def is_registry(function: ast.expr, names: Mapping[str, Any]) -> bool:
    """Whether what is called is a method of a registry, which is passed a name, and not what the name stands for."""
    return isinstance(function, ast.Attribute) and function.attr in _LOOK_UP and value_of(function, names) is None


def value_of(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """What a plain or dotted name means; None where it means nothing yet."""
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    value = names.get(node.id)
    for name in reversed(path):
        if not isinstance(value, (ModuleType, type)):
            return None  # to ask an object may run its code
        value = getattr(value, name, None)
    return None if type(value) is Absent else value


def assigned_in(tree: ast.AST) -> dict[str, ast.expr]:
    """The first expression that is assigned to each plain name somewhere in ``tree``."""
    found: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, node.value)
    return found


def _looked_up(call: ast.Call, names: Mapping[str, Any], assigned: Mapping[str, ast.expr]) -> list[Any]:
    """What `TABLE.get(name)`, `getattr(module, name)` and the like may return."""
    first = call.args[0] if call.args else None
    if isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) >= 2:
        module = value_of(call.args[0], names)
        return _of_module(module, _text(call.args[1])) if isinstance(module, ModuleType) else []
    if isinstance(call.func, ast.Attribute) and call.func.attr in _LOOK_UP:
        return _items(call.func.value, first, names, assigned)
    return []


def _items(
    table: ast.expr, key: ast.expr | None, names: Mapping[str, Any], assigned: Mapping[str, ast.expr]
) -> list[Any]:
    """The item of a table, or its first items where the key is not known."""
    if isinstance(table, ast.Name) and table.id not in names and table.id in assigned:
        table = assigned[table.id]
    wanted = _text(key)
    if isinstance(table, ast.Dict):
        written = dict(zip(map(_text, table.keys), table.values, strict=True))
        nodes = [written[wanted]] if wanted in written else list(written.values())
        return [each for node in nodes for each in meant(node, names, assigned, DEEPEST)][:MOST_OF_TABLE]
    for items in _tables(value_of(table, names)):
        found = dict.get(items, wanted)
        return [found] if found is not None else [*itertools.islice(dict.values(items), MOST_OF_TABLE)]
    return []


def _tables(value: Any) -> Iterator[dict[Any, Any]]:
    """A dictionary, or those that an object of a registry's class keeps classes and functions in."""
    if isinstance(value, dict):
        yield value
        return
    if value is None or isinstance(value, (type, ModuleType, FunctionType)):
        return
    attributes = attempted(lambda: object.__getattribute__(value, "__dict__"))
    for each in attributes.values() if isinstance(attributes, dict) else ():
        if (
            isinstance(each, dict)
            and each
            and all(isinstance(item, (type, FunctionType)) for item in dict.values(each))
        ):
            yield each


def _of_module(module: ModuleType, name: str | None) -> list[Any]:
    """What ``name`` is in a module; where it is not known, the classes that the module, or its package, defines."""
    if name is not None:
        found = vars(module).get(name)
        return [] if found is None else [found]
    own = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and f"{value.__module__}.".startswith(f"{module.__name__}.")
    ]
    return own[:MOST_OF_TABLE]


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
