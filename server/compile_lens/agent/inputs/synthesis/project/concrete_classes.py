"""Finds a class that can be constructed in place of an abstract one: a parameter is annotated with what its values have in common."""

from __future__ import annotations

import ast
import inspect
import typing
from types import ModuleType
from typing import Any

from ....runtime.parsed_source import parsed_source_of

MOST_SUBCLASSES = 200
MOST_CHOICES = 3


def concrete_classes(cls: type, module: ModuleType) -> list[type]:
    """``cls``; subclasses of it where it is abstract: those of ``module`` first, and those that need least."""
    if not is_abstract(cls):
        return [cls]
    return concrete_heirs(cls, module)[:MOST_CHOICES] or [cls]


def concrete_heirs(cls: type, module: ModuleType) -> list[type]:
    """The classes that inherit from ``cls`` and are not abstract: those of ``module`` first, and those that need least."""
    found = [each for each in _subclasses(cls) if not is_abstract(each)]
    return sorted(found, key=lambda each: (each.__module__ != module.__name__, _required(each)))


def class_in(hint: Any) -> type | None:
    """``X`` of ``type[X]`` and of ``type[X | Y]``, also in ``Optional``; None for other hints."""
    if typing.get_origin(hint) is type:
        named = typing.get_args(hint)  # none in a bare `Type`
        choices = (each for inner in named for each in (inner, *typing.get_args(inner)))
        return next((each for each in choices if isinstance(each, type) and each is not type(None)), None)
    return next((found for each in typing.get_args(hint) if (found := class_in(each)) is not None), None)


def is_abstract(cls: type) -> bool:
    """Whether objects of ``cls`` cannot be made, as those of a protocol, or are of no use: its ``forward`` or ``__call__`` only raises
    NotImplementedError."""
    if inspect.isabstract(cls) or getattr(cls, "_is_protocol", False):
        return True
    forward = getattr(cls, "forward", None)
    if forward is None:
        called = next((vars(base)["__call__"] for base in cls.__mro__ if "__call__" in vars(base)), None)
        return inspect.isfunction(called) and _only_raises(called)
    return getattr(forward, "__name__", "") == "_forward_unimplemented" or _only_raises(forward)


def leaves_forward_open(cls: type) -> bool:
    """Whether ``cls`` is an abstract class, or its ``forward`` only raises NotImplementedError."""
    return inspect.isabstract(cls) or (not lacks_forward(cls) and _only_raises(getattr(cls, "forward", None)))


def leaves_methods_open(cls: type) -> bool:
    """Whether a method of ``cls`` that its package defines only raises NotImplementedError: others inherit from it."""
    package = cls.__module__.partition(".")[0]
    methods = (getattr(cls, name, None) for base in cls.__mro__ for name in vars(base) if base.__module__ != "builtins")
    own = (each for each in methods if (getattr(each, "__module__", "") or "").partition(".")[0] == package)
    return any(
        inspect.isfunction(each) and "NotImplementedError" in each.__code__.co_names and _only_raises(each)
        for each in own
    )


def lacks_forward(cls: type) -> bool:
    """Whether no class of it defines ``forward``; of ``torch.nn.Module``, which only raises, it is none."""
    return getattr(getattr(cls, "forward", None), "__name__", "_forward_unimplemented") == "_forward_unimplemented"


def method_instead(cls: type) -> str:
    """The method of a module that has no ``forward``: a step of its training, or else its longest public method, its own ones first; ''
    where it has a ``forward``, or no method that takes arguments."""
    return "" if _has_forward(cls) else _own_way_in(cls)


def method_beside(cls: type) -> str:
    """The method of a module whose ``forward`` only raises, as `method_instead` chooses one: `use encode() or decode()`. '' of one that
    leaves anything else to others."""
    is_closed = leaves_forward_open(cls) and not inspect.isabstract(cls) and not _leaves_more_open(cls)
    return _own_way_in(cls) if is_closed else ""


def _leaves_more_open(cls: type) -> bool:
    names = {name for base in cls.__mro__ for name in vars(base) if base.__module__.partition(".")[0] != "torch"}
    methods = [getattr(cls, name, None) for name in names - {"forward"} if not name.startswith("__")]
    return any(inspect.isfunction(each) and "NotImplementedError" in each.__code__.co_names for each in methods)


def _own_way_in(cls: type) -> str:
    found: dict[str, tuple[bool, int]] = {}
    package = cls.__module__.partition(".")[0]
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] in ("torch", "builtins"):
            continue
        for name, value in vars(base).items():
            # what a decorator makes of it takes any arguments: `@torch.no_grad()`
            value = inspect.unwrap(value) if inspect.isfunction(value) else value
            code = getattr(value, "__code__", None)
            if code is None or name.startswith("_") or name in found or _only_raises(value):
                continue
            is_own = base.__module__.partition(".")[0] == package
            if is_own and name == "training_step":
                return name
            if code.co_argcount > 1 + len(value.__defaults__ or ()):
                found[name] = is_own, len(code.co_code)
    return max(found, key=lambda name: found[name], default="")


def _has_forward(cls: type) -> bool:
    """Whether one of its classes defines ``forward``, and does more than to pass its arguments on to torch's, which raises."""
    for base in cls.__mro__:
        forward = vars(base).get("forward")
        if forward is not None and not _only_passes_on(forward):
            return getattr(forward, "__name__", "") != "_forward_unimplemented"
    return False


def _only_passes_on(function: Any) -> bool:
    names = getattr(getattr(function, "__code__", None), "co_names", ())
    return tuple(name for name in names if name != "super") == ("forward",)


def _only_raises(function: Any) -> bool:
    tree = parsed_source_of(function)
    if tree is None:
        return False
    body = [node for node in getattr(tree.body[0], "body", []) if not _does_nothing(node)]
    return not body or (len(body) == 1 and isinstance(body[0], ast.Raise) and "NotImplemented" in ast.dump(body[0]))


def _does_nothing(node: ast.stmt) -> bool:
    """Whether it is a docstring, `...` or `pass`."""
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _subclasses(cls: type) -> list[type]:
    found: list[type] = []
    waiting = [cls]
    while waiting and len(found) < MOST_SUBCLASSES:
        subclasses: list[type] = type.__subclasses__(waiting.pop())
        for each in subclasses:
            if each not in found:
                found.append(each)
                waiting.append(each)
    return found


def _required(cls: type) -> int:
    """How many arguments it needs."""
    try:
        parameters = inspect.signature(cls).parameters.values()
    except (TypeError, ValueError):
        return 99
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters)
