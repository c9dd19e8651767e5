"""Structs of which some fields do not count when two are compared: where a fact was read, how long it took."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import Struct


class PartlyCompared(Struct, frozen=True, eq=False):
    """Compared and hashed by its fields without ``NOT_COMPARED``, and equal to structs of its own class alone."""

    NOT_COMPARED: ClassVar[frozenset[str]] = frozenset()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def _compared(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__struct_fields__ if name not in self.NOT_COMPARED)
