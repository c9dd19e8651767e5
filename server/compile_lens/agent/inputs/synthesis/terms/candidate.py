"""A candidate of a search: arguments whose sizes have values."""

from __future__ import annotations

from dataclasses import dataclass

from .arguments import Arguments
from .dimensions import SizeCondition, Unknowns


@dataclass(slots=True)
class Candidate:
    """Arguments, the unknowns in them, and the conditions that were negated to get here."""

    arguments: Arguments
    unknowns: Unknowns
    negated: tuple[SizeCondition, ...] = ()

    @property
    def text(self) -> str:
        """The arguments as text, with the current sizes."""
        values = self.unknowns.values
        return self.arguments.render(lambda name: str(values[name]))

    @property
    def identity(self) -> tuple[str, int]:
        """What no second trial is made of: the same sizes may belong to more unknowns, and then other conditions are learned."""
        return self.text, len({dim for _, tensor in self.arguments.tensors() for dim in tensor.dims})
