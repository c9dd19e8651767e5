"""A candidate of a search: arguments whose sizes have values, and how it was come by."""

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
