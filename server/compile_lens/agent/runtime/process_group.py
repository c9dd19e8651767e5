"""Gives a call a process group of one, where it needs one and no program around it starts it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .foreign_code import attempted

IN_GROUP = ", in a process group of one"


def is_lacking(message: str) -> bool:
    """Whether an error says that there is no process group."""
    return "Default process group has not been initialized" in message


def has_begun() -> bool:
    """Whether there is a process group in this process now."""
    import torch.distributed as distributed

    return bool(distributed.is_available() and distributed.is_initialized())


@contextlib.contextmanager
def alone(is_wanted: bool = True) -> Iterator[None]:
    """There is a process group of one inside, if ``is_wanted`` and there can be one."""
    import torch.distributed as distributed

    if not is_wanted or not distributed.is_available() or distributed.is_initialized():
        yield
        return

    def start() -> bool:
        distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
        return True

    is_ours = attempted(start)
    try:
        yield
    finally:
        if is_ours and distributed.is_initialized():
            distributed.destroy_process_group()
