"""Which values run no code of the program's when they are read, compared, counted with or written as text."""

from __future__ import annotations

import builtins
import inspect
from abc import ABCMeta
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

MOST_ITEMS = 100
_OF_PYTHON = frozenset({bool, int, float, complex, str, bytes, type(None), range, slice})
# methods with `__` that are called for nothing that a plain method does
_NOT_OPERATORS = frozenset(
    {"__init__", "__new__", "__call__", "__repr__", "__getstate__", "__setstate__", "__deepcopy__"}
)


def is_plain_object(value: object, depth: int = 2) -> bool:
    """Whether it is a number, a text, a tensor or the like, or a container of Python's that has nothing else."""
    import torch

    kind = type(value)
    if kind in _OF_PYTHON or kind in (torch.Tensor, torch.nn.Parameter, torch.dtype, torch.device, torch.Size):
        return True
    if kind is dict:
        items: list[Any] = [*value.keys(), *value.values()]  # type: ignore[attr-defined]
    elif kind in (list, tuple, set, frozenset):
        items = list(value)  # type: ignore[call-overload]
    else:
        return False
    return depth > 0 and len(items) <= MOST_ITEMS and all(is_plain_object(item, depth - 1) for item in items)


def is_known_name(name: str, of_module: dict[str, Any], functions: Iterable[str]) -> bool:
    """Whether a name that a method takes from its module is torch, a class without a metaclass of its own, or a plain value; of Python's
    own it is one of ``functions``, or an exception."""
    if name not in of_module:
        own = getattr(builtins, name, None)
        return name in functions or (isinstance(own, type) and issubclass(own, Exception))
    value = of_module[name]
    return is_of_torch(value) or type(value) in (type, ABCMeta) or is_plain_object(value)


def is_of_torch(value: object) -> bool:
    return isinstance(value, ModuleType) and value.__name__.partition(".")[0] == "torch"


def reads_plainly(modules: Iterable[Any], name: str) -> bool:
    """Whether ``name`` of each of ``modules`` that has it is a method, a module, a parameter or a plain value, which no code is run for."""
    for module in modules:
        kind = type(module)
        of_class = inspect.getattr_static(kind, name, None)
        known = [] if of_class is None or isinstance(of_class, FunctionType) else [of_class]
        known += [vars(module)[name]] if name in vars(module) else []
        if hasattr(type(of_class), "__set__") or not all(map(is_plain_object, known)):
            return False
    return True


def have_plain_operators(classes: Iterable[type]) -> bool:
    """Whether no class of the program's says what an operator, brackets or an attribute of its objects does."""
    own = (
        base
        for cls in classes
        for base in cls.__mro__
        if base.__module__.partition(".")[0] not in ("torch", "builtins")
    )
    return all(
        name in _NOT_OPERATORS or not (name.startswith("__") and isinstance(value, FunctionType))
        for base in own
        for name, value in vars(base).items()
    )
