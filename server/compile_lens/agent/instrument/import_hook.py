"""Changes modules right after their import, whoever imports them; imports nothing itself."""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from ..runtime.degraded import degraded
from ..runtime.dynamo_skips import skip_functions

Change = Callable[[ModuleType], object]


def change_at_import(changes: Mapping[str, Change]) -> None:
    """Call each change with the module of its name: now if the module is imported already, else right after its import."""
    pending = {}
    for name, change in changes.items():
        module = sys.modules.get(name)
        if module is None:
            pending[name] = change
        else:
            _apply(change, module)
    if pending:
        _insert_when_imported(pending)


def _insert_when_imported(pending: dict[str, Change]) -> None:
    """Put a finder into ``sys.meta_path`` when the first module of one of the packages is imported; other programs have none.

    The audit event comes before the finders are asked. ``importlib.import_module`` has no event, but what it imports has.
    """
    packages = frozenset(name.partition(".")[0] for name in pending)
    inserted = False

    def on_event(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal inserted
        if event != "import" or inserted:
            return
        name = arguments[0]
        if isinstance(name, str) and name.partition(".")[0] in packages:
            inserted = True
            sys.meta_path.insert(0, _ChangingFinder(pending))

    skip_functions(on_event)
    sys.addaudithook(on_event)


class _ChangingFinder:
    """Asks the other finders for a module, and makes its loader apply the change after execution."""

    def __init__(self, changes: dict[str, Change]) -> None:
        self._changes = changes

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Called by each import. None for modules that are not to be changed."""
        change = self._changes.pop(name, None)
        if change is None:
            return None
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(name, path, target)) is not None:
                _change_after_execution(spec.loader, change)
                return spec
        return None


def _change_after_execution(loader: Any, change: Change) -> None:
    load = getattr(loader, "exec_module", None)
    if load is None:
        return

    def exec_module(module: ModuleType) -> None:
        load(module)
        _apply(change, module)

    loader.exec_module = exec_module


def _apply(change: Change, module: ModuleType) -> None:
    try:
        change(module)
    except Exception as error:  # a version of the library that has other names; the program's import must still succeed
        degraded(f"the substitution in `{module.__name__}`", error)
