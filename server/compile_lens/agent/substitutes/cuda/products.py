"""CPU kernels for matrix products with ``out_dtype``, which torch has for GPUs alone (``torch.mm(x, y, out_dtype=torch.float32)``).

Arguments: torchgen/packaged/ATen/native/native_functions.yaml (torch 2.13). A GPU accumulates in ``out_dtype``, so the arguments are
converted before they are multiplied.
"""

from __future__ import annotations

from typing import Any

import torch

from ...torch_internals.core import HAS_KERNEL, HAS_KERNEL_FOR_KEY


def register(library: Any) -> None:
    """Register CPU kernels in ``library``, of ``aten``, for those operators of this torch that have none."""
    for name, kernel in (("mm", mm), ("bmm", bmm), ("addmm", addmm), ("baddbmm", baddbmm)):
        operator = f"{name}.dtype"
        if HAS_KERNEL.need()(f"aten::{operator}") and not HAS_KERNEL_FOR_KEY.need()(f"aten::{operator}", "CPU"):
            library.m.impl(operator, "CPU", kernel, False)


def mm(left: torch.Tensor, right: torch.Tensor, out_dtype: torch.dtype) -> torch.Tensor:
    """The product of two matrices."""
    return torch.mm(left.to(out_dtype), right.to(out_dtype))


def bmm(left: torch.Tensor, right: torch.Tensor, out_dtype: torch.dtype) -> torch.Tensor:
    """The products of two batches of matrices."""
    return torch.bmm(left.to(out_dtype), right.to(out_dtype))


def addmm(
    added: torch.Tensor,
    left: torch.Tensor,
    right: torch.Tensor,
    out_dtype: torch.dtype,
    *,
    beta: float = 1,
    alpha: float = 1,
) -> torch.Tensor:
    """A product with something added."""
    return torch.addmm(added.to(out_dtype), left.to(out_dtype), right.to(out_dtype), beta=beta, alpha=alpha)


def baddbmm(
    added: torch.Tensor,
    left: torch.Tensor,
    right: torch.Tensor,
    out_dtype: torch.dtype,
    *,
    beta: float = 1,
    alpha: float = 1,
) -> torch.Tensor:
    """Products of batches with something added."""
    return torch.baddbmm(added.to(out_dtype), left.to(out_dtype), right.to(out_dtype), beta=beta, alpha=alpha)
