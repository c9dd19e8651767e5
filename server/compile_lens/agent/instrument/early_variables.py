"""Options that the program sets by environment variables before it imports torch, which the standby has imported long ago.

torch reads them when its config modules are executed (torch/utils/_config_module.py). Here the defaults are read again when
``os.environ`` changes, as long as the program has not imported torch itself.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from ..runtime.degraded import degraded
from ..runtime.dynamo_skips import skip_functions
from ..torch_internals.options import config_modules, read_defaults_again

# os.putenv alone does not change what torch reads
CHANGES = {
    "os.putenv": os.environ.__class__.__setitem__.__code__,
    "os.unsetenv": os.environ.__class__.__delitem__.__code__,
}


def follow_variables() -> None:
    """Read torch's options again after each change of a variable that one of them depends on, until the program has torch."""
    known = set(sys.modules)

    def on_event(event: str, arguments: tuple[Any, ...]) -> None:
        # the event comes before the change, and before an error
        if event in CHANGES and sys._getframe(1).f_code is CHANGES[event]:
            name, *value = map(os.fsdecode, arguments)
            modules = [module for module in config_modules() if f'"{name}"' in _source(module.__name__)]
            if modules and not _program_has_torch(known):
                _read_again(modules, name, *value)

    skip_functions(on_event)
    sys.addaudithook(on_event)


def _read_again(modules: list[ModuleType], name: str, value: str | None = None) -> None:
    with _changed(name, value):
        for module in modules:
            try:
                read_defaults_again(module)
            except Exception as error:  # torch's module may raise anything; the program's own statement goes on
                degraded(f"the effect of `{name}`, which is set before torch is imported", error)


@contextmanager
def _changed(name: str, value: str | None) -> Iterator[None]:
    """``os.environ`` as it is about to be."""
    data: dict[Any, Any] = os.environ._data  # type: ignore[attr-defined]
    key = os.environ.encodekey(name)
    before = data.get(key)
    try:
        if value is not None:
            data[key] = os.environ.encodevalue(value)
        else:
            data.pop(key, None)
        yield
    finally:
        if before is not None:
            data[key] = before
        else:
            data.pop(key, None)


def _program_has_torch(known: set[str]) -> bool:
    """Whether a module that was imported since refers to torch, or to something of a package that does."""
    own = [module for name, module in list(sys.modules.items()) if name == "__main__" or name not in known]
    values = [value for module in own for value in list(getattr(module, "__dict__", {}).values())]
    packages = {_package(value) for value in values if isinstance(value, (ModuleType, type, FunctionType))}
    return "torch" in packages or any(map(_refers_to_torch, packages))


def _package(value: Any) -> str:
    name = value.__name__ if isinstance(value, ModuleType) else value.__module__
    return str(name).partition(".")[0]


def _refers_to_torch(package: str) -> bool:
    torch = sys.modules["torch"]
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == package]
    return any(getattr(module, "__dict__", {}).get("torch") is torch for module in modules)


@cache
def _source(name: str) -> str:
    spec = importlib.util.find_spec(name)
    loader: Any = spec.loader if spec is not None else None
    return (loader.get_source(name) or "") if hasattr(loader, "get_source") else ""
