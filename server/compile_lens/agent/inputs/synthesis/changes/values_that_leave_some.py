"""Values that leave something: masks whose every item is on, numbers that are all of one kind."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import replace

from ..errors.failing_lines import failing_lines
from ..terms.arguments import INSIDE
from ..terms.candidate import Candidate

_TESTED = re.compile(r"\b(?:all|any)\b|\b(?:sum|count_nonzero)\(|\bnon-?empty\b|\bat least one\b")
_EMPTY = re.compile(r"non-empty (?:list|TensorList)")
_ONES = 1


def with_full_masks(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """The candidate with masks of ones, where the program raised because of what one holds."""
    if not isinstance(error, (AssertionError, ValueError, RuntimeError)):
        return
    told = f"{error} {next(failing_lines(error), '')}"
    if _TESTED.search(told) is None and "mask" not in str(error):
        return
    arguments = candidate.arguments
    for path, tensor in candidate.arguments.tensors():
        name = path.rpartition(INSIDE)[2]
        is_random = tensor.dtype == "bool" or (tensor.dtype.startswith("int") and "mask" in name)
        if is_random and tensor.equal is None and (name in told or "mask" in told):
            arguments = arguments.with_argument(path, replace(tensor, below=None, equal=_ONES))
    if arguments is not candidate.arguments:
        yield Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)


def of_one_kind(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """The candidate with zeros for integers, where what a program picks by them is empty: `order == 0`."""
    arguments = candidate.arguments
    for path, tensor in candidate.arguments.tensors() if _EMPTY.search(str(error)) is not None else ():
        if tensor.dtype.startswith("int") and tensor.equal is None:
            arguments = arguments.with_argument(path, replace(tensor, below=None, equal=0))
    if arguments is not candidate.arguments:
        yield Candidate(arguments, copy.deepcopy(candidate.unknowns), candidate.negated)
