"""Finds classes of a project, and of the libraries that a file uses, by what is read of a parameter: `model.encode(x)`, `model.width`."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import os
import re
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed_source_of
from .concrete_classes import leaves_methods_open
from .heirs import heirs
from .own_classes import mentions
from .package_files import LEFT_OUT, package_files, statements_mentioning

MOST_CLASSES = 3
# modules that are imported to look at their classes
MOST_IMPORTS = 4
# of a library, one that any class may have says nothing
LEAST_OF_LIBRARY = 2
# what these define is in every program, and is no part that somebody has written for it
_NO_LIBRARY = frozenset({"torch", "numpy", "types", *sys.stdlib_module_names})


def members_read(module: ModuleType, cls: type, name: str) -> tuple[str, ...]:
    """What is read of the variables ``name``, and of what objects keep under that name, in ``cls``, its bases and the functions of
    ``module``."""
    tree = parsed_source_of(module)
    others = [each for each in vars(module).values() if isinstance(each, type) and each not in cls.__mro__]
    left_out = {each.__name__ for each in others}
    statements = [each for each in getattr(tree, "body", ()) if getattr(each, "name", "") not in left_out]
    found = (
        node.attr
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and _name(node.value) == name
    )
    known = _of_modules()
    return tuple(sorted({each for each in found if each not in known}))


def classes_with(member: str, read: Sequence[str], module: ModuleType, without: type) -> list[type]:
    """Classes that define or set ``member``, those first that have most of what is ``read``; never ``without``, whose parameter it is.

    Those of the package of ``module`` come before those of the libraries that it imports, and a class that leaves methods to others after
    those that inherit from it.
    """
    found: list[type] = []
    for cls in _of_package(member, read, module):
        is_open = not _can_be_made(cls) or leaves_methods_open(cls)
        inheriting = [heir for _, heir in heirs(module, cls)]
        found += [*inheriting, cls] if is_open else [cls, *inheriting]
    found += _of_libraries(member, read, module)
    usable = [cls for cls in dict.fromkeys(found) if cls is not without and _can_be_made(cls)]
    return usable[:MOST_CLASSES]


def _can_be_made(cls: type) -> bool:
    """Whether objects of ``cls`` can be made; one without ``forward`` is read, and not called."""
    return not (inspect.isabstract(cls) or getattr(cls, "_is_protocol", False))


def _of_package(member: str, read: Sequence[str], module: ModuleType) -> Iterator[type]:
    """The classes of the package of ``module`` that define or set ``member`` themselves; modules are imported for it."""
    if getattr(module, "__file__", None) is None:
        return  # its text is in no file
    file = os.path.abspath(str(module.__file__))
    found: list[tuple[int, str, str]] = []
    for path, dotted in package_files(file, module.__name__):
        is_own = path == file
        if LEFT_OUT.search(path) and not is_own:
            continue
        for node in statements_mentioning(path, rf"\b{re.escape(member)}\b"):
            own = _defined(node) if isinstance(node, ast.ClassDef) else frozenset()
            if isinstance(node, ast.ClassDef) and member in own:
                found.append((-len(own & {*read}), module.__name__ if is_own else dotted, node.name))
    found.sort(key=lambda each: each[0])
    names = list(dict.fromkeys(dotted for _, dotted, _ in found))[:MOST_IMPORTS]
    for _, dotted, name in found:
        source = attempted(functools.partial(importlib.import_module, dotted)) if dotted in names else None
        cls = vars(source).get(name) if source is not None else None
        if isinstance(cls, type):
            yield cls


def _of_libraries(member: str, read: Sequence[str], module: ModuleType) -> list[type]:
    """The classes of loaded libraries, of those that ``module`` imports, that have ``member`` and whatever else is read."""
    wanted = {member, *read}
    if len(wanted) < LEAST_OF_LIBRARY:
        return []
    own = module.__name__.partition(".")[0]
    used = {_package_of(value) for value in vars(module).values()} - _NO_LIBRARY - {"", own}
    loaded = [each for name, each in sorted(sys.modules.items()) if name.partition(".")[0] in used]
    classes = {
        value: None
        for each in loaded
        for value in list(getattr(each, "__dict__", {}).values())
        if isinstance(value, type) and value.__module__ == each.__name__
    }
    return [cls for cls in classes if all(any(mentions(base, name) for base in cls.__mro__) for name in wanted)]


def _package_of(value: Any) -> str:
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return name.partition(".")[0] if isinstance(name, str) else ""


def _defined(cls: ast.ClassDef) -> frozenset[str]:
    """The names that a class defines, and those that its methods set of an object."""
    found: set[str] = set()
    for each in cls.body:
        targets = (
            each.targets if isinstance(each, ast.Assign) else [each.target] if isinstance(each, ast.AnnAssign) else []
        )
        found.update(target.id for target in targets if isinstance(target, ast.Name))
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(each.name)
    for node in ast.walk(cls):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and getattr(node.value, "id", "") == "self"
        ):
            found.add(node.attr)
    return frozenset(found)


def _name(node: ast.expr) -> str:
    """``model`` for `model` and `self._model`."""
    if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self":
        return node.attr.strip("_")
    return node.id if isinstance(node, ast.Name) else ""


@functools.cache
def _of_modules() -> frozenset[str]:
    import torch

    return frozenset(dir(torch.nn.Module()))
