"""Lists and tuples that are longer or shorter: a program unpacks four, takes the last of five, or asserts a length."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import replace

from ..errors.asserted_sizes import asserted_lengths
from ..errors.failing_lines import failing_line, names_in_failing_lines
from ..terms.arguments import INSIDE, Expression, Group, UnknownInteger
from ..terms.candidate import Candidate

COMMON_LENGTHS = (4, 5, 6, 3)
_TOO_SHORT = re.compile(r"(?:list|tuple) index out of range")
_UNPACKED = re.compile(r"values to unpack \(expected (\d+)")
# a number for each dimension of an image or a volume, or two for each
_PADDED = re.compile(r"Padding size (?P<now>\d) is not supported for (?P<rank>\d)D input")
_FOR_EACH_DIMENSION = re.compile(
    r"a list of (?P<want>\d) values to match the convolution dimensions, but got \w+=\[(?P<given>[\d, ]+)\]"
    r"|input with spatial dimensions of \[(?P<sides>[\d, ]+)\] and (?:output size|scale_factor) of (?:shape )?"
    r"[\[(](?P<others>[\d., ]+)[\])]"
)
# of what there are as many as a program says: `Expected 4 stages, got 1`
_AS_MANY = re.compile(
    r"\b(?:expect(?:s|ed)?|requires?|needs?) (?:exactly )?(?P<want>\d) (?:\w+ ){0,3}?\w+[,;:]? (?:but )?"
    r"(?:got|received|found|given) (?P<got>\d)\b",
    re.I,
)
_LENGTH = re.compile(r"\blen\((?:self\.)?(\w+)\)\s*(?:==|!=|>=|<)\s*(\d+)")


def with_other_length(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which a list of numbers has as many items as an error says, or more where it has too few."""
    lists = [(path, each) for path, each in candidate.arguments.groups() if _is_of_numbers(each)]
    if not lists:
        return
    yield from _of_lengths(candidate, dict(lists), asserted_lengths(error))
    told = _told(error)
    if told is not None:
        lists = [pair for pair in lists if len(pair[1].items) == told[0]] or lists
    in_line, line = names_in_failing_lines(error), failing_line(error)
    unpacked, asserted = _UNPACKED.search(str(error)), _LENGTH.search(line)
    wanted: tuple[int, ...]
    if told is not None:
        wanted = (told[1],)
    elif asserted is not None and int(asserted[2]):  # what must be empty is what nobody passed
        wanted, lists = (int(asserted[2]),), [pair for pair in lists if _last(pair[0]) == asserted[1]] or lists
    elif unpacked is not None:
        wanted = (int(unpacked[1]),)
    elif _TOO_SHORT.search(str(error)) is not None:
        wanted = COMMON_LENGTHS
    else:
        return
    named = [pair for pair in lists if _last(pair[0]) in in_line] or lists
    for length in wanted:
        for name, group in sorted(named, key=lambda pair: _at(_last(pair[0]), in_line)):
            if len(group.items) != length:
                changed = candidate.arguments.with_argument(name, _of_length(group, length))
                yield Candidate(changed, copy.deepcopy(candidate.unknowns), candidate.negated)


def with_as_many_items(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which a list of any items has as many as ``error`` says, where it says that it has too few or too many."""
    told = _AS_MANY.search(str(error)) if isinstance(error, (ValueError, AssertionError, RuntimeError)) else None
    if told is None or not int(told["want"]):
        return
    for path, group in candidate.arguments.groups():
        if len(group.items) == int(told["got"]):
            changed = candidate.arguments.with_argument(path, _of_length(group, int(told["want"])))
            yield Candidate(changed, copy.deepcopy(candidate.unknowns), candidate.negated)


def told_length(error: BaseException) -> int:
    """How many numbers a layer takes, one for each dimension, where a message says so; else 0."""
    told = _told(error)
    return told[1] if told is not None else 0


def _told(error: BaseException) -> tuple[int, int] | None:
    """How many numbers a layer got, and how many it takes, as its message says."""
    text = str(error)
    padded, each = _PADDED.search(text), _FOR_EACH_DIMENSION.search(text)
    if padded is not None and int(padded["rank"]) > 2:
        return int(padded["now"]), 2 * (int(padded["rank"]) - 2)
    if each is None:
        return None
    if each["want"]:
        return each["given"].count(",") + 1, int(each["want"])
    return each["others"].rstrip(", ").count(",") + 1, each["sides"].count(",") + 1


def _of_lengths(candidate: Candidate, lists: dict[str, Group], lengths: dict[str, int]) -> Iterator[Candidate]:
    """The candidate with all lists of the lengths that a program compares theirs with."""
    arguments = candidate.arguments
    for path, group in lists.items():
        if _last(path) in lengths:
            arguments = arguments.with_argument(path, _of_length(group, lengths[_last(path)]))
    if arguments is not candidate.arguments:
        yield Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)


def _of_length(group: Group, length: int) -> Group:
    return replace(group, items=(group.items * length)[:length])


def _last(path: str) -> str:
    return path.rpartition(INSIDE)[2]


def _at(name: str, in_line: list[str]) -> int:
    return in_line.index(name) if name in in_line else len(in_line)


def _is_of_numbers(group: Group) -> bool:
    return all(
        isinstance(item, UnknownInteger)
        or (isinstance(item, Expression) and re.fullmatch(r"[\d.]+", item.text) is not None)
        for item in group.items
    )
