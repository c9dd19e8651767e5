"""Replaces numbers that a program refuses: with those that it lists or compares with, or with the same of another type.

`scale must be 2 or 3 or 4`, `if r == 2: … elif r == 4: … else: raise`, `&` of a float, `requires_grad must be a bool`.
"""

from __future__ import annotations

import ast
import copy
import functools
import re
from collections.abc import Iterator
from types import FrameType

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed, parsed_source_of
from ..errors.failing_lines import failing_line, innermost, names_in_failing_lines
from ..terms.arguments import INSIDE, Argument, Expression, UnknownInteger
from ..terms.candidate import Candidate

MOST_VALUES, MOST_SUSPECTS = 4, 4
_LISTED = re.compile(
    r"(?:\bone of|\bin|\bfrom|\bare|\bbe|\bbe either|\bsupports?|\bonly|:)\s*[\[({]?"
    r"(-?\d+(?:\.\d+)?(?:(?:,? (?:or|and)|,) ?-?\d+(?:\.\d+)?)+)"
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# what looks up names and items alone
_PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Load)
_IS_REFUSED = (ValueError, AssertionError, NotImplementedError, KeyError, RuntimeError)
_MUST_BE = r"\b(?:must|should|has to|needs to|expected to) be (?:of type )?(?:an? )?"
_INTEGER = re.compile(
    r"unsupported operand type\(s\) for (?:[&|^]|<<|>>)=?: .*'float'|'float' object cannot be interpreted as an integer"
    rf"|{_MUST_BE}(?:positive |non-negative )?int(?:eger)?\b|indices must be integers|found element of type float"
    r"|must be tuple of ints, ?but got float"
)
_OUT_OF_RANGE = re.compile(r"index (?P<got>\d+) is out of bounds for (?:dimension|axis) \d+ with size (?P<size>\d+)")
_FLAG = re.compile(rf"{_MUST_BE}bool(?:ean)?\b")
_FRACTION = re.compile(rf"{_MUST_BE}(?:float|real number)\b")


