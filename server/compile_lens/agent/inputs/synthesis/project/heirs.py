"""Finds the classes of a package that inherit from one which leaves its work to them: a base class runs by way of those."""

from __future__ import annotations

import ast
import functools
import importlib
import os
import re
import sys
from collections.abc import Iterator
from types import ModuleType

from ....runtime.foreign_code import attempted
from .concrete_classes import concrete_heirs, is_abstract, lacks_forward, method_instead
from .own_classes import mentions
from .package_files import LEFT_OUT, package_files, statements_mentioning

# for each base: modules that are imported, and classes that are tried
MOST_IMPORTS = 6
MOST_HEIRS = 4
# errors of torch's own that say that an operator lacks a kernel
OF_TORCH = ("Could not run", "The operator")
_NO_ATTRIBUTE = re.compile(r"'(\w+)' object has no attribute '(\w+)'")


def is_left_open(error: BaseException | None) -> bool:
    """Whether ``error`` says that a class was called which leaves its work to subclasses."""
    while error is not None:
        if isinstance(error, NotImplementedError):
            return not str(error).startswith(OF_TORCH)
        error = error.__cause__
    return False


def lacks_what_heirs_have(error: BaseException | None, cls: type, module: ModuleType) -> bool:
    """Whether ``error`` says that an object of ``cls`` has no attribute which a class that inherits from it sets or defines."""
    lacking = _NO_ATTRIBUTE.search(str(error)) if isinstance(error, AttributeError) else None
    if lacking is None or lacking[1] != cls.__name__:
        return False
    added = (each for heir in concrete_heirs(cls, module) for each in heir.__mro__ if each not in cls.__mro__)
    return any(mentions(each, lacking[2]) for each in added)


def concrete_or_imported(cls: type, module: ModuleType, without: type | None = None) -> type:
    """``cls``, or a class that inherits from it where it is abstract: of what is imported already, else of the package of ``module``.

    Never ``without``, for whose own constructor one is wanted.
    """
    if not is_abstract(cls):
        return cls
    found = [each for each in concrete_heirs(cls, module) if each is not without]
    if found or cls.__module__.partition(".")[0] != module.__name__.partition(".")[0]:
        return found[0] if found else cls
    return next((heir for _, heir in heirs(module, cls) if heir is not without), cls)


def heirs(module: ModuleType, cls: type) -> Iterator[tuple[str, type]]:
    """Classes that inherit from ``cls`` and their full names: those of ``module`` and of what is imported already, then of the package."""
    told: set[type] = set()
    is_without_forward = lacks_forward(cls) and not method_instead(cls)
    for source in (None, *_modules_that_inherit(module, cls)):
        if source is not None and attempted(functools.partial(importlib.import_module, source)) is None:
            continue
        for heir in concrete_heirs(cls, module):
            path = _path_of(heir, module)
            # a call of its own `forward` is one of the heir, which the file's other calls are, too
            is_aside = is_without_forward and heir.__module__ == module.__name__
            if heir not in told and path and not is_aside:
                told.add(heir)
                yield path, heir
            if len(told) >= MOST_HEIRS:
                return


def _path_of(cls: type, module: ModuleType) -> str:
    """The name of ``cls`` for an expression with the names of ``module``; '' where it has none."""
    name: str = cls.__qualname__
    if vars(module).get(name) is cls:
        return name
    return f"{cls.__module__}.{name}" if vars(sys.modules.get(cls.__module__, object)).get(name) is cls else ""


def _modules_that_inherit(module: ModuleType, cls: type) -> list[str]:
    """The dotted names of the package's modules with a class that names ``cls`` among its bases, and that are not imported yet."""
    if getattr(module, "__file__", None) is None:
        return []  # its text is in no file
    file, name = os.path.abspath(str(module.__file__)), cls.__name__
    found: list[str] = []
    for path, dotted in package_files(file, module.__name__):
        if path == file or dotted in sys.modules or LEFT_OUT.search(path):
            continue
        classes = [n for n in statements_mentioning(path, rf"\b{re.escape(name)}\b") if isinstance(n, ast.ClassDef)]
        if any(ast.unparse(base).rpartition(".")[2] == name for each in classes for base in each.bases):
            found.append(dotted)
        if len(found) >= MOST_IMPORTS:
            break
    return found
