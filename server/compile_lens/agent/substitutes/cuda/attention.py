"""CPU kernels for scaled dot-product attention as a GPU's backends compute it.

torch asks the driver which backend to take. Where a real GPU is there beside the emulated one, because a run leaves it free, the answer is
an operator that has kernels for GPUs alone. Arguments and results: torchgen/packaged/ATen/native/native_functions.yaml (torch 2.13).
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ...torch_internals.core import ATTENTION_MATH, HAS_KERNEL, HAS_KERNEL_FOR_KEY


def register(library: Any) -> None:
    """Register CPU kernels in ``library``, of ``aten``, for those operators of this torch that have none."""
    kernels = {
        "efficient_attention": efficient,
        "efficient_attention_backward": efficient_backward,
        "flash_attention": flash,
        "flash_attention_backward": flash_backward,
        "cudnn_attention": cudnn,
        "cudnn_attention_backward": cudnn_backward,
    }
    for name, kernel in kernels.items():
        operator = f"_scaled_dot_product_{name}"
        if HAS_KERNEL.need()(f"aten::{operator}") and not HAS_KERNEL_FOR_KEY.need()(f"aten::{operator}", "CPU"):
            library.m.impl(operator, "CPU", kernel, False)


def efficient(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    compute_log_sumexp: bool,
    dropout: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    """The output, the logarithms of the sums, and the state of the random numbers."""
    seed = torch.zeros((), dtype=torch.int64)
    output = _output(query, key, value, bias, dropout, is_causal, scale)
    return output, _sums(query, compute_log_sumexp), seed, seed.clone()


def efficient_backward(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    output: Tensor,
    log_sumexp: Tensor,
    seed: Tensor,
    offset: Tensor,
    dropout: float,
    wanted: list[bool],
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Tensor | None, ...]:
    """The gradients of query, key, value and bias: those ``wanted``."""
    found = _gradients(gradient, query, key, value, bias, is_causal, scale)
    return tuple(each if is_wanted else None for each, is_wanted in zip(found, wanted, strict=True))


def flash(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    """The output, the logarithms of the sums, lengths that only packed sequences have, the state of the random numbers, and a mask."""
    return _with_lengths(query, key, _output(query, key, value, None, dropout, is_causal, scale), _sums(query, True))


def flash_backward(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    log_sumexp: Tensor,
    lengths: Tensor,
    key_lengths: Tensor,
    longest: int,
    longest_key: int,
    dropout: float,
    is_causal: bool,
    seed: Tensor,
    offset: Tensor,
    *,
    scale: float | None = None,
) -> tuple[Tensor | None, ...]:
    """The gradients of query, key and value."""
    return _gradients(gradient, query, key, value, None, is_causal, scale)[:3]


def cudnn(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    compute_log_sumexp: bool,
    dropout: float = 0.0,
    is_causal: bool = False,
    return_debug_mask: bool = False,
    *,
    scale: float | None = None,
) -> tuple[Any, ...]:
    """The same as of ``flash``, for attention with a bias."""
    output = _output(query, key, value, bias, dropout, is_causal, scale)
    return _with_lengths(query, key, output, _sums(query, compute_log_sumexp))


def cudnn_backward(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    log_sumexp: Tensor,
    seed: Tensor,
    offset: Tensor,
    bias: Tensor | None,
    lengths: Tensor,
    key_lengths: Tensor,
    longest: int,
    longest_key: int,
    dropout: float,
    is_causal: bool,
    *,
    scale: float | None = None,
) -> tuple[Tensor | None, ...]:
    """The gradients of query, key and value."""
    return _gradients(gradient, query, key, value, bias, is_causal, scale)[:3]


def _output(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    dropout: float,
    is_causal: bool,
    scale: float | None,
) -> Tensor:
    attention = ATTENTION_MATH.need().default
    made: Tensor = attention(query, key, value, _mask(bias), dropout, is_causal, None, scale=scale)[0]
    return made


def _mask(bias: Tensor | None) -> Tensor | None:
    # an absent one comes as a tensor without elements in a backward pass
    return bias if bias is not None and bias.numel() else None


def _gradients(
    gradient: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Tensor | None,
    is_causal: bool,
    scale: float | None,
) -> tuple[Tensor | None, ...]:
    """Those of query, key, value and bias: autograd is above a kernel. What dropout left out is not known here, they are of all of it."""
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.transpose(-2, -1) * factor
    added = _mask(bias)
    if added is not None:
        scores = scores + added
    if is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
    shares = scores.softmax(-1)
    of_shares = gradient @ value.transpose(-2, -1)
    of_scores = shares * (of_shares - (of_shares * shares).sum(-1, keepdim=True))
    of_bias = of_scores.sum_to_size(added.shape) if added is not None else None
    return (
        of_scores @ key * factor,
        of_scores.transpose(-2, -1) @ query * factor,
        shares.transpose(-2, -1) @ gradient,
        of_bias,
    )


def _sums(query: Tensor, is_computed: bool) -> Tensor:
    batch, heads, length, _ = query.shape
    return torch.zeros((batch, heads, length if is_computed else 0), dtype=torch.float32)


def _with_lengths(query: Tensor, key: Tensor, output: Tensor, sums: Tensor) -> tuple[Any, ...]:
    none, state = torch.empty(0, dtype=torch.int32), torch.zeros(2, dtype=torch.int64)
    return output, sums, none, none.clone(), query.shape[2], key.shape[2], state, state.clone(), torch.empty(0)