def with_accepted_number(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates with a number that the program accepts in place of one that it does not, in what the error is about."""
    if not isinstance(error, _IS_REFUSED):
        return
    listed = [_read(text) for found in _LISTED.findall(str(error)) for text in _NUMBER.findall(found)]
    compared = _looked_up(error) if isinstance(error, KeyError) else _compared(error)
    for path, now in _suspects(candidate, error, compared):
        values = [*listed, *compared.get(_plain(path), ())]
        for value in [each for each in dict.fromkeys(values) if each != now][:MOST_VALUES]:
            yield _with(candidate, path, value)


def with_number_of_type(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates with an integer, a flag or a fraction for a number of another type that the error is about."""
    text = str(error)
    for path, now in _suspects(candidate, error, {}):
        if _INTEGER.search(text) and isinstance(now, float):
            yield from (_with(candidate, path, value) for value in dict.fromkeys((max(int(now), 2), max(int(now), 1))))
        elif _FLAG.search(text):
            yield from (_with(candidate, path, value) for value in (True, False))
        elif _FRACTION.search(text) and isinstance(now, int):
            yield _with(candidate, path, float(now))


def with_number_in_range(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """The candidate in which numbers that are too large for indices are the first ones: of a table of indices, each another."""
    match = _OUT_OF_RANGE.search(str(error))
    same = [
        path for path, each in candidate.arguments.plain() if match and _value(candidate, each) == int(match["got"])
    ]
    if match is None or not same:
        return
    arguments = candidate.arguments
    for number, path in enumerate(same):
        arguments = arguments.with_argument(path, Expression(str(number % max(int(match["size"]), 1))))
    yield Candidate(arguments, copy.deepcopy(candidate.unknowns))


def _suspects(
    candidate: Candidate, error: BaseException, compared: dict[str, tuple[int | float, ...]]
) -> list[tuple[str, int | float]]:
    """The numbers that an error may be about: those it names first, then those compared before it, then those of its lines."""
    text = str(error)
    in_lines = [each.strip("_") for each in names_in_failing_lines(error)]
    also_called = {alias: name for name, alias in _names_of_parameters(error).items()}
    found: list[tuple[int, str, int | float]] = []
    for path, argument in candidate.arguments.plain():
        value, name = _value(candidate, argument), _plain(path)
        if value is None:
            continue
        is_in_line = name in in_lines or also_called.get(name, "") in in_lines
        is_named = re.search(rf"\b_?{re.escape(name)}\b", text) is not None
        if is_named or is_in_line or name in compared:
            found.append((-4 * is_named - 2 * (name in compared) - is_in_line, path, value))
    return [(path, value) for _, path, value in sorted(found, key=lambda each: each[0])[:MOST_SUSPECTS]]


def _plain(path: str) -> str:
    return path.rpartition(INSIDE)[2].strip("_")


def _value(candidate: Candidate, argument: Argument) -> int | float | None:
    if isinstance(argument, UnknownInteger):
        return candidate.unknowns.by_name[argument.name].value
    text = argument.text if isinstance(argument, Expression) else ""
    return _read(text) if re.fullmatch(_NUMBER.pattern + r"(?:e-?\d+)?", text) else None


def _read(text: str) -> int | float:
    return float(text) if re.search(r"[.e]", text) else int(text)


def _compared(error: BaseException) -> dict[str, tuple[int | float, ...]]:
    """The numbers that names are compared with by the conditions which led to a `raise` or an `assert`, by the name of the parameter."""
    frame, line = innermost(error)
    tree = _tree_of(frame)
    if frame is None or tree is None:
        return {}
    row = line - frame.f_code.co_firstlineno + 1
    parameters = _names_of_parameters(error)
    found: dict[str, list[int | float]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.Assert)) and node.lineno <= row <= (node.end_lineno or row):
            for name, values in _comparisons(node.test):
                found.setdefault(parameters.get(name, name), []).extend(values)
    return {name: tuple(dict.fromkeys(values)) for name, values in found.items()}


def _looked_up(error: BaseException) -> dict[str, tuple[int | float, ...]]:
    """The keys of the tables in the failing line that have numbers for keys, by the name of what they are looked up by."""
    frame, _ = innermost(error)
    tree = parsed(failing_line(error))
    found: dict[str, tuple[int | float, ...]] = {}
    if frame is None or tree is None:
        return found
    for node in ast.walk(tree):
        if not isinstance(node, ast.Subscript) or not _name(node.slice):
            continue
        if all(isinstance(each, _PLAIN) for each in ast.walk(node.value)):
            text = compile(ast.Expression(node.value), "", "eval")
            table = attempted(functools.partial(eval, text, frame.f_globals, frame.f_locals))
            if type(table) is dict:
                found[_name(node.slice)] = tuple(key for key in table if type(key) in (int, float))
    return found


def _comparisons(test: ast.expr) -> Iterator[tuple[str, list[int | float]]]:
    for node in ast.walk(test):
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.In, ast.NotIn)):
            continue
        name, values = _name(node.left), attempted(functools.partial(ast.literal_eval, node.comparators[0]))
        items = values if isinstance(values, (tuple, list, set)) else [values]
        numbers = [each for each in items if isinstance(each, (int, float)) and not isinstance(each, bool)]
        if name and numbers:
            yield name, numbers


def _names_of_parameters(error: BaseException) -> dict[str, str]:
    """For names that the failing function gives to parameters of its own, those parameters: `r = scale`, `self.r = scale`."""
    frame, _ = innermost(error)
    tree = _tree_of(frame)
    found: dict[str, str] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            found.update({_name(target): node.value.id.strip("_") for target in node.targets if _name(target)})
    return found


def _name(node: ast.expr) -> str:
    """``mode`` for ``mode`` and ``self._mode``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr.strip("_")
    return node.id.strip("_") if isinstance(node, ast.Name) else ""


def _tree_of(frame: FrameType | None) -> ast.AST | None:
    return parsed_source_of(frame.f_code) if frame is not None else None


def _with(candidate: Candidate, path: str, value: bool | int | float) -> Candidate:
    return Candidate(
        candidate.arguments.with_argument(path, Expression(repr(value))), copy.deepcopy(candidate.unknowns)
    )
