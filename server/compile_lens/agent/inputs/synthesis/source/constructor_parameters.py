"""Knows what a constructor takes, also what it passes on to those of its base classes: ``super().__init__(**kwargs)``."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed_source_of, source_of
from ..terms.parameter_info import ParameterInfo
from .field_hints import fields_of_signature, read_hints_of_fields
from .signatures import read_comments_of_fields, read_parameters


def constructor(cls: type) -> Any:
    """The constructor, as a function; of a tuple with names, what makes it."""
    return getattr(cls, "__new__" if issubclass(cls, tuple) else "__init__")


def constructor_parameters(cls: type) -> list[ParameterInfo]:
    """The parameters of the constructor of ``cls``, then those of its bases that it leaves open.

    What comes by way of ``**kwargs`` is passed by name.
    """
    found = {info.name: info for info in read_parameters(constructor(cls), skip_first=True)}
    if dataclasses.is_dataclass(cls):
        read_comments_of_fields(source_of(cls), found)
    given: set[str] = set()
    for base in cls.__mro__:
        function: Any = vars(base).get("__init__")
        if base.__module__.partition(".")[0] in ("torch", "builtins"):
            break
        if function is None:
            continue
        for info in read_parameters(function, skip_first=True):
            if info.name not in given and info.name not in found:
                info.keyword_only = True
                found[info.name] = info
        passed = _passed_to_base(function)
        if passed is None:
            break
        given |= passed
    found = found or {info.name: info for info in fields_of_signature(cls)}
    read_hints_of_fields(cls, found.values())
    return list(found.values())


def _passed_to_base(function: Any) -> set[str] | None:
    """The names that ``function`` passes to ``super().__init__`` itself, where it passes its own ``**kwargs``, too; None elsewhere."""
    open_names = {p.name for p in _parameters(function) if p.kind is p.VAR_KEYWORD}
    tree = parsed_source_of(function) if open_names else None
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call) and _calls_base(ast.unparse(node.func)):
            names = {keyword.arg for keyword in node.keywords if keyword.arg}
            is_open = any(
                k.arg is None and isinstance(k.value, ast.Name) and k.value.id in open_names for k in node.keywords
            )
            return names if is_open else None
    return None


def _calls_base(function: str) -> bool:
    """Whether ``super().__init__`` or ``super(Net, self).__init__`` is called."""
    return function.startswith("super(") and function.endswith(").__init__")


def _parameters(function: Any) -> list[inspect.Parameter]:
    return attempted(lambda: list(inspect.signature(function).parameters.values())) or []
