"""Tensors that a program flattens, as `labels.view(-1)` beside scores of as many items: one number for each item is enough."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator
from dataclasses import replace

from ....runtime.torchscript_errors import reason_of
from ..terms.arguments import Tensor
from ..terms.candidate import Candidate
from .other_kinds import nearest_first

_COMPARED = (
    re.compile(r"size of tensor a \((?P<one>\d+)\) must match the size of tensor b \((?P<other>\d+)\)"),
    re.compile(
        r"expected index \[(?P<one>\d+)[\d, ]*\] to be (?:no larger|smaller) than (?:self|src) \[(?P<other>\d+)"
    ),
    re.compile(r"[Ee]xpected input batch_size \((?P<one>\d+)\) to match target batch_size \((?P<other>\d+)\)"),
)


def with_rows_of_flattened(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates in which a tensor has a number or a vector for each item, where all of its numbers, or all of its vectors, were compared
    with as many as there are items: the nearest to the error first."""
    text = reason_of(str(error))
    found = next((match for pattern in _COMPARED if (match := pattern.search(text)) is not None), None)
    if found is None:
        return
    sizes = {int(found["one"]), int(found["other"])}
    for path, tensor in nearest_first(candidate, error):
        for kept in (0, 1):
            rows = _rows(candidate, tensor, kept)
            if len(rows) > 1 and sizes == {math.prod(rows), rows[0]} and len(sizes) > 1:
                changed = replace(tensor, dims=(tensor.dims[0], *tensor.dims[len(rows) :]))
                arguments = candidate.arguments.with_argument(path, changed)
                yield Candidate(arguments, copy.deepcopy(candidate.unknowns), ())


def _rows(candidate: Candidate, tensor: Tensor, kept: int) -> list[int]:
    """The sizes that become one where the last ``kept`` dimensions stay."""
    values = candidate.unknowns.values
    return [values[dim] for dim in tensor.dims[: len(tensor.dims) - kept]]
