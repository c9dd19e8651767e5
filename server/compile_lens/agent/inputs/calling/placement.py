"""Puts inputs that are made up where the object is that gets them: a module on a GPU takes none from the CPU."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from ...torch_internals.core import PYTREE

_preferred: list[str] = []


@contextlib.contextmanager
def preferring(device: str) -> Iterator[None]:
    """Inside of the ``with`` block, inputs of what has no tensors of its own elsewhere are on ``device``; '' changes nothing."""
    _preferred.append(device)
    try:
        yield
    finally:
        _preferred.pop()


def beside(target: Any, positional: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments for a call of ``target``, a module or a method of one, with their tensors where it has its own."""
    device = device_of(target) or (_preferred[-1] if _preferred else "")
    if not device:
        return positional, named
    torch = sys.modules["torch"]
    found: tuple[tuple[Any, ...], dict[str, Any]] = PYTREE.need().tree_map(
        lambda value: value.to(device) if isinstance(value, torch.Tensor) else value, (positional, named)
    )
    return found


def device_of(target: Any) -> Any:
    """Where the parameters of a module are, else its buffers and other tensors; None on the CPU and for what has none."""
    import torch

    module = getattr(target, "__self__", target) if not isinstance(target, torch.nn.Module) else target
    if not isinstance(module, torch.nn.Module):
        return None
    try:
        first = next(_tensors(module), None)
    except AttributeError:  # its constructor raised early
        return None
    return None if first is None or first.device.type == "cpu" else first.device


def _tensors(module: Any) -> Iterator[Any]:
    import torch

    yield from module.parameters()
    yield from module.buffers()
    for part in module.modules():
        yield from (value for value in vars(part).values() if isinstance(value, torch.Tensor))
