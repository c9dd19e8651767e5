"""What a program has around a model while it calls it, and takes away at its end: hooks that a `with` block sets, and autocast.

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
DEVICES = ("cpu", "cuda")
# the number of a part of the model, the name of a table of its hooks, and the number of a hook in it: the same in copies of a process
HookId = tuple[int, str, int]


@dataclass(frozen=True)
class CallSurroundings:
    """``hooks`` are those of a model and its parts: the number of a part, the part, the name of a table, and what was in it.

    ``autocast`` is on for these types of devices, with these dtypes.
    """

    hooks: tuple[tuple[int, Any, str, dict[int, Any]], ...] = ()
    autocast: tuple[tuple[str, Any], ...] = ()

    def names(self) -> SurroundingNames:
        """What is there, without the objects themselves."""
        hooks = frozenset((number, name, key) for number, _, name, table in self.hooks for key in table)
        return SurroundingNames(hooks, frozenset(device for device, _ in self.autocast))

    def hooks_of(self, later: SurroundingNames | None) -> Iterator[tuple[dict[int, Any], int, Any, bool]]:
        """The table as it is now, the number and the hook for each, and whether a later call has it, too."""
        for number, part, name, table in self.hooks:
            for key, hook in table.items():
                yield vars(part)[name], key, hook, later is None or (number, name, key) in later.hooks


@dataclass(frozen=True)
class SurroundingNames:
    """Which hooks there are, and for which devices autocast is on."""

    hooks: frozenset[HookId]
    autocast: frozenset[str]


NONE = CallSurroundings()


def surroundings_of(model: Any) -> CallSurroundings:
    """What is around ``model`` now."""
    hooks = attempted(lambda: tuple(_hooks(model))) or ()
    return CallSurroundings(hooks, attempted(lambda: tuple(_autocast())) or ())


def _hooks(model: Any) -> Iterator[tuple[int, Any, str, dict[int, Any]]]:
    for number, part in enumerate(model.modules()):
        if number == MOST_PARTS:
            return
        for name in HOOKS:
            table = vars(part).get(name)
            if table:
                yield number, part, name, dict(table)


def _autocast() -> Iterator[tuple[str, Any]]:
    import torch

    for device in DEVICES:
        if torch.is_autocast_enabled(device):
            yield device, torch.get_autocast_dtype(device)


@contextlib.contextmanager
def put_back(around: CallSurroundings, later: SurroundingNames | None) -> Iterator[None]:
    """In the body, the model has the hooks that it had at its first call, and autocast is on as it was then, as far as the ``later`` calls
    have them, too; None where there are none."""
    import torch

    tables = {id(table): table for table, *_ in around.hooks_of(later)}
    before = {number: dict(table) for number, table in tables.items()}
    for table, key, hook, is_wanted in around.hooks_of(later):
        if not is_wanted:
            table.pop(key, None)
        elif key not in table:
            table[key] = hook
    with contextlib.ExitStack() as stack:
        for device, dtype in around.autocast:
            if later is None or device in later.autocast:
                stack.enter_context(torch.autocast(device, dtype=dtype))
        try:
            yield
        finally:
            for number, table in tables.items():
                table.clear()
                table.update(before[number])


def has_lost_hooks(around: CallSurroundings, later: SurroundingNames | None) -> bool:
    """Whether the program has removed hooks that it had at these calls."""
    return any(is_wanted and key not in table for table, key, _, is_wanted in around.hooks_of(later))
