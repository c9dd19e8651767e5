"""Dictionaries that become the arguments of a part, solved for as the part's own constructor demands: `Encoder(**encoder_settings)`.

What a dictionary must have is known where its part can be constructed alone: the arguments of that call are put into it.
"""

from __future__ import annotations

import ast
import copy
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import FrameType
from typing import Any

from ..errors.called_there import value_of
from ..errors.failed_conditions import source_tree
from ..terms.arguments import Argument, Constructed, Fields, Group, Tensor, UnknownInteger
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns

_NO_PARTS = ("torch", "builtins")


def with_settings_of_parts(
    candidate: Candidate, error: BaseException, made: Callable[[type], Candidate | None]
) -> Iterator[Candidate]:
    """Candidates in which an argument that the failing functions unpack into the constructor of a part has all that this takes; ``made``
    has arguments with which a class can be constructed, if they are found."""
    for frame, line in reversed([*traceback.walk_tb(error.__traceback__)]):
        for name, call in _constructing_calls(frame, line - frame.f_code.co_firstlineno + 1):
            cls = value_of(call.func, frame)
            name = name if candidate.arguments.get(name) is not None else name.strip("_")
            if candidate.arguments.get(name) is None or not isinstance(cls, type):
                continue
            found = made(cls) if cls.__module__.partition(".")[0] not in _NO_PARTS else None
            if found is not None:
                passed = {keyword.arg for keyword in call.keywords}
                yield _with(candidate, name, found, passed, len(call.args))


def _with(candidate: Candidate, name: str, found: Candidate, passed: set[str | None], positional: int) -> Candidate:
    unknowns = copy.deepcopy(candidate.unknowns)
    names = _added(unknowns, found.unknowns, name)
    taken = _renamed_all(found.arguments.named[positional:], names)
    settings = Fields(tuple(pair for pair in taken if pair[0] not in passed), is_dict=True)
    return Candidate(candidate.arguments.with_argument(name, settings), unknowns)


def _added(unknowns: Unknowns, more: Unknowns, prefix: str) -> dict[str, str]:
    """The names under which ``more`` are among ``unknowns`` now: their own, where they have the same value, so that they stay equal."""
    names: dict[str, str] = {}
    for name, each in more.by_name.items():
        known = unknowns.by_name.get(name)
        is_same = known is None or (known.value == each.value and known.fixed == each.fixed)
        names[name] = name if is_same else f"{prefix}.{name}"
        unknowns.get(names[name], each.value, each.fixed)
    return names


def _renamed_all(named: tuple[tuple[str, Argument], ...], names: dict[str, str]) -> tuple[tuple[str, Argument], ...]:
    return tuple((name, _renamed(argument, names)) for name, argument in named)


def _renamed(argument: Argument, names: dict[str, str]) -> Argument:
    match argument:
        case UnknownInteger(name):
            return UnknownInteger(names[name])
        case Tensor(dims=dims):
            return replace(argument, dims=tuple(names[dim] for dim in dims))
        case Group(items):
            return replace(argument, items=tuple(_renamed(item, names) for item in items))
        case Constructed(named=named) | Fields(named=named):
            return replace(argument, named=_renamed_all(named, names))
    return argument


def _constructing_calls(frame: FrameType, row: int) -> Iterator[tuple[str, ast.Call]]:
    """The calls in ``row`` of a function that something is unpacked into, with the name of that: `settings`, `self.settings`."""
    tree = source_tree(frame)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call) and node.lineno <= row <= (node.end_lineno or row):
            for keyword in node.keywords:
                name = _name(keyword.value) if keyword.arg is None else ""
                if name:
                    yield name, node


def _name(node: Any) -> str:
    match node:
        case ast.Name(name) | ast.Attribute(ast.Name("self"), name):
            return name
        case ast.BoolOp(ast.Or(), [first, *_]):
            return _name(first)
    return ""
