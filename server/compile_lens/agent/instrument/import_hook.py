"""Changes a module right after it was imported, by whoever imports it; nothing is imported for that."""

from __future__ import annotations

import contextlib
import importlib.machinery
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

Change = Callable[[ModuleType], object]


def change_at_import(changes: Mapping[str, Change]) -> None:
    """Call each change with the module of its name, now if it is there already, else when it comes."""
    later = {}
    for name, change in changes.items():
        module = sys.modules.get(name)
        if module is None:
            later[name] = change
        else:
            _apply(change, module)
    if later:
        sys.meta_path.insert(0, _AtImport(later))


class _AtImport:
    """Finds what the finders behind it find, and lets the loader do one thing more."""

    def __init__(self, changes: dict[str, Change]) -> None:
        self._changes = changes

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Called by each import. None for modules that are to stay as they are."""
        change = self._changes.pop(name, None)
        if change is None:
            return None
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(name, path, target)) is not None:
                _follow(spec.loader, change)
                return spec
        return None


def _follow(loader: Any, change: Change) -> None:
    load = getattr(loader, "exec_module", None)
    if load is None:
        return

    def exec_module(module: ModuleType) -> None:
        load(module)
        _apply(change, module)

    loader.exec_module = exec_module


def _apply(change: Change, module: ModuleType) -> None:
    """A library of another version than those that are known stays as it is: what lacks is then told as ever."""
    with contextlib.suppress(Exception):
        change(module)
