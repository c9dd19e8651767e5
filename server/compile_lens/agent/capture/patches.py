"""Finds what the program replaced in libraries, such as ``torch.nn.Linear.forward = mine``: code that relies on it does not name it.

What is replaced is read from the libraries themselves, so it does not matter how the program did it: by an assignment at the top level,
in a function, by ``setattr`` or in a loop.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from ..runtime.libraries import installed_roots
from .slices import NotRebuildable, Slicer, closure

if TYPE_CHECKING:
    from .describe import Describer

MAX_WRAPPERS = 10


@dataclass(frozen=True)
class Patch:
    """``value`` is the user's, and the attribute ``name`` of ``owner``, a class or module of a library."""

    owner: Any
    name: str
    value: Any

    @property
    def dotted(self) -> str:
        """``torch.nn.modules.linear.Linear.forward``."""
        owner = self.owner
        place = owner.__name__ if isinstance(owner, ModuleType) else f"{owner.__module__}.{owner.__qualname__}"
        return f"{place}.{self.name}"


def describe_patches(slicer: Slicer, describer: Describer) -> tuple[list[dict[str, Any]], list[str]]:
    """The patches as JSON, without those whose statements ``slicer`` copies; and the names of those that a script cannot repeat."""
    found: list[dict[str, Any]] = []
    left_out: list[str] = []
    for patch in find_patches(slicer):
        try:
            value = _reference(slicer, describer, patch.value)
            if not slicer.assigns(patch.name):
                found.append({"owner": _owner(slicer, patch.owner), "name": patch.name, "value": value})
        except NotRebuildable:
            left_out.append(patch.dotted)
    return found, left_out


def _owner(slicer: Slicer, owner: Any) -> dict[str, Any]:
    if isinstance(owner, ModuleType):
        return {"is": "python-module", "name": owner.__name__}
    return slicer.reference(owner)


def _reference(slicer: Slicer, describer: Describer, value: Any) -> Any:
    """How a script names the value. Raises NotRebuildable."""
    if type(value) is property and value.fset is None and value.fdel is None:
        return _call("property", [slicer.reference(value.fget)])
    if type(value) in (staticmethod, classmethod):
        return _call(type(value).__name__, [slicer.reference(value.__func__)])
    if type(value) is FunctionType:
        # `functools.wraps` gives a wrapper the names of what it wraps, here of the library's function
        home = sys.modules.get(value.__globals__.get("__name__", ""))
        if home is not None and not slicer.is_own(sys.modules.get(value.__module__ or "")):
            for free in closure(value).values():
                _rebuildable(describer, free)
            return {"is": "name", "name": slicer.module(home).need_local(value)}
        return slicer.reference(value)
    if issubclass(type(value), type):
        return slicer.reference(value)
    return _rebuildable(describer, value)


def _rebuildable(describer: Describer, value: Any) -> Any:
    described = describer.describe(value)
    if isinstance(described, dict) and described["is"] == "unsupported":
        raise NotRebuildable(described["why"])
    return described


def _call(name: str, arguments: list[Any]) -> dict[str, Any]:
    return {"is": "call", "of": {"is": "name", "name": name}, "args": arguments, "kwargs": {}}


def find_patches(slicer: Slicer) -> Iterator[Patch]:
    """The attributes of library classes and modules that are functions or classes of the user's files."""
    seen: set[int] = set()
    for module in list(sys.modules.values()):
        # modules of the standard library are left out: torch does not compile them
        if issubclass(type(module), ModuleType) and _is_library(module):
            yield from _of_namespace(slicer, module, seen)


def _is_library(module: Any) -> bool:
    return str(getattr(module, "__file__", None) or "").startswith(installed_roots())


def _of_namespace(slicer: Slicer, owner: Any, seen: set[int]) -> Iterator[Patch]:
    for name, value in list(vars(owner).items()):
        # not `isinstance`: it asks lazy objects for their class, which may import or warn
        if issubclass(type(value), type):
            if slicer.is_own(sys.modules.get(_module_of(value))):
                if not name.startswith("__"):
                    yield Patch(owner, name, value)
            elif id(value) not in seen and _is_library(sys.modules.get(_module_of(value))):
                seen.add(id(value))
                yield from _of_namespace(slicer, value, seen)
            continue
        code = _code_of(value)
        if code is not None and slicer.is_own_file(code.co_filename):
            yield Patch(owner, name, value)


def _module_of(kind: Any) -> str:
    name = vars(kind).get("__module__")
    return name if type(name) is str else ""


def _code_of(value: Any) -> CodeType | None:
    """The code of a function, looking through methods, properties and ``functools.partial``."""
    for _ in range(MAX_WRAPPERS):
        if type(value) is FunctionType:
            return value.__code__
        if type(value) in (staticmethod, classmethod, MethodType):
            value = value.__func__
        elif type(value) is property:
            value = value.fget
        elif type(value) is partial:
            value = value.func
        else:
            return None
    return None
