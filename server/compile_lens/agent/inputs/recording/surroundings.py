"""The hooks that a program has around a model while it calls it, and takes away at its end, as those that a `with` block sets.

A program is stopped at the first call of its model, and its `with` blocks end before the model is compiled. What is around that call
alone, as while a summary of the model is printed, is not around those that follow, and is left out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...runtime.foreign_code import attempted
from ...torch_internals.attributes import HOOKS

# more parts are not looked through
MOST_PARTS = 4000
# the number of a part of the model, the name of a table of its hooks, and the number of a hook in it: the same in copies of a process
HookId = tuple[int, str, int]


@dataclass(frozen=True)
class CallSurroundings:
    """``hooks`` are those of a model and its parts: the number of a part, the part, the name of a table, and what was in it."""

    hooks: tuple[tuple[int, Any, str, dict[int, Any]], ...] = ()

    def names(self) -> SurroundingNames:
        """What is there, without the objects themselves."""
        return SurroundingNames(
            frozenset((number, name, key) for number, _, name, table in self.hooks for key in table)
        )

    def hooks_of(self, later: SurroundingNames | None) -> Iterator[tuple[dict[int, Any], int, Any, bool]]:
        """The table as it is now, the number and the hook for each, and whether a later call has it, too."""
        for number, part, name, table in self.hooks:
            for key, hook in table.items():
                yield vars(part)[name], key, hook, later is None or (number, name, key) in later.hooks


@dataclass(frozen=True)
class SurroundingNames:
    """Which hooks there are."""

    hooks: frozenset[HookId]


NONE = CallSurroundings()


def surroundings_of(model: Any) -> CallSurroundings:
    """What is around ``model`` now."""
    return CallSurroundings(attempted(lambda: tuple(_hooks(model))) or ())


def _hooks(model: Any) -> Iterator[tuple[int, Any, str, dict[int, Any]]]:
    for number, part in enumerate(model.modules()):
        if number == MOST_PARTS:
            return
        for name in HOOKS:
            table = vars(part).get(name)
            if table:
                yield number, part, name, dict(table)


@contextlib.contextmanager
def put_back(around: CallSurroundings, later: SurroundingNames | None) -> Iterator[None]:
    """In the body, the model has the hooks that it had at its first call, as far as the ``later`` calls have them, too; None where there
    are none."""
    tables = {id(table): table for table, *_ in around.hooks_of(later)}
    before = {number: dict(table) for number, table in tables.items()}
    for table, key, hook, is_wanted in around.hooks_of(later):
        if not is_wanted:
            table.pop(key, None)
        elif key not in table:
            table[key] = hook
    try:
        yield
    finally:
        for number, table in tables.items():
            table.clear()
            table.update(before[number])


def has_lost_hooks(around: CallSurroundings, later: SurroundingNames | None) -> bool:
    """Whether the program has removed hooks that it had at these calls."""
    return any(is_wanted and key not in table for table, key, _, is_wanted in around.hooks_of(later))
