"""A dictionary that a program unpacks into the call of a part: `self.encoder(**x)` has what that takes."""

from __future__ import annotations

import ast
import copy
import inspect
import re
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from ..errors.called_there import value_of
from ..errors.failed_conditions import source_tree
from ..source.guesses import INPUTS, by_name
from ..source.signatures import read_parameters
from ..terms.arguments import Argument, Fields
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns
from ..terms.parameter_info import ParameterInfo

_ABOUT_INPUTS = re.compile(
    r"argument after \*\* must be a mapping|got an unexpected keyword argument|missing \d+ required|\bexactly one\b|\beither\b.*\bor\b"
)


def with_unpacked_inputs(
    candidate: Candidate, error: BaseException, guess: Callable[[str, Unknowns], Argument]
) -> Iterator[Candidate]:
    """Candidates in which what the failing functions unpack into a call has the arguments that it needs; where it needs none, its first
    one, then the one of its optional ones that models usually get."""
    if _ABOUT_INPUTS.search(str(error)) is None:
        return
    for frame, line in traceback.walk_tb(error.__traceback__):
        for name, call in _unpacking_calls(frame, line - frame.f_code.co_firstlineno + 1):
            if candidate.arguments.get(name) is None:
                continue
            passed = {each.arg for each in call.keywords if each.arg is not None}
            infos = [each for each in _taken_by(value_of(call.func, frame)) if each.name not in passed]
            for names in _ways(infos[len(call.args) :]):
                unknowns, made = copy.deepcopy(candidate.unknowns), Fields(is_dict=True)
                for each in names:
                    made = made.with_field(each, guess(each, unknowns))
                yield Candidate(candidate.arguments.with_argument(name, made), unknowns)


def _ways(infos: list[ParameterInfo]) -> Iterator[list[str]]:
    needed = [each.name for each in infos if each.required]
    if needed:
        yield needed
        return
    usual = [each.name for each in infos if by_name(INPUTS, each.name) is not None]
    for name in dict.fromkeys((*(each.name for each in infos[:1]), *usual[:1])):
        yield [name]


def _taken_by(called: Any) -> list[ParameterInfo]:
    """The parameters of a module, a method or a function."""
    forward = getattr(type(called), "forward", None) if hasattr(called, "parameters") else None
    if forward is not None:
        return read_parameters(forward, skip_first=True)
    is_function = inspect.isfunction(called) or inspect.ismethod(called)
    return read_parameters(called, skip_first=False) if is_function else []


def _unpacking_calls(frame: FrameType, row: int) -> Iterator[tuple[str, ast.Call]]:
    """The calls in ``row`` of a function that a variable is unpacked into, with its name."""
    tree = source_tree(frame)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call) and node.lineno <= row <= (node.end_lineno or row):
            for keyword in node.keywords:
                if keyword.arg is None and isinstance(keyword.value, ast.Name):
                    yield keyword.value.id, node
