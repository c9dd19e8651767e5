"""Finds the function that a wrapper passes all of its arguments on to: ``def forward(self, *args, **kwargs)``."""

from __future__ import annotations

import ast
import builtins
import inspect
import keyword
from collections.abc import Callable, Iterator
from typing import Any

from ....runtime.foreign_code import part_of
from ....runtime.parsed_source import parsed_source_of
from ....torch_internals.attributes import original_function
from ..terms.parameter_info import ParameterInfo
from .signatures import read_parameters

MAX_DEPTH = 6


def parameters_of(made: Any, function: Callable[..., Any], depth: int = 0) -> list[ParameterInfo]:
    """The parameters of a method of ``made``. Where it accepts any arguments and passes them on, those of what gets them are added."""
    found = read_parameters(original_function(function), skip_first=True)
    if depth >= MAX_DEPTH or not _accepts_any(function):
        return found
    known = {info.name for info in found}
    for inner, owner, call in _receivers(made, function):
        more = parameters_of(owner, inner, depth + 1) if owner is not None else read_parameters(inner, skip_first=False)
        more = _left_open(more, call)
        if more:
            for info in more:
                info.positional_only = info.positional_only or (not accepts_names(function) and not info.keyword_only)
            return [*found, *(info for info in more if info.name not in known)]
    return found


def one_of_any_number(function: Callable[..., Any]) -> ParameterInfo | None:
    """What stands for the arguments of a function that takes any number of them by position: `def forward(self, *inputs)`."""
    parameters = (p for p in _parameters(function) if p.kind is p.VAR_POSITIONAL)
    name = next((p.name.removesuffix("s") for p in parameters), "")
    return ParameterInfo(name, True, None, "", positional_only=True) if name else None


def _left_open(parameters: list[ParameterInfo], call: ast.Call) -> list[ParameterInfo]:
    """Those of ``parameters`` for which ``call`` passes nothing itself: `self.net(x, **kwargs)` passes the first."""
    count = next((i for i, each in enumerate(call.args) if isinstance(each, ast.Starred)), len(call.args))
    given = {keyword.arg for keyword in call.keywords}
    return [info for info in parameters[count:] if info.name not in given]


def accepts_names(function: Callable[..., Any]) -> bool:
    """Whether arguments can be passed by name that ``function`` does not declare."""
    return any(p.kind is p.VAR_KEYWORD for p in _parameters(function))


def may_be_a_parameter(name: str) -> bool:
    """Whether a word of a line that failed may name an argument: no word of Python's own."""
    return name.isidentifier() and not keyword.iskeyword(name) and not hasattr(builtins, name) and name != "self"


def _accepts_any(function: Callable[..., Any]) -> bool:
    return any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in _parameters(function))


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _receivers(made: Any, function: Callable[..., Any]) -> Iterator[tuple[Callable[..., Any], Any, ast.Call]]:
    """Functions that are called with ``*args`` or ``**kwargs``, the object of those that are methods, and the call."""
    variadic = {p.name for p in _parameters(function) if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    tree = parsed_source_of(function)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call) and _passes_on(node, variadic):
            receiver = _receiver(node.func, made, function)
            if receiver is not None:
                yield *receiver, node


def _passes_on(call: ast.Call, variadic: set[str]) -> bool:
    values = [a.value for a in call.args if isinstance(a, ast.Starred)]
    values += [k.value for k in call.keywords if k.arg is None]
    return any(isinstance(value, ast.Name) and value.id in variadic for value in values)


def _receiver(node: ast.expr, made: Any, function: Callable[..., Any]) -> tuple[Callable[..., Any], Any] | None:
    text = ast.unparse(node)
    if text.startswith("super()."):
        owners = [c for c in type(made).__mro__ if vars(c).get(function.__name__) is function]
        bases = type(made).__mro__[type(made).__mro__.index(owners[0]) + 1 :] if owners else ()
        method = next((vars(c)[node.attr] for c in bases if getattr(node, "attr", "") in vars(c)), None)  # type: ignore[attr-defined]
        return (method, made) if inspect.isfunction(method) else None
    if not text.startswith("self.") or not text.replace(".", "").isidentifier():
        return None
    found = part_of(made, text.removeprefix("self."))
    if hasattr(found, "named_parameters") and hasattr(type(found), "forward"):
        return type(found).forward, found
    if inspect.ismethod(found):
        return found.__func__, found.__self__
    return (found, None) if inspect.isfunction(found) else None
