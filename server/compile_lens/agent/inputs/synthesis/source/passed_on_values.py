"""Reads what a parameter is from the functions and methods of the user's that get it as it is: `self.transform(x)`, `index(xyz, ids)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from ....runtime.foreign_code import part_of
from ..terms.parameter_info import ParameterInfo
from .guesses import DIMENSIONS, by_name

# a chain of functions that pass a value on is followed so far
MAX_DEPTH = 2
Reader = Callable[[Any, bool, int], list[ParameterInfo]]


def read_passed_on(function: Any, infos: list[ParameterInfo], read: Reader, depth: int) -> None:
    """Add to ``infos``, the parameters of ``function``, what the functions say that get their values. ``read`` reads parameters."""
    if depth >= MAX_DEPTH:
        return
    known: dict[str, list[ParameterInfo]] = {}
    for info in infos:
        for written, place in info.passed_on:
            if written not in known:
                known[written] = _parameters_of(function, written, read, depth)
            inner = _at(known[written], place)
            if inner is not None:
                _learn(info, inner)


def learn_from_parts(made: Any, infos: list[ParameterInfo], read: Reader, depth: int = 0) -> None:
    """Add to ``infos``, the parameters of a method of ``made``, the dtypes that its parts ask for which get their values."""
    import torch

    known: dict[str, list[ParameterInfo]] = {}
    for info in infos:
        for written, place in info.passed_on if depth < MAX_DEPTH and not info.dtype else ():
            part = part_of(made, written.removeprefix("self.")) if written.startswith("self.") else None
            if not isinstance(part, torch.nn.Module) or type(part).__module__.partition(".")[0] == "torch":
                continue
            if written not in known:
                known[written] = read(getattr(type(part), "forward"), True, 0)  # noqa: B009
                learn_from_parts(part, known[written], read, depth + 1)
            inner = _at(known[written], place)
            info.dtype = info.dtype or (inner.dtype if inner is not None else "")


def _parameters_of(function: Any, written: str, read: Reader, depth: int) -> list[ParameterInfo]:
    receiver, is_method = next(receivers(function, written), (None, False))
    return read(receiver, is_method, depth + 1) if receiver is not None else []


def receivers(function: Any, written: str) -> Iterator[tuple[Any, bool]]:
    """What ``written`` names inside of ``function``, ``helper`` or ``self.method``, and whether its first parameter is the object."""
    function = inspect.unwrap(function)
    names = getattr(function, "__globals__", {})
    first, _, method = written.rpartition(".")
    found: Any = names.get(written)
    is_method = False
    if first:
        owner = names.get(getattr(function, "__qualname__", "").rpartition(".")[0])
        static = inspect.getattr_static(owner, method, None) if isinstance(owner, type) else None
        is_method = inspect.isfunction(static)
        found = static if is_method else getattr(static, "__func__", None)
    root = str(getattr(found, "__module__", "")).partition(".")[0]
    if inspect.isfunction(found) and found is not function and root == str(names.get("__name__")).partition(".")[0]:
        yield found, is_method


def _at(infos: list[ParameterInfo], place: int | str) -> ParameterInfo | None:
    if isinstance(place, str):
        return next((info for info in infos if info.name == place), None)
    return infos[place] if place < len(infos) else None


def _learn(info: ParameterInfo, inner: ParameterInfo) -> None:
    """Add what is known of the parameter that gets the value of another one."""
    if info.dims is None and inner.dims is not None:
        # names that say nothing of a size are those of the other function alone
        info.dims = tuple(dim if dim.isdecimal() or by_name(DIMENSIONS, dim) else "" for dim in inner.dims)
    info.dtype = info.dtype or inner.dtype
    info.field_kinds.update({each: kind for each, kind in inner.field_kinds.items() if each not in info.field_kinds})
    info.least_rank = max(info.least_rank, inner.least_rank)
    info.states = info.states or inner.states
    info.of_graph = info.of_graph or inner.of_graph
