"""Sizes of inputs that are measured: each one is changed alone, and how the sizes in the error change tells what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..errors.origins import Origins
from ..terms.candidate import Candidate
from .solved_numbers import compared_sizes, with_one_changed, with_solved_number, with_solved_pair

Try = Callable[[Candidate], Exception | None]


def with_probed_sizes(candidate: Candidate, error: Exception, try_call: Try) -> Iterator[Candidate]:
    """Candidates in which the sizes that ``error`` compares are equal, by what ``try_call`` raises where one size is another one.

    One size behind the error is enough most often; else two whose product is one of those compared: `C * T` channels. A size that
    an input has for its name, as three channels of an image, may be another one, too.
    """
    if not compared_sizes(error):
        return
    origins = Origins(error)
    tensors = sorted(candidate.arguments.tensors(), key=lambda pair: origins.steps(pair[0]))
    sizes = dict.fromkeys(dim for _, tensor in tensors for dim in tensor.dims)
    others: dict[str, Exception] = {}
    for name, changed in with_one_changed(candidate, sizes):
        other = try_call(changed)
        if other is None:
            yield changed
            return
        others[name] = other
        yield from with_solved_number(candidate, name, error, other)
    yield from with_solved_pair(candidate, error, others)
