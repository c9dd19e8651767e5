"""Substitutes missing memory-mapped arrays, as programs use them for tokens: the call tells their dtype, and often their shape."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from ...instrument.in_place import call_after_failure
from ..weights.lookups import Lookups, reason

ARRAY = "array"
# without a shape an array is one long row of tokens
LENGTH = 1 << 18
# token ids stay below that of any vocabulary
BELOW = 64


class Arrays:
    """Changes to modules, applied when they are imported."""

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups

    def changes(self) -> Mapping[str, Callable[[ModuleType], object]]:
        """The changes by module name."""
        return {"numpy": self._change}

    def _change(self, numpy: Any) -> None:
        def failed(
            error: Exception,
            cls: Any,
            name: Any,
            dtype: Any = numpy.uint8,
            mode: str = "r+",
            offset: int = 0,
            shape: Any = None,
            order: str = "C",
            /,
        ) -> tuple[Any] | None:
            is_read = mode in ("r", "c", "readonly", "copyonwrite", "r+", "readwrite")
            if not isinstance(error, FileNotFoundError) or not is_read or not isinstance(name, (str, os.PathLike)):
                return None
            if not self._lookups.may_substitute(error):
                return None
            made = _random(numpy, numpy.dtype(dtype), (LENGTH,) if shape is None else shape)
            size = "×".join(map(str, made.shape))
            note = {
                "what": ARRAY,
                "name": os.fspath(name),
                "made": f"{size} random numbers of type {made.dtype}",
                "why": reason(error),
                "stack": self._lookups.stack(sys._getframe(1)),
            }
            self._lookups.write(note)
            return (made,)

        call_after_failure(vars(numpy.memmap)["__new__"].__func__, failed)


def _random(numpy: Any, dtype: Any, shape: Any) -> Any:
    """The same numbers in each run, from a generator of their own: the program's are as they were."""
    generator = numpy.random.default_rng(0)
    if numpy.issubdtype(dtype, numpy.integer):
        return generator.integers(0, BELOW, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)
