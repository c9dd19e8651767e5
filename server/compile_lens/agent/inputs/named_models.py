"""Finds the models that a program names and does not come to construct: in functions that it has not reached, and in what it calls of
its project.

A script that needs a configuration, a data set or a cluster ends before its model is made; what it would have made is written there.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import re
import sys
import textwrap
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from ..runtime.foreign_code import attempted
from ..runtime.parsed_source import parsed
from .absent import Absent
from .synthesis.arguments import literal
from .synthesis.signatures import read_parameters

# from a function of the project into one that it calls, and so on
DEEPEST = 3
MOST_READ = 60
MOST_OF_TABLE = 2
# what a script uses beside its model: those of libraries are never what it is about
_BESIDE = re.compile(r"loss|criteri|metric|transform|augment|schedul|resize|normalize", re.IGNORECASE)


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


def named_models(source: str, names: Mapping[str, Any], is_own: Callable[[str], bool]) -> list[NamedModel]:
    """The models that ``source`` constructs somewhere, with ``names`` at its top level; losses last, else the nearest first.

    ``is_own`` tells whether a file is of the project: what its functions and plain classes construct is looked at, too. Classes of the
    program itself are left to who analyzes them where they are defined.
    """
    tree = parsed(source)
    found: dict[type, NamedModel] = {}
    for call, value, part in _calls(tree, names, is_own) if tree is not None else ():
        if _is_model(value) and value.__module__ != "__main__" and value not in found:
            found[value] = NamedModel(value, _given(value, call, part), part.line or call.lineno)
    return sorted(
        (each for each in found.values() if is_own(_file_of(each.cls)) or not is_beside(each.cls)),
        key=lambda each: is_beside(each.cls),
    )


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
        imported = _imported_inside(part)
        called = [
            (call, value) for call in _in_order(part.tree) for value in _meant(call.func, {**part.names, **imported})
        ]
        for call, value in called:
            yield call, value, part
            if part.depth < DEEPEST and len(read) < MOST_READ and id(value) not in read:
                inside = None if _is_model(value) else _part_of(value, part.line or call.lineno, part.depth + 1, is_own)
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


def _meant(node: ast.expr, names: Mapping[str, Any]) -> list[Any]:
    """What an expression that is called may be; of `MODELS[options.name]`, the first values of the table."""
    if isinstance(node, ast.Subscript):
        table = _value(node.value, names)
        return [*itertools.islice(dict.values(table), MOST_OF_TABLE)] if isinstance(table, dict) else []
    value = _value(node, names)
    return [] if value is None else [value]


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
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


def _is_model(value: Any) -> bool:
    import torch

    is_module = isinstance(value, type) and issubclass(value, torch.nn.Module)
    return is_module and not value.__module__.startswith("torch.")


def _given(cls: type, call: ast.Call, part: _Part) -> dict[str, str]:
    """The arguments that are written as constants, or are constants of the module."""
    names = [info.name for info in read_parameters(getattr(cls, "__init__"), skip_first=True)]  # noqa: B009
    passed = dict(zip(names, call.args, strict=False)) | {each.arg: each.value for each in call.keywords if each.arg}
    found: dict[str, str] = {}
    for name, node in passed.items():
        value = attempted(lambda node=node: ast.literal_eval(node))  # type: ignore[misc]
        text = literal(_value(node, part.names) if value is None else value)
        if text is not None and text != "None":
            found[name] = text
    return found
