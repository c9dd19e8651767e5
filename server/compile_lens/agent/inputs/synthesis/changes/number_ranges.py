"""Replaces numbers that are outside of what a program allows: `assert 0 < rate < 1`, "cutoff 64 is outside [1.0, 3.0]"; and those that must
agree with another one: `if core.decay != output.decay: raise`.

Which argument a number comes from is seen from the names that lead to it where the program failed: `outer = float(config["zbl"])`.
"""

from __future__ import annotations

import ast
import copy
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import FrameType
from typing import Any

from ..errors.failed_conditions import Relation, relations, source_tree
from ..errors.failing_lines import innermost, names_in_failing_lines
from ..terms.arguments import INSIDE, Argument, Expression, Group, UnknownInteger
from ..terms.candidate import Candidate

MOST_VALUES, MOST_SUSPECTS = 3, 3
# how far back a name is followed
MOST_STEPS = 4
Number = int | float
_HOLDS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.NotEq: operator.ne,
}
_NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
_WITHIN = re.compile(
    r"\b(?:outside|within|in|range|interval|between|from)\b[^\d\[(\-]{0,24}[\[(]? ?"
    rf"(?P<low>{_NUMBER}) ?(?:,|and|to|\.\.|-) ?(?P<high>{_NUMBER})"
)
_BOUNDS: tuple[tuple[re.Pattern[str], type[ast.cmpop]], ...] = (
    (
        re.compile(
            rf"(?:>=|\bat least|\bnot? (?:be )?(?:less|smaller|lower) than|\bbelow the minimum(?: of)?) ?({_NUMBER})"
        ),
        ast.GtE,
    ),
    (
        re.compile(
            rf"(?:<=|\bat most|\bnot? (?:be )?(?:more|greater|larger|higher) than|\bexceeds?(?: the maximum(?: of)?)?) ?({_NUMBER})"
        ),
        ast.LtE,
    ),
    (re.compile(rf"(?:>|(?<!not )(?<!no )(?<!not be )\b(?:greater|larger|more|higher) than) ?({_NUMBER})"), ast.Gt),
    (re.compile(rf"(?:<|(?<!not )(?<!no )(?<!not be )\b(?:less|smaller|lower|fewer) than) ?({_NUMBER})"), ast.Lt),
)
# "A has decay = 1.0 and B has decay = 0.0. They must have the same value."
_SAME = re.compile(
    r"\b(?:must|should|have to|has to) (?:both )?(?:(?:have|be) (?:the same|equal|identical)|match|agree)\b", re.I
)
_IS = re.compile(rf"= ?({_NUMBER})")
# indices of dimensions
_DIMENSIONS = re.compile(
    r"Dimension out of range \(expected to be in range of \[(?P<low>-\d+), (?P<high>\d+)\], but got (?P<got>-?\d+)\)"
)


