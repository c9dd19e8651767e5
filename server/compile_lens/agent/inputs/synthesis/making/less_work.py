"""Makes constructors do less that compute for long: smaller numbers where their loops run, smaller tables, smaller everything.

Only numbers that were chosen for a trial, or that are defaults, become smaller: what a call site passes stays.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from ....runtime.parsed_source import parsed_source_of
from ..terms.arguments import Argument, Expression, Group, UnknownInteger, literal
from ..terms.candidate import Candidate
from ..terms.parameter_info import ParameterInfo
from ..trying.progress import ExecutedLine, steps_to

# default numbers that make a constructor slow, and what they become
LARGE, LESS, LEAST = 256, 8, 64
# all others, and those that stay: heads, channels of an image, layers
SHARE, SMALL, SMALLEST = 4, 4, 2
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def with_less_work(
    candidate: Candidate,
    infos: Iterable[ParameterInfo],
    error: BaseException | None = None,
    fixed: Collection[str] = (),
) -> Iterator[Candidate]:
    """The candidate with smaller numbers, for a constructor that ``error`` ended: those that its loops there run over, large defaults (a
    transform of 2048 points), and all. ``fixed`` are parameters that keep what they get."""
    changeable = [info for info in infos if info.name not in fixed]
    used = _words_around(steps_to(error)) if error is not None else frozenset()
    seen = {candidate.text}
    for some, smaller in (
        ([info for info in changeable if info.name in used], _quarter),
        ([info for info in changeable if candidate.arguments.get(info.name) is None], _of_large),
        (changeable, _quarter),
    ):
        changed = _with_smaller(candidate, some, smaller)
        if changed.text not in seen:
            seen.add(changed.text)
            yield changed


def _with_smaller(candidate: Candidate, infos: list[ParameterInfo], smaller: Callable[[int], int]) -> Candidate:
    arguments, unknowns = candidate.arguments, copy.deepcopy(candidate.unknowns)
    for info in infos:
        given = arguments.get(info.name)
        if given is None:
            less = _smaller_value(info.default, smaller)
            if less != info.default:
                arguments = arguments.with_argument(info.name, Expression(str(literal(less))))
        else:
            arguments = arguments.with_argument(info.name, _smaller_argument(given, smaller))
            for name in _unknowns_in(given):
                # one that several arguments share becomes smaller once
                unknowns.by_name[name].value = smaller(candidate.unknowns.by_name[name].value)
    return Candidate(arguments, unknowns)


def _unknowns_in(given: Argument) -> Iterator[str]:
    if isinstance(given, UnknownInteger):
        yield given.name
    for each in given.items if isinstance(given, Group) else ():
        yield from _unknowns_in(each)


def _smaller_argument(given: Argument, smaller: Callable[[int], int]) -> Argument:
    """``given`` with smaller numbers in it, but for those that are unknown sizes."""
    if isinstance(given, Group):
        return Group(tuple(_smaller_argument(each, smaller) for each in given.items), given.is_list)
    if isinstance(given, Expression) and re.fullmatch(r"\d+", given.text):
        return Expression(str(smaller(int(given.text))))
    return given


def _smaller_value(value: Any, smaller: Callable[[int], int]) -> Any:
    if type(value) is int:
        return smaller(value)
    return type(value)(_smaller_value(each, smaller) for each in value) if type(value) in (tuple, list) else value


def _quarter(number: int) -> int:
    return max(number // SHARE, SMALLEST) if number > SMALL else number


def _of_large(number: int) -> int:
    return max(number // LESS, LEAST) if number > LARGE else number


def _words_around(steps: tuple[ExecutedLine, ...]) -> frozenset[str]:
    """The names in the lines that were executed, and in the heads of the loops around them, as parameters have them: ``depth`` for
    ``range(self._depth)``."""
    found: set[str] = set()
    for step in steps:
        tree, row = parsed_source_of(step.code), step.line - step.code.co_firstlineno + 1
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.stmt | ast.expr) and not node.lineno <= row <= (node.end_lineno or row):
                continue
            if isinstance(node, ast.For | ast.While):
                found.update(_words(node.test if isinstance(node, ast.While) else node.iter))
            elif isinstance(node, _COMPREHENSIONS):
                found.update(word for each in node.generators for word in _words(each.iter))
            elif isinstance(node, (ast.Call, ast.Assign)) and node.lineno == row:
                found.update(_words(node))
    return frozenset(found)


def _words(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name | ast.Attribute):
            yield (each.id if isinstance(each, ast.Name) else each.attr).strip("_")
