"""Finds the models that a program names and does not come to construct: in functions that it has not reached, and in what it calls of
its project.

A script that needs a configuration, a data set or a cluster ends before its model is made; what it would have made is written there.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType
from typing import Any

from ...runtime.foreign_code import attempted
from ...runtime.parsed_source import parsed
from .known_arguments import given_in
from .meant_values import assigned_in, meant, value_of

# from a function of the project into one that it calls, and so on
DEEPEST = 3
MOST_READ = 60
# what a script uses beside its model: those of libraries are never what it is about
_BESIDE = re.compile(r"loss|criteri|metric|transform|augment|schedul|resize|normalize", re.IGNORECASE)

# methods of a class that make or describe an object of it
_MAKES = re.compile(r"from_\w+|(?:load|create|build|make|get|restore)(?:_\w+)?|add_\w*args")
_NAMES = (ast.Name, ast.Attribute)
# what gets a class to tell something of it
_ASKS_OF_CLASSES = frozenset({"isinstance", "issubclass", "super", "hasattr", "getattr", "setattr", "type", "print"})


@dataclass(frozen=True)
class NamedModel:
    """A class of models, its arguments that are known as text, and the line of the program that leads to it."""

    cls: type
    given: dict[str, str]
    line: int


@dataclass(frozen=True)
class _Part:
    """Code that the program may run: ``line`` is where it is called, 0 for the program itself."""

    tree: ast.AST
    names: Mapping[str, Any]
    line: int = 0
    depth: int = 0

    def around(self, call: ast.Call) -> ast.AST:
        """The innermost function that has ``call``; all of the code, where none has."""
        functions = [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        inside = [node for node in functions if node.lineno <= call.lineno <= (node.end_lineno or node.lineno)]
        return max(inside, key=lambda node: node.lineno, default=self.tree)


def named_models(source: str, names: Mapping[str, Any], is_own: Callable[[str], bool]) -> list[NamedModel]:
    """The models that ``source`` constructs somewhere, with ``names`` at its top level; losses last, else the nearest first.

    ``is_own`` tells whether a file is of the project: what its functions and plain classes construct is looked at, too. Classes of the
    program itself are left to who analyzes them where they are defined.
    """
    tree = parsed(source)
    found: dict[type, NamedModel] = {}
    for call, value, part in _calls(tree, names, is_own) if tree is not None else ():
        if is_model(value) and value.__module__ != "__main__" and value not in found:
            found[value] = NamedModel(
                value, given_in(value, call, part.names, tree, part.around(call)), part.line or call.lineno
            )
        owner = _made_by_method(call, part.names)
        if owner is not None and owner.__module__ != "__main__" and owner not in found:
            found[owner] = NamedModel(owner, {}, part.line or call.lineno)
    for call, value, part in _passed(tree, names) if tree is not None else ():
        if value.__module__ != "__main__" and value not in found:
            found[value] = NamedModel(value, given_in(value, call, part.names, tree, part.around(call)), call.lineno)
    return sorted(
        (each for each in found.values() if is_own(_file_of(each.cls)) or not is_beside(each.cls)),
        key=lambda each: is_beside(each.cls),
    )


def _passed(tree: ast.AST, names: Mapping[str, Any]) -> Iterator[tuple[ast.Call, type, _Part]]:
    """The classes of models that the program hands to what makes them, with the arguments that are theirs: `Runner(Net, Data)`."""
    part = _Part(tree, names)
    around = {**names, **_imported_inside(part)}
    for call in _in_order(tree):
        if isinstance(call.func, ast.Name) and call.func.id in _ASKS_OF_CLASSES:
            continue
        for node in (*call.args, *(each.value for each in call.keywords)):
            value = value_of(node, around) if isinstance(node, _NAMES) else None
            if isinstance(value, type) and is_model(value):
                is_partial = node is call.args[0] if call.args else False
                following = call.args[1:] if is_partial and _is_partial(call.func) else []
                yield ast.copy_location(ast.Call(node, following, call.keywords), call), value, part


def _is_partial(function: ast.expr) -> bool:
    return (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")) == "partial"


def _made_by_method(call: ast.Call, names: Mapping[str, Any]) -> type | None:
    """The class of models of which ``call`` calls a method that makes an object: `Net.from_pretrained(path)`."""
    if not isinstance(call.func, ast.Attribute) or _MAKES.fullmatch(call.func.attr) is None:
        return None
    owner = value_of(call.func.value, names)
    return owner if isinstance(owner, type) and is_model(owner) else None


def is_beside(cls: type) -> bool:
    """Whether a class is by its name what a script uses beside its model: `Resize` of torchvision.transforms, `CharbonnierLoss`."""
    return _BESIDE.search(f"{cls.__module__}.{cls.__name__}") is not None


def _file_of(value: Any) -> str:
    return getattr(sys.modules.get(getattr(value, "__module__", None) or ""), "__file__", None) or ""


def _calls(
    tree: ast.AST, names: Mapping[str, Any], is_own: Callable[[str], bool]
) -> Iterator[tuple[ast.Call, Any, _Part]]:
    waiting = deque([_Part(tree, names)])
    read: set[int] = set()
    while waiting:
        part = waiting.popleft()
        part = replace(part, names={**part.names, **_imported_inside(part)})
        names, assigned = part.names, assigned_in(part.tree)
        called = [(call, value) for call in _in_order(part.tree) for value in meant(call.func, names, assigned)]
        for call, value in called:
            yield call, value, part
            if part.depth < DEEPEST and len(read) < MOST_READ and id(value) not in read:
                inside = None if is_model(value) else _part_of(value, part.line or call.lineno, part.depth + 1, is_own)
                if inside is not None:
                    read.add(id(value))
                    waiting.append(inside)


def _in_order(tree: ast.AST) -> list[ast.Call]:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return sorted(calls, key=lambda call: (call.lineno, call.col_offset))


def _part_of(value: Any, line: int, depth: int, is_own: Callable[[str], bool]) -> _Part | None:
    """The source of a function or plain class of the project, the program's own left out: it is read with the program."""
    value = inspect.unwrap(value) if callable(value) and not isinstance(value, type) else value
    value = getattr(value, "__func__", value)
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    if not isinstance(value, (type, FunctionType)) or module is None or module.__name__ == "__main__":
        return None
    if not is_own(_file_of(value)):
        return None
    text = attempted(lambda: textwrap.dedent(inspect.getsource(value)))
    tree = parsed(text) if text is not None else None
    return _Part(tree, vars(module), line, depth) if tree is not None else None


def _imported_inside(part: _Part) -> dict[str, Any]:
    """What the functions of ``part`` import by themselves."""
    found: dict[str, Any] = {}
    package = part.names.get("__package__") or ""
    for node in ast.walk(part.tree):
        if isinstance(node, ast.ImportFrom):
            module = _module("." * node.level + (node.module or ""), package)
            for alias in node.names:
                value = getattr(module, alias.name, None) if module is not None else None
                if value is not None:
                    found[alias.asname or alias.name] = value
        elif isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                module = _module(alias.name if alias.asname else name, package) if name not in part.names else None
                if module is not None:
                    found[name] = module
    return {name: value for name, value in found.items() if name not in part.names}


def _module(name: str, package: str) -> ModuleType | None:
    return attempted(lambda: importlib.import_module(name, package or None))


def is_model(value: Any) -> bool:
    """Whether it is a class of models, and none of torch's own."""
    import torch

    is_module = isinstance(value, type) and issubclass(value, torch.nn.Module)
    return is_module and not value.__module__.startswith("torch.")
