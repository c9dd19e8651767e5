"""Finds the models that a program is about where it constructs none that is known: those that it imports, and what it calls of a module
that is not there, in another file of its project.

A script that gets its model from a registry of another package, or a file that only trains one, imports it or what uses it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

from ...runtime.foreign_code import attempted
from ...runtime.parsed_source import parsed, parsed_file
from ..importing.absent import Stub, cause_of
from ..importing.module import package_of
from ..synthesis.project.concrete_classes import is_abstract, method_instead
from ..synthesis.project.project_files import files_mentioning
from .known_arguments import given_in
from .named_models import NamedModel, is_beside, is_model

# from a module of the project into those that it imports, and so on
DEEPEST = 3
MOST_MODULES = 40
MOST_NAMES = 6


@dataclass(frozen=True)
class ImportedModel:
    """A model, the file that defines it, and the module from which the program would have imported it, '' where it is there."""

    model: NamedModel
    file: str
    missing: str = ""


@dataclass(frozen=True)
class _Import:
    """A name that is imported of a module, and the line."""

    name: str
    module: str
    line: int


def imported_models(
    source: str, names: Mapping[str, Any], page: str, is_own: Callable[[str], bool]
) -> Iterator[ImportedModel]:
    """The models that ``source``, the text of ``page``, imports, with ``names`` at its top level, the nearest first.

    First come those of the project that have the name of one whose module is not there, then those that it imports by name, then those
    of modules of the project that it imports: of one module those that use most of it, without their parts. None where the program
    defines a model itself: it is about that one. ``is_own`` tells whether a file is of the project.
    """
    tree = parsed(source)
    if tree is None or any(_defines_model(node) for node in tree.body):
        return
    seen: set[type] = set()
    for found in (*_elsewhere(tree, names, page), *_near(tree, names, is_own)):
        if found.model.cls not in seen:
            seen.add(found.model.cls)
            yield found


def _defines_model(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef) and any(getattr(each, "name", "") == "forward" for each in node.body)


def _elsewhere(tree: ast.Module, names: Mapping[str, Any], page: str) -> Iterator[ImportedModel]:
    """Classes of the project with the name of what ``tree`` imports of a module that is not there, those first that it calls."""
    missing = {
        alias.asname or alias.name: _Import(alias.name, "." * node.level + (node.module or ""), node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name != "*" and _is_missing(names.get(alias.asname or alias.name))
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    called = {call.func.id: call for call in reversed(calls) if isinstance(call.func, ast.Name)}
    for name in sorted(missing, key=lambda each: (each not in called, missing[each].line))[:MOST_NAMES]:
        cls = _class_of_project(missing[name].name, page)
        if cls is not None and not is_beside(cls):
            call = called.get(name)
            given, line = (given_in(cls, call, names), call.lineno) if call is not None else ({}, missing[name].line)
            yield ImportedModel(NamedModel(cls, given, line), _file_of(cls.__module__), missing[name].module)


def _is_missing(value: Any) -> bool:
    """Whether ``value`` is there for what could not be imported."""
    cause = value._compile_lens_error if isinstance(value, Stub) else cause_of(value)
    return isinstance(cause, ImportError)


def _class_of_project(name: str, page: str) -> type | None:
    """The class of models called ``name`` of the project, the nearest one, which is imported for that."""
    pattern = re.compile(rf"^class {re.escape(name)}\b", re.MULTILINE)
    for each in files_mentioning(page, os.path.splitext(os.path.basename(page))[0], f"class {name}"):
        if each.path == page or not each.path.endswith(".py") or pattern.search(each.text) is None:
            continue
        folder, dotted = package_of(each.path, each.text)
        if folder not in sys.path:
            sys.path.append(folder)
        cls = vars(_imported(dotted) or ModuleType("")).get(name)
        if isinstance(cls, type) and is_model(cls) and not is_abstract(cls):
            return cls
    return None


def _imported(name: str) -> ModuleType | None:
    return attempted(lambda: importlib.import_module(name))


def _near(tree: ast.Module, names: Mapping[str, Any], is_own: Callable[[str], bool]) -> Iterator[ImportedModel]:
    """The models that ``tree`` imports by name, then those of modules of the project, by how many imports lead there."""
    lines = _lines_of_imports(tree)
    by_name = [value for name, value in names.items() if name in lines and _is_own_model(value, is_own)]
    line_of = {id(names[name]): line for name, line in lines.items() if name in names}
    for cls in _outermost(by_name):
        yield _found(cls, line_of.get(id(cls), 1))
    waiting = [(module, 1, line) for module, line in _own_modules_in(tree, names, is_own)]
    read: set[str] = set()
    while waiting and len(read) < MOST_MODULES:
        module, depth, line = waiting.pop(0)
        if module.__name__ in read:
            continue
        read.add(module.__name__)
        values = list(vars(module).values())
        own = [each for each in values if _is_own_model(each, is_own) and each.__module__ == module.__name__]
        for cls in _outermost(own):
            yield _found(cls, line)
        if depth < DEEPEST:
            waiting += [(each, depth + 1, line) for value in values for each in _module_of(value, is_own)]


def _found(cls: type, line: int) -> ImportedModel:
    return ImportedModel(NamedModel(cls, {}, line), _file_of(cls.__module__))


def _is_own_model(value: Any, is_own: Callable[[str], bool]) -> bool:
    if not isinstance(value, type) or not is_model(value) or value.__module__ == "__main__" or is_beside(value):
        return False
    can_run = not is_abstract(value) or (not getattr(value, "__abstractmethods__", None) and method_instead(value))
    return bool(can_run) and is_own(_file_of(value.__module__))


def _lines_of_imports(tree: ast.Module) -> dict[str, int]:
    """The names that the imports at the top level bind, with their lines; all that `import *` binds is not known here."""
    found: dict[str, int] = {}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                found.setdefault(alias.asname or alias.name.partition(".")[0], node.lineno)
    return found


def _own_modules_in(
    tree: ast.Module, names: Mapping[str, Any], is_own: Callable[[str], bool]
) -> Iterator[tuple[ModuleType, int]]:
    """The modules of the project that ``tree`` imports, or imports something of, also in functions, with the lines."""
    package = names.get("__package__") or ""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            full = attempted(lambda: importlib.util.resolve_name(relative, package)) or ""  # noqa: B023
            inside = [f"{full}.{alias.name}" for alias in node.names]
            wanted = [full, *(each for each in inside if each in sys.modules)]
        elif isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        else:
            continue
        for name in wanted:
            module = sys.modules.get(name)
            if isinstance(module, ModuleType) and is_own(_file_of(name)):
                yield module, node.lineno


def _module_of(value: Any, is_own: Callable[[str], bool]) -> Iterator[ModuleType]:
    """The module of the project that ``value`` is, or that defines it."""
    is_defined = isinstance(value, type | FunctionType)
    name = value.__name__ if isinstance(value, ModuleType) else value.__module__ if is_defined else ""
    module = sys.modules.get(name or "")
    if isinstance(module, ModuleType) and module.__name__ != "__main__" and is_own(_file_of(module.__name__)):
        yield module


def _file_of(module: str) -> str:
    return getattr(sys.modules.get(module), "__file__", None) or ""


def _outermost(classes: list[Any]) -> list[type]:
    """``classes`` without those that are used by others of them, those that use most lines first."""
    parts = {cls: _used(cls) for cls in dict.fromkeys(classes)}
    inside = {id(part) for cls, used in parts.items() for part in used if part is not cls}
    left = [cls for cls in parts if id(cls) not in inside] or list(parts)
    return sorted(left, key=lambda cls: -sum(map(_lines, parts[cls])))


def _used(cls: type) -> list[type]:
    """``cls``, and the classes of its module that it names, and those that these name."""
    module = sys.modules.get(cls.__module__)
    defined = {name: value for name, value in vars(module or ModuleType("")).items() if isinstance(value, type)}
    found, waiting = [cls], [cls]
    while waiting:
        node = _definition(waiting.pop())
        for each in ast.walk(node) if node is not None else ():
            value = defined.get(each.id) if isinstance(each, ast.Name) else None
            if value is not None and value.__module__ == cls.__module__ and value not in found:
                found.append(value)
                waiting.append(value)
    return found


def _definition(cls: type) -> ast.ClassDef | None:
    return _definitions(_file_of(cls.__module__)).get(cls.__name__)


@functools.lru_cache(maxsize=MOST_MODULES)
def _definitions(file: str) -> dict[str, ast.ClassDef]:
    tree = parsed_file(file)
    return {node.name: node for node in (tree.body if tree is not None else ()) if isinstance(node, ast.ClassDef)}


def _lines(cls: type) -> int:
    node = _definition(cls)
    return (node.end_lineno or node.lineno) - node.lineno + 1 if node is not None else 0
