"""Tells calls of one model apart by what a compiler would, so that one of each kind is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from ...runtime.foreign_code import attempted
from ...variations.call_snapshot import grad_mode

KEPT_CALLS, KEPT_OTHERS = 3, 2
# a benchmark calls one model in each of its modes
KEPT_MODES = 4
# of each kind of calls: what one keeps for the next, such as keys and values, shows in the second
KEPT_OF_KIND = 2


class Kinds:
    """Kinds of calls of one model, each by a text."""

    def __init__(self, most_others: int = KEPT_OTHERS) -> None:
        self._most_others = most_others
        self._first: set[str] = set()
        self._counts: Counter[str] = Counter()

    def is_kept(self, kind: str, is_first: bool) -> bool:
        """Whether a call of ``kind`` is kept, beside the first ones."""
        self._counts[kind] += 1
        if is_first:
            self._first.add(kind)
        is_among = kind in self._first or len(self._counts) - len(self._first) <= self._most_others
        return is_among and self._counts[kind] <= KEPT_OF_KIND


def leaves_of(value: Any, depth: int = 0) -> Iterator[Any]:
    """The values in lists, tuples and dictionaries."""
    if depth < 4 and type(value) in (list, tuple):
        for each in value:
            yield from leaves_of(each, depth + 1)
    elif depth < 4 and type(value) is dict:
        for each in value.values():
            yield from leaves_of(each, depth + 1)
    else:
        yield value


def sizes_of_call(value: Any) -> str:
    """The shapes and types of the tensors in arguments, and the types of the rest."""
    return str([_told(each, _sizes) for each in leaves_of(value)])


def types_of_call(value: Any) -> str:
    """The types and ranks of the tensors in arguments, with or without a gradient, the types of the rest, and the grad mode: an evaluation
    often passes no labels, and an agent that is judged passes actions that need a gradient."""
    return str([*(_told(each, _type) for each in leaves_of(value)), grad_mode()])


def places_of_call(value: Any) -> str:
    """Whether each tensor in arguments begins where its storage does, as the first batch of a tensor, and the grad mode."""
    import torch

    found = [each for each in leaves_of(value) if isinstance(each, torch.Tensor) and each.layout is torch.strided]
    return f"{[each.storage_offset() > 0 for each in found]}{grad_mode()}"


def _told(value: Any, of_tensor: Callable[[Any], object]) -> str | None:
    """What ``of_tensor`` says of a tensor, and the type of another value; None where that raises, as the shape of a nested tensor does."""
    import torch

    return attempted(lambda: str(of_tensor(value) if isinstance(value, torch.Tensor) else type(value)))


def _sizes(tensor: Any) -> object:
    return (tensor.dtype, *tensor.shape)


def _type(tensor: Any) -> object:
    return tensor.dtype, tensor.dim(), tensor.requires_grad
