"""What a program has around a model while it calls it, and takes away at its end: hooks that a `with` block sets, and autocast.

A program is stopped at the first call of its model, and its `with` blocks end before the model is compiled.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ..runtime.foreign_code import attempted
from ..torch_internals.attributes import HOOKS

# more parts are not looked through
MOST_PARTS = 4000
DEVICES = ("cpu", "cuda")


@dataclass(frozen=True)
class CallSurroundings:
    """``hooks`` are those of a model and its parts: a module, the name of a table, and what was in it. ``autocast`` is on for these types
    of devices, with these dtypes."""

    hooks: tuple[tuple[Any, str, dict[Any, Any]], ...] = ()
    autocast: tuple[tuple[str, Any], ...] = field(default=())


NONE = CallSurroundings()


def surroundings_of(model: Any) -> CallSurroundings:
    """What is around ``model`` now."""
    hooks = attempted(lambda: tuple(_hooks(model))) or ()
    return CallSurroundings(hooks, attempted(lambda: tuple(_autocast())) or ())


def _hooks(model: Any) -> Iterator[tuple[Any, str, dict[Any, Any]]]:
    for count, part in enumerate(model.modules()):
        if count == MOST_PARTS:
            return
        for name in HOOKS:
            table = vars(part).get(name)
            if table:
                yield part, name, dict(table)


def _autocast() -> Iterator[tuple[str, Any]]:
    import torch

    for device in DEVICES:
        if torch.is_autocast_enabled(device):
            yield device, torch.get_autocast_dtype(device)


@contextlib.contextmanager
def put_back(around: CallSurroundings) -> Iterator[None]:
    """In the body, the hooks are set again that the program has removed since, and autocast is on as it was."""
    import torch

    added: list[tuple[dict[Any, Any], Any]] = []
    for part, name, hooks in around.hooks:
        table = vars(part)[name]
        for key in [key for key in hooks if key not in table]:
            table[key] = hooks[key]
            added.append((table, key))
    with contextlib.ExitStack() as stack:
        for device, dtype in around.autocast:
            stack.enter_context(torch.autocast(device, dtype=dtype))
        try:
            yield
        finally:
            for table, key in added:
                table.pop(key, None)


def has_lost_hooks(around: CallSurroundings) -> bool:
    """Whether the program has removed some of the hooks."""
    return any(key not in vars(part)[name] for part, name, hooks in around.hooks for key in hooks)
