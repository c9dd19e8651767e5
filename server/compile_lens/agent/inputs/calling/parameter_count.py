"""Counts the parameters of modules, lazy ones too: those of ``torch.nn.LazyLinear`` have no shape before the first call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def parameter_count(module: Any) -> int:
    """How many numbers the parameters of ``module`` are, as far as that is known."""
    return sum(parameter.numel() for parameter in with_shapes(module))


def trained_parameter_count(module: Any) -> int:
    """How many of them are trained, as far as that is known."""
    return sum(parameter.numel() for parameter in with_shapes(module) if parameter.requires_grad)


def with_shapes(module: Any) -> Iterator[Any]:
    """The parameters of ``module`` that have a shape: of others, torch raises ValueError (torch/nn/parameter.py)."""
    from torch.nn.parameter import UninitializedParameter

    return (each for each in module.parameters() if not isinstance(each, UninitializedParameter))
