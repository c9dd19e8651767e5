"""Lists that must have as many items as another: `zip(sizes, widths, strict=True)`, `if len(sizes) != len(widths): raise …`."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import replace

from ..errors.failed_conditions import conditions
from ..errors.failing_lines import innermost, names_in_failing_lines
from ..terms.arguments import INSIDE, Argument, Expression, Group, UnknownInteger
from ..terms.candidate import Candidate
from .number_ranges import leading_to

MOST_ITEMS = 8
_TOLD = re.compile(
    r"zip\(\) argument \d+ is (?:shorter|longer) than"
    r"|\b(?:same|equal|matching|identical|unequal|different) (?:lengths?|number)\b|\blengths?\b.{0,60}\b(?:match|equal|differ|same)",
    re.I | re.S,
)


def with_equal_lengths(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which what an error says to be of one length is: of the longest one's, then of the shortest one's.

    A number stands for a list of it: what lets a user pass one number for all is most often not asked for the other.
    """
    if not _is_about_lengths(error):
        return
    words = _words(error)
    lists = {path: each for path, each in candidate.arguments.groups() if _last(path) in words}
    numbers = {path: each for path, each in candidate.arguments.plain() if _last(path) in words and _is_value(each)}
    lengths = sorted({len(each.items) for each in lists.values()} - {0}, reverse=True)
    for length in lengths[:2] if lengths and lengths[0] <= MOST_ITEMS else ():
        arguments = candidate.arguments
        for path, group in lists.items():
            arguments = arguments.with_argument(path, replace(group, items=(group.items * length)[:length]))
        if arguments.named != candidate.arguments.named:
            yield Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)
        is_list = any(each.is_list for each in lists.values())
        for path, value in numbers.items():
            arguments = arguments.with_argument(path, Group((value,) * length, is_list))
        if numbers:
            yield Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)


def _is_about_lengths(error: BaseException) -> bool:
    """Whether an error says that two lengths differ, or a condition that it was raised for compares two of what has a name."""
    if not isinstance(error, (ValueError, AssertionError, RuntimeError, TypeError)):
        return False
    return _TOLD.search(str(error)) is not None or any(_lengths_in(test) > 1 for test, _ in conditions(error))


def _lengths_in(test: ast.expr) -> int:
    calls = (node for node in ast.walk(test) if isinstance(node, ast.Call))
    return sum(isinstance(call.func, ast.Name) and call.func.id == "len" for call in calls)


def _words(error: BaseException) -> set[str]:
    """The names that the condition, the message or the failing lines have."""
    frame, _ = innermost(error)
    found = {word for test, _ in conditions(error) for word in leading_to(test, frame)}
    found |= {word.lower() for word in re.findall(r"[A-Za-z_]\w*", str(error))}
    return found | {each.strip("_").lower() for each in names_in_failing_lines(error)}


def _last(path: str) -> str:
    return path.rpartition(INSIDE)[2].strip("_").lower()


def _is_value(argument: Argument) -> bool:
    """Whether it is a number or a text."""
    if isinstance(argument, Expression):
        return re.fullmatch(r"-?[\d.]+|'[^']*'", argument.text) is not None
    return isinstance(argument, UnknownInteger)
