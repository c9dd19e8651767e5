"""CPU kernels for scaled dot-product attention as a GPU's backends compute it.

torch asks the driver which backend to take. Where a real GPU is there beside the emulated one, because a run leaves it free, the answer is
an operator that has kernels for GPUs alone. Arguments and results: torchgen/packaged/ATen/native/native_functions.yaml (torch 2.13). The
backends have the same arguments by name, each in an order of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ...torch_internals.attributes import attention_operator
from ...torch_internals.core import ATTENTION_MATH, HAS_KERNEL, HAS_KERNEL_FOR_KEY, operator_schema

# the arguments that a call passes, by name
Given = dict[str, Any]


def register(library: Any) -> None:
    """Register CPU kernels in ``library``, of ``aten``, for those operators of this torch that have none."""
    for backend, forward in {"efficient": _efficient, "flash": _with_lengths, "cudnn": _with_lengths}.items():
        for name, kernel in ((f"{backend}_attention", forward), (f"{backend}_attention_backward", _gradients)):
            operator = f"_scaled_dot_product_{name}"
            if HAS_KERNEL.need()(f"aten::{operator}") and not HAS_KERNEL_FOR_KEY.need()(f"aten::{operator}", "CPU"):
                library.m.impl(operator, "CPU", _by_name(name, kernel), False)


def _by_name(name: str, kernel: Callable[[Given], tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """``kernel`` as a function with the arguments of the operator; torch leaves out those at the end that have their default."""
    names = [argument.name for argument in operator_schema(attention_operator(name)).arguments]
    return lambda *given, **named: kernel({**dict(zip(names, given, strict=False)), **named})


def _efficient(given: Given) -> tuple[Any, ...]:
    """The output, the logarithms of the sums, and the state of the random numbers."""
    seed = torch.zeros((), dtype=torch.int64)
    return _output(given), _sums(given), seed, seed.clone()


def _with_lengths(given: Given) -> tuple[Any, ...]:
    """The output, the logarithms of the sums, lengths that only packed sequences have, the state of the random numbers, and a mask."""
    none, state = torch.empty(0, dtype=torch.int32), torch.zeros(2, dtype=torch.int64)
    lengths = (none, none.clone(), given["query"].shape[2], given["key"].shape[2])
    return _output(given), _sums(given), *lengths, state, state.clone(), torch.empty(0)


def _output(given: Given) -> Tensor:
    query, key, value = given["query"], given["key"], given["value"]
    dropout, is_causal = given.get("dropout_p", 0.0), given.get("is_causal", False)
    attention = ATTENTION_MATH.need().default
    made: Tensor = attention(query, key, value, _bias(given), dropout, is_causal, None, scale=given.get("scale"))[0]
    return made


def _sums(given: Given) -> Tensor:
    batch, heads, length, _ = given["query"].shape
    is_computed = given.get("compute_log_sumexp", True)
    return torch.zeros((batch, heads, length if is_computed else 0), dtype=torch.float32)


def _bias(given: Given) -> Tensor | None:
    bias = given.get("attn_bias")
    # an absent one comes as a tensor without elements in a backward pass
    return bias if bias is not None and bias.numel() else None


def _gradients(given: Given) -> tuple[Tensor | None, ...]:
    """Those of query, key and value; of the bias, too, of the backend that is told which are wanted. Autograd is above a kernel.

    What dropout left out is not known here: they are of all of it.
    """
    query, key, value, bias = given["query"], given["key"], given["value"], _bias(given)
    gradient = given["grad_out_"] if "grad_out_" in given else given["grad_out"]
    scale = given.get("scale")
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.transpose(-2, -1) * factor
    if bias is not None:
        scores = scores + bias
    if given.get("is_causal", False):
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
    shares = scores.softmax(-1)
    of_shares = gradient @ value.transpose(-2, -1)
    of_scores = shares * (of_shares - (of_shares * shares).sum(-1, keepdim=True))
    found = (
        of_scores @ key * factor,
        of_scores.transpose(-2, -1) @ query * factor,
        shares.transpose(-2, -1) @ gradient,
    )
    wanted = given.get("grad_input_mask")
    if wanted is None:
        return found
    of_bias = of_scores.sum_to_size(bias.shape) if bias is not None else None
    return tuple(each if is_wanted else None for each, is_wanted in zip((*found, of_bias), wanted, strict=True))
