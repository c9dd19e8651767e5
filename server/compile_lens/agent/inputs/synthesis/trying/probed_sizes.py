"""Sizes of inputs that are measured: each one is changed alone, and how the sizes in the error change tells what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..changes.other_shapes import apart, own_name
from ..errors.origins import Origins
from ..terms.arguments import Tensor
from ..terms.candidate import Candidate
from .solved_numbers import compared_sizes, with_one_changed, with_solved_number, with_solved_pair

# sizes of one tensor that are tried, each by a call
MOST_OWN = 8
Try = Callable[[Candidate], Exception | None]


def with_probed_sizes(candidate: Candidate, error: Exception, try_call: Try) -> Iterator[Candidate]:
    """Candidates in which the sizes that ``error`` compares are equal, by what ``try_call`` raises where one size is another one.

    One size behind the error is enough most often; else two whose product is one of those compared: `C * T` channels. A size that
    an input has for its name, as three channels of an image, may be another one, too.
    """
    if not compared_sizes(error):
        return
    tensors = _nearest_first(candidate, error)
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


def with_probed_own_sizes(candidate: Candidate, error: Exception, try_call: Try) -> Iterator[Candidate]:
    """The same with the size of one tensor alone, of several that share it for its name: predictions have one channel where targets have
    seven. Batches stay as they are."""
    if not compared_sizes(error):
        return
    shared = [(path, tensor, dim) for path, tensor in _nearest_first(candidate, error) for dim in tensor.dims[1:]]
    for path, tensor, dim in shared[:MOST_OWN]:
        size = candidate.unknowns.by_name[dim]
        own = next(apart(candidate, dim, size.value, [(path, tensor)]), None) if not size.fixed else None
        for name, changed in with_one_changed(own, [own_name(path, dim)]) if own is not None else ():
            other = try_call(changed)
            if other is None:
                yield changed
                return
            yield from with_solved_number(own, name, error, other) if own is not None else ()


def _nearest_first(candidate: Candidate, error: Exception) -> list[tuple[str, Tensor]]:
    origins = Origins(error)
    return sorted(candidate.arguments.tensors(), key=lambda pair: origins.steps(pair[0]))
