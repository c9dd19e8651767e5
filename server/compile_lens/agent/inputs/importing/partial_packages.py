"""Packages that cannot be imported, as far as they can: their ``__init__.py`` without the statements that fail."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable
from types import ModuleType

from ...runtime.regular_file import read_regular
from .tolerant_import import run_tolerantly

Report = Callable[[BaseException], object]


def make_partial_packages(root: str, name: str, on_failure: Report | None) -> None:
    """Have the packages above the module ``name``, which are below the folder ``root``, in ``sys.modules``, where they are not yet.

    ``on_failure`` gets the first exception of each; None leaves the packages empty.
    """
    parts = name.split(".")
    for length in range(1, len(parts)):
        package = ".".join(parts[:length])
        if package not in sys.modules:
            _make(package, os.path.join(root, *parts[:length]), on_failure)


def _make(package: str, folder: str, on_failure: Report | None) -> None:
    spec = importlib.machinery.ModuleSpec(package, None, is_package=True)
    spec.submodule_search_locations = [folder]
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    around, _, last = package.rpartition(".")
    if around:
        setattr(sys.modules[around], last, module)
    if on_failure is not None:
        _run(module, os.path.join(folder, "__init__.py"), on_failure)


def _run(module: ModuleType, file: str, on_failure: Report) -> None:
    """Run what ``file`` defines in ``module``; nothing where it cannot be read, or is no Python."""
    try:
        text = importlib.util.decode_source(read_regular(file))
        code = compile(text, file, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return
    module.__file__ = file
    failures: list[BaseException] = []
    run_tolerantly(code, text, module.__dict__, failures.append)
    if failures:
        on_failure(failures[0])
