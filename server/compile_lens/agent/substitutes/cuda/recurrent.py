"""CPU kernels for the fused cells of ``nn.LSTM`` and ``nn.GRU``, which torch has for GPUs alone.

Arguments and results: torchgen/packaged/ATen/native/native_functions.yaml (torch 2.13). What a forward pass saves is read only by
the backward pass here. Gates are ``[batch, 4 * hidden]`` (input, forget, cell, output) or ``[batch, 3 * hidden]`` (reset, update, new),
states ``[batch, hidden]``. Values and gradients match the CPU layers (``tests/test_gpu_stand_in.py``).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import torch

from ...torch_internals.core import HAS_KERNEL_FOR_KEY

Tensor: TypeAlias = torch.Tensor
OptionalTensor: TypeAlias = torch.Tensor | None


def register(library: Any) -> None:
    """Register CPU kernels in ``library``, of ``aten``, for the operators that have none."""
    for name, kernel in (
        ("_thnn_fused_lstm_cell", lstm_cell),
        ("_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward),
        ("_thnn_fused_gru_cell", gru_cell),
        ("_thnn_fused_gru_cell_backward", gru_cell_backward),
        ("_cudnn_rnn_flatten_weight", flatten_weight),
    ):
        if not HAS_KERNEL_FOR_KEY.need()(f"aten::{name}", "CPU"):
            library.m.impl(name, "CPU", kernel, False)


def lstm_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: OptionalTensor = None,
    hidden_bias: OptionalTensor = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The new hidden state and cell state, and the activated gates."""
    gates = _sum(input_gates, hidden_gates, input_bias, hidden_bias)
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat((i, f, g, o), 1)


def lstm_cell_backward(
    grad_hy: OptionalTensor, grad_cy: OptionalTensor, cx: Tensor, cy: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[OptionalTensor, OptionalTensor, OptionalTensor]:
    """Gradients of the gates, the cell state and a bias; None where there is no gradient."""
    if grad_hy is None and grad_cy is None:
        return None, None, None
    i, f, g, o = workspace.chunk(4, 1)
    new = cy.tanh()
    of_hidden = torch.zeros_like(cx) if grad_hy is None else grad_hy
    of_cell = of_hidden * o * (1 - new * new)
    if grad_cy is not None:
        of_cell = of_cell + grad_cy
    of_gates = torch.cat(
        (
            of_cell * g * i * (1 - i),
            of_cell * cx * f * (1 - f),
            of_cell * i * (1 - g * g),
            of_hidden * new * o * (1 - o),
        ),
        1,
    )
    return of_gates, of_cell * f, of_gates.sum(0) if has_bias else None


def gru_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    hx: Tensor,
    input_bias: OptionalTensor = None,
    hidden_bias: OptionalTensor = None,
) -> tuple[Tensor, Tensor]:
    """The new hidden state, and what the backward pass needs: reset, update and new gates, old state, hidden part of the new gate."""
    input_r, input_z, input_n = _sum(input_gates, input_bias).chunk(3, 1)
    hidden_r, hidden_z, hidden_n = _sum(hidden_gates, hidden_bias).chunk(3, 1)
    r, z = (input_r + hidden_r).sigmoid(), (input_z + hidden_z).sigmoid()
    n = (input_n + r * hidden_n).tanh()
    return n + z * (hx - n), torch.cat((r, z, n, hx, hidden_n), 1)


def gru_cell_backward(
    grad_hy: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor, OptionalTensor, OptionalTensor]:
    """Gradients of the input gates, the hidden gates, the state and the two biases."""
    r, z, n, hx, hidden_n = workspace.chunk(5, 1)
    of_n = grad_hy * (1 - z) * (1 - n * n)
    of_z = grad_hy * (hx - n) * z * (1 - z)
    of_r = of_n * hidden_n * r * (1 - r)
    of_input = torch.cat((of_r, of_z, of_n), 1)
    of_hidden = torch.cat((of_r, of_z, of_n * r), 1)
    biases = (of_input.sum(0), of_hidden.sum(0)) if has_bias else (None, None)
    return of_input, of_hidden, grad_hy * z, *biases


def flatten_weight(weights: list[Tensor], *layout: Any) -> Tensor:
    """cuDNN needs all weights in one block of memory; the CPU does not."""
    return weights[0].new_empty(0)


def _sum(first: Tensor, *others: OptionalTensor) -> Tensor:
    for other in others:
        if other is not None:
            first = first + other
    return first
