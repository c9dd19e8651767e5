"""Finds what a protocol or an abstract class of the program describes, where nothing inherits from it; else says what to make up for it."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from ....runtime.foreign_code import attempted
from ..project.concrete_classes import is_abstract
from ..project.own_classes import classes_of_package
from ..source.guesses import MAKERS, by_name
from ..terms.arguments import Expression, Fields
from .other_values import ANY_FUNCTION, ANY_MODULE

# of these, a module has its own
_CALLS = frozenset({"__call__", "forward"})
_LEFT_OUT = frozenset({"Protocol", "Generic", "object", "ABC", "Module"})


def implementation(cls: type, module: ModuleType, without: type | None = None) -> type | None:
    """A class of the package that has all that ``cls`` describes, and needs least: it need not inherit from a protocol.

    None where only calls are described: every module can be called.
    """
    wanted = {name for name, _ in _members(cls)}
    found = [
        each
        for each in classes_of_package(module)
        if wanted - _CALLS
        and each is not cls
        and each is not without
        and not is_abstract(each)
        and wanted <= _has(each)
    ]
    return min(found, key=_needed, default=None)


def made_up(cls: type, name: str) -> tuple[Fields, list[tuple[str, Any]]]:
    """An object with the methods that ``cls`` describes, and the other attributes with their annotations, which it needs as well.

    Its methods return what they get. What is called as a whole is what the parameter ``name`` usually gets: `loss(input, target)`.
    """
    members = dict(_members(cls))
    is_called = bool(_CALLS & members.keys()) or any(base.__name__ == "Module" for base in cls.__mro__)
    methods = [each for each, value in members.items() if _is_method(value) and each not in _CALLS]
    attributes = [(each, _hint(value)) for each, value in members.items() if not _is_method(value)]
    base = by_name(MAKERS, name) or by_name(MAKERS, _in_words(cls.__name__)) or ANY_MODULE if is_called else ""
    if base == ANY_MODULE and _takes_several(members.get("__call__", members.get("forward"))):
        base = ANY_FUNCTION
    return Fields(tuple((each, Expression(ANY_FUNCTION)) for each in methods), base=base), attributes


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """What ``cls`` describes: the names that a protocol has, the abstract ones of another class; and what stands there for each."""
    is_protocol = getattr(cls, "_is_protocol", False)
    abstract: frozenset[str] = getattr(cls, "__abstractmethods__", frozenset())
    for base in cls.__mro__:
        if base.__name__ in _LEFT_OUT:
            continue
        named = {**inspect.get_annotations(base), **vars(base)}
        for name, value in named.items():
            is_public = not name.startswith("_") or name == "__call__"
            if is_public and (name in abstract or (is_protocol and getattr(base, "_is_protocol", False))):
                yield name, value


def _has(cls: type) -> set[str]:
    """The names of the methods and attributes of ``cls``, also of those that its constructor sets."""
    constructor = getattr(vars(cls).get("__init__"), "__code__", None)
    steps = dis.get_instructions(constructor) if constructor is not None else ()
    set_here = {str(step.argval) for step in steps if step.opname == "STORE_ATTR"}
    called = {"__call__"} if hasattr(cls, "forward") else set()
    own = {
        name
        for base in cls.__mro__
        for name in (*vars(base), *getattr(base, "__annotations__", {}))
        if base is not object
    }
    return own | set_here | called


def _is_method(value: Any) -> bool:
    return inspect.isfunction(value) or isinstance(value, (classmethod, staticmethod))


def _hint(value: Any) -> Any:
    """The annotation of an attribute, or of what a property returns."""
    if isinstance(value, property):
        hint = attempted(lambda: inspect.signature(value.fget, eval_str=True).return_annotation)  # type: ignore[arg-type]
        return None if hint is inspect.Signature.empty else hint
    return value


def _takes_several(function: Any) -> bool:
    """Whether a function takes more than one argument by position."""
    parameters = attempted(lambda: list(inspect.signature(function).parameters.values())) or []
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters) > 2


def _in_words(name: str) -> str:
    """``loss_fn`` for `LossFn`."""
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name).lstrip("_")


def _needed(cls: type) -> int:
    parameters = attempted(lambda: list(inspect.signature(cls).parameters.values())) or []
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters)
