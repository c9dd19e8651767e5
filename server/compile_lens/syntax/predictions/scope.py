"""The names that a function sees while it is walked."""

from __future__ import annotations

import tree_sitter
from msgspec import Struct, field

from compile_lens.syntax.predictions.values import AbstractValue


class Scope(Struct):
    """The names of one call of one function. ``function`` is its definition, ``owner`` the class that it is a method of."""

    names: dict[str, AbstractValue]
    function: tree_sitter.Node | None = None
    owner: tree_sitter.Node | None = None
    returned: list[AbstractValue] = field(default_factory=list)

    def inner(self) -> Scope:
        """A copy for what may run or not: what it binds is not bound here."""
        return Scope(dict(self.names), self.function, self.owner, self.returned)
