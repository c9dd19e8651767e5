"""Tensors that hold different numbers of items, for their names alone, get equally many: rows are joined and compared side by side."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import replace

from ....runtime.torchscript_errors import reason_of
from ..terms.candidate import Candidate

_ABOUT_ITEMS = re.compile(
    r"expected a non-empty list of Tensors|Sizes of tensors must match except in dimension -?[1-9]|match.{0,40}at non-singleton dimension 0"
    r"|Size does not match at dimension 0|[Ee]xpected size for first two dimensions|batch_?[ ]?size"
    r"|same (?:batch|number of (?:rows|items|samples))"
)
ITEMS, FEW = "items", 2


def with_one_batch(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """The candidate in which the first dimension of every tensor has the same size, where they differ and the error may be about that."""
    if _ABOUT_ITEMS.search(reason_of(str(error))) is None:
        return
    values, by_name = candidate.unknowns.values, candidate.unknowns.by_name
    tensors = [(path, tensor) for path, tensor in candidate.arguments.tensors() if tensor.dims]
    sizes = {values[tensor.dims[0]] for _, tensor in tensors}
    if len(sizes) < 2 or any(by_name[tensor.dims[0]].fixed for _, tensor in tensors):
        return
    unknowns, arguments = copy.deepcopy(candidate.unknowns), candidate.arguments
    items = unknowns.get(ITEMS, FEW).name
    for path, tensor in tensors:
        arguments = arguments.with_argument(path, replace(tensor, dims=(items, *tensor.dims[1:])))
    yield Candidate(arguments, unknowns, ())