def with_number_in_bounds(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates with numbers that a program allows in place of those that it refuses for their size."""
    numbers = list(_numbers(candidate))
    for path, values in (
        *_of_dimensions(numbers, error),
        *_of_conditions(numbers, error),
        *_of_message(numbers, error),
        *_of_agreement(numbers, error),
    ):
        given = _at(candidate, path)
        for value in values[:MOST_VALUES]:
            yield _with(candidate, path, given, value)


def _of_conditions(numbers: list[tuple[str, Number]], error: BaseException) -> Iterator[tuple[str, list[Number]]]:
    """Numbers that the condition which a program raised for compares, and those for which it would hold."""
    frame, _ = innermost(error)
    bounds: dict[str, tuple[Relation, list[tuple[type[ast.cmpop], Number]]]] = {}
    for relation in (each for one in relations(error) for each in one.both_ways() if one.operator in _HOLDS):
        now, bound = relation.values
        if _is_number(now) and _is_number(bound) and not isinstance(relation.left, ast.Constant):
            bounds.setdefault(ast.unparse(relation.left), (relation, []))[1].append((relation.operator, bound))
    for relation, limits in bounds.values():
        now = relation.value(relation.left)
        values = _allowed(now, limits)
        if not values:
            continue
        words = leading_to(relation.left, frame)
        for path in _suspects(numbers, now, words):
            yield path, values


def _of_agreement(numbers: list[tuple[str, Number]], error: BaseException) -> Iterator[tuple[str, list[Number]]]:
    """Numbers that a condition demands to be the same as another one, and that: a default of the program, where one is made up."""
    frame, _ = innermost(error)
    for relation in (each for one in relations(error) for each in one.both_ways() if one.operator is ast.Eq):
        now, other = relation.values
        # a remainder that must be 0 agrees with nothing
        is_written = any(isinstance(each, (ast.Constant, ast.BinOp)) for each in (relation.left, relation.right))
        if not is_written and _is_number(now) and _is_number(other) and now != other:
            for path in _suspects(numbers, now, leading_to(relation.left, frame)):
                yield path, [other]
    told = [_read(number) for number in _IS.findall(str(error))] if _SAME.search(str(error)) else []
    if len(told) == 2 and isinstance(error, (ValueError, AssertionError, RuntimeError)):
        words = {word.lower() for word in re.findall(r"[A-Za-z]\w*", str(error))}
        for now, other in (told, told[::-1]) if told[0] != told[1] else ():
            for path in _suspects(numbers, now, words):
                yield path, [other]


def _of_message(numbers: list[tuple[str, Number]], error: BaseException) -> Iterator[tuple[str, list[Number]]]:
    """Numbers that a message quotes or names, and those that are in the range which it tells."""
    text = str(error)
    if not isinstance(error, (ValueError, AssertionError, RuntimeError)):
        return
    limits: list[tuple[type[ast.cmpop], Number]] = []
    for found in _WITHIN.finditer(text):
        low, high = _read(found["low"]), _read(found["high"])
        limits += [(ast.GtE, low), (ast.LtE, high)] if low < high else []
    for pattern, kind in _BOUNDS:
        limits += [(kind, _read(number)) for number in pattern.findall(text)]
    if not limits:
        return
    quoted = {_read(number) for number in re.findall(rf"(?<![\w.]){_NUMBER}", text)}
    words = {word.lower() for word in re.findall(r"[A-Za-z]\w*", text)} | {
        each.lower() for each in names_in_failing_lines(error)
    }
    for now in dict.fromkeys(value for _, value in numbers):
        values = _allowed(now, limits)
        if values and now in quoted:
            for path in _suspects(numbers, now, words):
                yield path, values


def _of_dimensions(numbers: list[tuple[str, Number]], error: BaseException) -> Iterator[tuple[str, list[Number]]]:
    """Numbers that a program takes for the index of a dimension, and the last dimension, the second, the first."""
    found = _DIMENSIONS.search(str(error))
    if found is None:
        return
    values: list[Number] = [-1, *(index for index in (1, 0) if index <= int(found["high"]))]
    words = {each.lower() for each in names_in_failing_lines(error)}
    for path in _suspects(numbers, int(found["got"]), words):
        yield path, values


def _allowed(now: Number, limits: list[tuple[type[ast.cmpop], Number]]) -> list[Number]:
    """Numbers for which all of ``limits`` hold, the nearest to what is usual first; none where they hold for ``now``."""
    if all(_HOLDS[kind](now, bound) for kind, bound in limits):
        return []
    found: list[Number] = []
    for kind, bound in limits:
        is_whole = isinstance(bound, int) and isinstance(now, int)
        if kind in (ast.GtE, ast.LtE):
            found.append(bound)
        elif kind in (ast.Gt, ast.NotEq):
            found.append(bound + 1)
        else:
            found.append(bound - 1 if (is_whole and bound > 1) or bound <= 0 else bound / 2)
    lows = [bound for kind, bound in limits if kind in (ast.Gt, ast.GtE)]
    highs = [bound for kind, bound in limits if kind in (ast.Lt, ast.LtE)]
    if lows and highs:
        found.insert(0, (max(lows) + min(highs)) / 2)
    wholes: list[Number] = [int(value) for value in found if isinstance(now, int) and value == int(value)]
    return [value for value in dict.fromkeys((*wholes, *found)) if all(_HOLDS[k](value, bound) for k, bound in limits)]


def _suspects(numbers: list[tuple[str, Number]], now: Number, words: set[str]) -> list[str]:
    """The arguments that have the value ``now`` and a name among ``words``; else the only one that has it."""
    same = [path for path, value in numbers if value == now]
    named = [path for path in same if _last(path) in words or _is_told(_last(path), words)]
    return (named or (same if len(same) == 1 else []))[:MOST_SUSPECTS]


def _is_told(name: str, words: set[str]) -> bool:
    """Whether all parts of a name are among ``words``: ``angular_cutoff`` where a message speaks of the angular cutoff."""
    parts = [part for part in name.split("_") if len(part) > 2]
    return bool(parts) and all(part in words for part in parts)


def leading_to(node: ast.AST, frame: FrameType | None) -> set[str]:
    """The names and keys in ``node``, and those in what they were assigned from where the program failed."""
    assigned: dict[str, set[str]] = {}
    tree = source_tree(frame)
    for each in ast.walk(tree) if tree is not None else ():
        targets: list[ast.expr] = []
        if isinstance(each, ast.Assign):
            targets, value = each.targets, each.value
        elif isinstance(each, (ast.For, ast.comprehension)):
            targets, value = [each.target], each.iter
        for target in targets:
            for name in _words(target):
                assigned.setdefault(name, set()).update(_words(value))
    found = _words(node)
    for _ in range(MOST_STEPS):
        found |= {word for name in found for word in assigned.get(name, ())}
    return {word.lower().strip("_") for word in found}


def _words(node: ast.AST) -> set[str]:
    """The names, attributes and texts in a piece of source."""
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            found.add(each.id)
        elif isinstance(each, ast.Attribute):
            found.add(each.attr)
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            found.add(each.value)
    return found


def _numbers(candidate: Candidate) -> Iterator[tuple[str, Number]]:
    """The numbers that are passed, also inside of objects; of lists of one number, that."""
    for path, argument in (*candidate.arguments.plain(), *candidate.arguments.groups()):
        value = _value(candidate, argument)
        if value is not None:
            yield path, value


def _value(candidate: Candidate, argument: Argument) -> Number | None:
    if isinstance(argument, Group):
        return _value(candidate, argument.items[0]) if argument.items and len(set(argument.items)) == 1 else None
    if isinstance(argument, UnknownInteger):
        return candidate.unknowns.by_name[argument.name].value
    text = argument.text if isinstance(argument, Expression) else ""
    return _read(text) if re.fullmatch(_NUMBER, text) else None


def _read(text: str) -> Number:
    return float(text) if re.search(r"[.e]", text) else int(text)


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _last(path: str) -> str:
    return path.rpartition(INSIDE)[2].strip("_").lower()


def _at(candidate: Candidate, path: str) -> Argument | None:
    return dict([*candidate.arguments.plain(), *candidate.arguments.groups()])[path]


def _with(candidate: Candidate, path: str, given: Argument | None, value: Number) -> Candidate:
    return Candidate(
        candidate.arguments.with_argument(path, _in_place_of(given, value)), copy.deepcopy(candidate.unknowns)
    )


def _in_place_of(given: Argument | None, value: Number) -> Argument:
    if isinstance(given, Group):
        return replace(given, items=tuple(_in_place_of(each, value) for each in given.items))
    return Expression(repr(value))
