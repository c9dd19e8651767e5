"""Replaces lists and tensors that a program refuses for all of their items together: fractions that must sum to one, a matrix that must be
symmetric, texts of which each must be a known one."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from .arguments import INSIDE, Argument, Constructed, Expression, Group, Tensor, UnknownInteger
from .candidate import Candidate
from .failed_conditions import conditions
from .failing_lines import innermost
from .number_ranges import leading_to
from .other_values import accepted_by

MOST_SUSPECTS, MOST_TEXTS = 3, 3
_OF_SUM = re.compile(r"\bsums?\b.{0,40}?\b(?:1(?:\.0*)?|one|unity)\b|\bstochastic\b|\bnormali[sz]ed\b", re.I | re.S)
_OF_ZEROS = re.compile(r"\bzero\b|\bdiagonals?\b|== ?0\b|!= ?0\b", re.I)
_OF_SIGN = re.compile(r"\bnegative\b|\bnon-?negative\b|\bpositive\b(?!.{0,6}definite)|< ?0\b|<= ?0\b", re.I)
_OF_MATRIX = re.compile(
    r"symmetr|\btranspose\b|\.T\b|\.mT\b|\bdefinite\b|\borthogonal\b|\bunitary\b|\binvertible\b|\bsingular\b|\bidentity\b|\brank\b",
    re.I,
)
_MADE = re.compile(r"torch\.eye\((?P<sizes>\d+(?:, \d+)*)\)")
Make = Callable[[Argument, tuple[int, ...]], Argument | None]


def with_whole_values(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which lists and tensors are what a condition demands of them as a whole."""
    tests = [ast.unparse(test) for test, _ in conditions(error)]
    if not tests:
        return
    text = f"{error} {' '.join(tests)}"
    words = {word for test, _ in conditions(error) for word in leading_to(test, innermost(error)[0])}
    yield from _with_items(candidate, error, text, words)
    yield from _with_tensors(candidate, text, words)


def _with_items(candidate: Candidate, error: BaseException, text: str, words: set[str]) -> Iterator[Candidate]:
    groups = [(path, each) for path, each in candidate.arguments.groups() if _last(path) in words and _is_plain(each)]
    for path, group in groups[:MOST_SUSPECTS]:
        count = len(group.items)
        values: list[str] = [repr(1 / count)] if _OF_SUM.search(text) else []
        values += [repr(each) for each in accepted_by(error) if isinstance(each, str)][:MOST_TEXTS]
        for value in values:
            items = (Expression(value),) * count
            if items != group.items:
                yield _with(candidate, {path: replace(group, items=items)})


def _with_tensors(candidate: Candidate, text: str, words: set[str]) -> Iterator[Candidate]:
    """All tensors that the condition is about at once, then each."""
    known = {**dict(candidate.arguments.named), **dict(candidate.arguments.tensors())}
    suspects = [(path, each) for path, each in known.items() if _last(path) in words and _is_tensor(each)]
    for make in _makers(text) if suspects else ():
        made = {path: make(each, _sizes(candidate, each)) for path, each in suspects[:MOST_SUSPECTS]}
        changed = {path: value for path, value in made.items() if value is not None}
        if changed:
            yield _with(candidate, changed)
        for path, value in changed.items() if len(changed) > 1 else ():
            yield _with(candidate, {path: value})


def _makers(text: str) -> list[Make]:
    """What makes a tensor that has the property which ``text`` is about, the most usual first."""
    found: list[Make] = []
    if _OF_SUM.search(text):
        found += [_identity, _shares]
    if _OF_SIGN.search(text):
        found += [_positive]
    if _OF_ZEROS.search(text):
        found += [_zeros]
    if _OF_MATRIX.search(text):
        found += [_identity, _zeros]
    return list(dict.fromkeys(found))


def _identity(given: Argument, sizes: tuple[int, ...]) -> Argument | None:
    """A square matrix that is symmetric, invertible and definite, and whose rows sum to one."""
    is_square = len(sizes) == 2 and sizes[0] == sizes[1]
    return Expression(f"torch.eye({sizes[0]}, {sizes[1]})") if is_square else None


def _shares(given: Argument, sizes: tuple[int, ...]) -> Argument | None:
    """Rows of positive numbers that sum to one."""
    return Constructed("torch.softmax", (("input", given), ("dim", Expression("-1")))) if sizes else None


def _positive(given: Argument, sizes: tuple[int, ...]) -> Argument | None:
    return replace(given, below=1, equal=None) if isinstance(given, Tensor) else None


def _zeros(given: Argument, sizes: tuple[int, ...]) -> Argument | None:
    if isinstance(given, Tensor):
        return replace(given, below=None, equal=0)
    return Expression(f"torch.zeros({', '.join(map(str, sizes))})")


def _is_tensor(argument: Argument) -> bool:
    is_made = isinstance(argument, Expression) and _MADE.fullmatch(argument.text) is not None
    return is_made or (isinstance(argument, Tensor) and argument.dtype.startswith("float"))


def _sizes(candidate: Candidate, argument: Argument) -> tuple[int, ...]:
    """The sizes of a tensor, also of a matrix that was made here."""
    if isinstance(argument, Tensor):
        return tuple(candidate.unknowns.by_name[name].value for name in argument.dims)
    made = _MADE.fullmatch(argument.text) if isinstance(argument, Expression) else None
    return tuple(map(int, made["sizes"].split(", "))) if made is not None else ()


def _is_plain(group: Group) -> bool:
    return bool(group.items) and all(isinstance(each, (Expression, UnknownInteger)) for each in group.items)


def _last(path: str) -> str:
    return path.rpartition(INSIDE)[2].strip("_").lower()


def _with(candidate: Candidate, changed: dict[str, Argument]) -> Candidate:
    arguments = candidate.arguments
    for path, value in changed.items():
        arguments = arguments.with_argument(path, value)
    return Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)
