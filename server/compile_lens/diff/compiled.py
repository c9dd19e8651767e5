"""What two analyses compiled otherwise: graphs, operations and kernels of each function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from compile_lens.analysis.outcome_parts import CompiledFunction
from compile_lens.diff.identity import relative


@dataclass(frozen=True, slots=True)
class CompiledChange:
    """One function on both sides, None where it is not there."""

    before: CompiledFunction | None
    after: CompiledFunction | None

    @property
    def shown(self) -> CompiledFunction:
        """The side that names it."""
        side = self.after or self.before
        assert side is not None
        return side

    @property
    def new_kernels(self) -> tuple[str, ...]:
        """Kernels that only the later side has, or has more of."""
        return tuple((Counter(_kernels(self.after)) - Counter(_kernels(self.before))).elements())

    @property
    def gone_kernels(self) -> tuple[str, ...]:
        """The same of the earlier side."""
        return tuple((Counter(_kernels(self.before)) - Counter(_kernels(self.after))).elements())


def relative_to(functions: Sequence[CompiledFunction], root: str) -> tuple[CompiledFunction, ...]:
    """``functions`` with files relative to ``root``."""
    return tuple(replace(one, file=relative(one.file, root)) for one in functions)


def compare_compiled(
    before: Sequence[CompiledFunction], after: Sequence[CompiledFunction]
) -> tuple[CompiledChange, ...]:
    """The functions that differ in more than their line: by their name in the same file, or in another."""
    keys: tuple[Callable[[CompiledFunction], Hashable], ...] = (lambda one: (one.file, one.name), lambda one: one.name)
    pairs: dict[int, CompiledFunction] = {}
    left = list(before)
    for key in keys:
        for index, one in enumerate(after):
            found = next((other for other in left if key(other) == key(one)), None) if index not in pairs else None
            if found is not None:
                pairs[index] = found
                left.remove(found)
    changes = [CompiledChange(pairs.get(index), one) for index, one in enumerate(after)]
    changes += [CompiledChange(one, None) for one in left]
    return tuple(change for change in changes if _facts(change.before) != _facts(change.after))


def _facts(one: CompiledFunction | None) -> tuple[object, ...]:
    return () if one is None else (one.graphs, one.ops, one.kernels)


def _kernels(one: CompiledFunction | None) -> tuple[str, ...]:
    return one.kernels if one is not None else ()
