"""Splits a made-up data set as the program splits the real one, which is longer: `random_split(images, [55000, 5000])`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from ...instrument.in_place import call_after_failure

_made_up: list[weakref.ref[Any]] = []


def remember(dataset: Any) -> None:
    """``dataset`` is made up."""
    _made_up.append(weakref.ref(dataset))


class Splits:
    """Changes to modules, applied when they are imported."""

    def changes(self) -> Mapping[str, Callable[[ModuleType], object]]:
        """The changes by module name."""
        return {"torch.utils.data.dataset": self._change}

    def _change(self, module: Any) -> None:
        def failed(error: Exception, /, *args: Any, **named: Any) -> tuple[Any] | None:
            given: dict[str, Any] = {**dict(zip(("dataset", "lengths", "generator"), args, strict=False)), **named}
            dataset: Any = given.get("dataset")
            lengths = list(given.get("lengths") or ())
            is_of_counts = all(type(each) is int and each >= 0 for each in lengths) and any(lengths)
            if not isinstance(error, ValueError) or not is_of_counts or not _is_made_up(dataset):
                return None
            return (module.random_split(**{**given, "lengths": _shares(lengths, len(dataset))}),)

        call_after_failure(module.random_split, failed)


def _is_made_up(dataset: Any) -> bool:
    """Whether it is made up, or a part of one that is."""
    while dataset is not None:
        if any(each() is dataset for each in _made_up):
            return True
        dataset = getattr(dataset, "dataset", None)
    return False


def _shares(lengths: Sequence[int], count: int) -> list[int]:
    """``count`` in the proportions of ``lengths``: at least one for each that has some, as far as there are enough."""
    whole = sum(lengths)
    shares = [min(max(1, count * each // whole), each) for each in lengths]
    while sum(shares) != count:
        largest = max(range(len(shares)), key=lambda index: shares[index])
        shares[largest] += count - sum(shares)
        shares[largest] = max(shares[largest], 0)
    return shares
