"""Sizes that users vary from call to call: the last batch is smaller, a sequence longer, an image of another size.

A size that a layer fixes is no such size: eager does not accept another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .call_snapshot import ArgumentNames, CallSnapshot
from .input_variations import InputVariation, is_parameter, resized, tensors_of

BATCH, LENGTH, SIDES = "batch", "length", "sides"
# an image's next sides, in quarters of those before: networks halve them several times, and patches divide them
QUARTERS = (8, 12)
IMAGE_RANK = 4
Sides = Callable[[Any], list[int]]


def usual_sizes(base: CallSnapshot, names: ArgumentNames) -> Iterator[InputVariation]:
    """Another batch, then another length, or other sides of an image, of all tensors that share it."""
    tensors = [(names.of(path), tensor) for path, tensor in tensors_of(base) if not is_parameter(tensor)]
    first = next(((name, tensor) for name, tensor in tensors if tensor.dim() > 1), None)
    if first is None:
        return
    name, tensor = first
    size = tensor.shape[0]
    if size > 1:
        steps = (size + 1, size + 2)
        phrase = f"a batch of {steps[0]}, then {steps[1]}, instead of {size} (`{name}`)"
        for dimensions in ((0,), (0, 1)):
            calls = tuple(resized(base, _changed(dimensions, size, step)) for step in steps)
            yield InputVariation("size", phrase, calls, BATCH)
    of_rank = [(name, tensor) for name, tensor in tensors if tensor.dim() == IMAGE_RANK]
    images = [(name, tensor) for name, tensor in of_rank if _has_sides(tensor)]
    # queries beside keys of another length share one side alone: they are no images
    if images and all(len({side == images[0][1].shape[2] for side in tensor.shape[2:]}) == 1 for _, tensor in of_rank):
        yield from _sides(base, *images[0])
        return
    for name, tensor in tensors:
        at = _length_dimensions(tensor)
        if at:
            yield from _lengths(base, name, tensor, at)
            return


def _has_sides(tensor: Any) -> bool:
    return bool(tensor.is_floating_point()) and tensor.shape[2] == tensor.shape[3] > 1


def _length_dimensions(tensor: Any) -> tuple[int, ...]:
    """Where a tensor may have a length: `[batch, length, channels]`, or the channels first; tokens."""
    if tensor.is_floating_point():
        return {3: (1, 2), IMAGE_RANK: (2,)}.get(tensor.dim(), ())
    return (1,) if tensor.dim() == 2 else ()


def _lengths(base: CallSnapshot, name: str, tensor: Any, at: tuple[int, ...]) -> Iterator[InputVariation]:
    for dimension in at:
        size = tensor.shape[dimension]
        if size < 2:
            continue
        for one in (1, size):
            steps = (size + one, size + 2 * one)
            phrase = f"a length of {steps[0]}, then {steps[1]}, instead of {size} (`{name}`)"
            # a mask beside it has that length in each of its dimensions
            for dimensions in ((dimension,), range(1, IMAGE_RANK + 1)):
                calls = tuple(resized(base, _changed(dimensions, size, step)) for step in steps)
                yield InputVariation("size", phrase, calls, LENGTH)


def _sides(base: CallSnapshot, name: str, image: Any) -> Iterator[InputVariation]:
    size = image.shape[2]
    steps = tuple(size * quarters // 4 for quarters in QUARTERS)
    phrase = f"images of {steps[0]}×{steps[0]}, then {steps[1]}×{steps[1]}, instead of {size}×{size} (`{name}`)"
    calls = tuple(resized(base, _changed((2, 3), size, step, IMAGE_RANK)) for step in steps)
    yield InputVariation("size", phrase, calls, SIDES)


def _changed(dimensions: tuple[int, ...] | range, size: int, other: int, rank: int = 0) -> Sides:
    """Sizes with ``other`` in place of ``size`` in some dimensions of all tensors, or of those of one rank."""

    def sides(tensor: Any) -> list[int]:
        applies = not rank or tensor.dim() == rank
        return [other if applies and n in dimensions and side == size else side for n, side in enumerate(tensor.shape)]

    return sides
