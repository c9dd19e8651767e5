"""Finds the function that a frame runs, and the arguments that it was called with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

_TAKES_MORE, _TAKES_MORE_NAMED = 0x4, 0x8  # CO_VARARGS, CO_VARKEYWORDS


@dataclass(frozen=True)
class Called:
    """``function`` is what ran, below its decorators, bound to ``owner`` if it is a method."""

    function: Callable[..., Any]
    owner: Any
    positional: tuple[Any, ...]
    named: dict[str, Any]


def function_of(frame: FrameType) -> Called | None:
    """The call with which ``frame`` has begun; None for a property, and where its function is not known."""
    code, names = frame.f_code, frame.f_locals
    positional, named = _arguments(code, names)
    owner = positional[0] if positional else None
    method = _method(code, owner)
    if method is not None:
        return Called(MethodType(method, owner), owner, positional[1:], named)
    for place in _places(frame):
        function = _plain(place.get(code.co_name))
        if function is not None and function.__code__ is code:
            return Called(function, None, positional, named)
    static = _static(frame)
    return None if static is None else Called(static, None, positional, named)


def _arguments(code: CodeType, names: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    plain = code.co_varnames[: code.co_argcount]
    only_named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    rest = iter(code.co_varnames[code.co_argcount + code.co_kwonlyargcount :])
    # a cell has taken the place of one that an inner function uses; its name is the same
    positional = tuple(names[name] for name in plain)
    named = {name: names[name] for name in only_named}
    if code.co_flags & _TAKES_MORE:
        positional += names[next(rest)]
    if code.co_flags & _TAKES_MORE_NAMED:
        named.update(names[next(rest)])
    return positional, named


def _method(code: CodeType, owner: Any) -> FunctionType | None:
    """The method of ``owner``, an object or a class, that has this code."""
    for cls in inspect.getmro(owner if isinstance(owner, type) else type(owner)):
        found = vars(cls).get(code.co_name)
        if isinstance(found, (FunctionType, classmethod)):
            function = _plain(found.__func__ if isinstance(found, classmethod) else found)
            if function is not None and function.__code__ is code:
                return function
    return None


def _places(frame: FrameType) -> Iterator[dict[str, Any]]:
    """Where the name of the function may be: in its module, and where functions around it were defined."""
    yield frame.f_globals
    caller = frame.f_back
    while caller is not None and caller.f_code.co_filename != frame.f_code.co_filename:
        caller = caller.f_back
    if caller is not None:
        yield caller.f_locals


def _static(frame: FrameType) -> FunctionType | None:
    """The static method of a class of the frame's module."""
    for cls in frame.f_globals.values():
        found = vars(cls).get(frame.f_code.co_name) if isinstance(cls, type) else None
        if isinstance(found, staticmethod):
            function = _plain(found.__func__)
            if function is not None and function.__code__ is frame.f_code:
                return function
    return None


def _plain(value: Any) -> FunctionType | None:
    """The function below the decorators of ``value``; None where it is none."""
    try:
        found = inspect.unwrap(value)
    except ValueError:  # wrappers in a circle
        return None
    return found if isinstance(found, FunctionType) else None
