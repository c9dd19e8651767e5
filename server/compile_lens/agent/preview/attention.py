"""Chooses the backend of scaled dot-product attention as PyTorch does on the GPU that is not there.

The rules are those of aten/src/ATen/native/transformers/cuda/sdp_utils.cpp and ../sdp_utils_cpp.h (torch 2.11 to 2.13). That code asks
the driver for the GPU, so without one it always takes the math backend, which would show attention as two products and a softmax.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from ..torch_internals.attributes import attention_operator
from ..torch_internals.core import SDP_PRIORITY
from ..torch_internals.lookup import torch_version
from .notes import PreviewNotes

Capability = tuple[int, int]
HALF = (torch.float16, torch.bfloat16)
CUDNN, FLASH, EFFICIENT, MATH = "cuDNN attention", "flash attention", "memory-efficient attention", "the math backend"
# at::SDPBackend
NUMBERS = {0: MATH, 1: FLASH, 2: EFFICIENT, 3: CUDNN}
DEFAULT_ORDER = [FLASH, EFFICIENT, MATH, CUDNN]  # aten/src/ATen/Context.h
# the first torch whose wheels have a cuDNN that it prefers (9.15.1 or later)
PREFERS_CUDNN = (2, 10)
LARGEST_CUDNN_SIZE = 65535
LOWEST_FOR_CUDNN = -65504.0  # it does not take infinity


@dataclass(frozen=True)
class Attention:
    """One call of ``scaled_dot_product_attention`` on a GPU."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    dropout: float
    is_causal: bool
    enable_gqa: bool

    @property
    def needs_gradient(self) -> bool:
        tensors = (self.query, self.key, self.value)
        return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


class AttentionChooser:
    """Chooses for a GPU of ``capability``. ``cudnn`` is the version of cuDNN, as a number."""

    def __init__(self, capability: Capability, cudnn: int) -> None:
        self._capability = capability
        self._cudnn = cudnn

    def _prefers_cudnn(self) -> bool:
        if torch_version() < PREFERS_CUDNN:
            return bool(os.environ.get("TORCH_CUDNN_SDPA_PREFERRED")) and self._capability[0] in (9, 10)
        if os.environ.get("TORCH_CUDNN_SDPA_DEPRIORITIZED") == "1":
            return False
        return self._cudnn > 91500 and self._capability[0] in (9, 10)

    def choose(self, call: Attention) -> str:
        """The first backend, in PyTorch's order, that can do ``call``."""
        can: dict[str, Callable[[Attention], bool]] = {
            CUDNN: self._can_cudnn,
            FLASH: self._can_flash,
            EFFICIENT: self._can_efficient,
            MATH: lambda _: True,
        }
        for backend in self._order():
            if can[backend](call):
                return backend
        return MATH

    def _order(self) -> list[str]:
        chosen = [
            NUMBERS[int(number)] for number in SDP_PRIORITY.get(list)() if int(number) in NUMBERS
        ] or DEFAULT_ORDER
        # at its first call on a GPU, torch puts cuDNN first, unless the program has asked for another order
        return [CUDNN, FLASH, EFFICIENT, MATH] if chosen == DEFAULT_ORDER and self._prefers_cudnn() else chosen

    def _can_cudnn(self, call: Attention) -> bool:
        enabled = getattr(torch.backends.cuda, "cudnn_sdp_enabled", lambda: False)()
        deterministic = torch.are_deterministic_algorithms_enabled()
        if not enabled or deterministic or self._capability < (8, 0) or not _is_dense(call):
            return False
        if call.query.dtype not in HALF or not _same_type(call) or not _can_mask(call):
            return False
        if call.dropout * 16 != int(call.dropout * 16) or (call.dropout > 0 and 91100 < self._cudnn < 91400):
            return False
        query, key, value = call.query, call.key, call.value
        width, value_width = query.shape[-1], value.shape[-1]
        most = 192 if (width, value_width) == (192, 128) and self._capability[0] in (9, 10) else 128
        return bool(
            _last_stride_is_one(call, ignores_single=True)
            and _heads_fit(call, supports_groups=True)
            and query.shape[0] <= LARGEST_CUDNN_SIZE
            and query.shape[1] <= LARGEST_CUDNN_SIZE
            and width <= most
            and value_width <= most
            and width % 8 == 0
            and value_width % 8 == 0
            and key.shape[2] != 1
            and not (call.dropout and query.shape[2] == 1)
        )

    def _can_flash(self, call: Attention) -> bool:
        query, key, value = call.query, call.key, call.value
        if not torch.backends.cuda.flash_sdp_enabled() or call.mask is not None or self._capability < (8, 0):
            return False
        if query.dtype not in HALF or not _same_type(call) or not _is_dense(call):
            return False
        width = query.shape[-1]
        if not width == key.shape[-1] == value.shape[-1] or width > 256:
            return False
        is_consumer = (8, 6) <= self._capability <= (8, 9) or (12, 0) <= self._capability <= (12, 1)
        if call.needs_gradient and is_consumer and not (width <= 192 or (call.dropout == 0 and width > 224)):
            return False
        if call.is_causal and query.shape[-2] != key.shape[-2]:
            return False
        return bool(_last_stride_is_one(call, ignores_single=True) and _heads_fit(call, supports_groups=True))

    def _can_efficient(self, call: Attention) -> bool:
        if not torch.backends.cuda.mem_efficient_sdp_enabled() or not _is_dense(call):
            return False
        types = (torch.float16, torch.float32) if self._capability < (8, 0) else (*HALF, torch.float32)
        query, key, value = call.query, call.key, call.value
        if query.dtype not in types or not _same_type(call):
            return False
        multiple = self._alignment(query.dtype)
        return bool(
            query.shape[-1] == key.shape[-1]
            and query.shape[-1] % multiple == 0
            and value.shape[-1] % multiple == 0
            and _last_stride_is_one(call, ignores_single=False)
            and _heads_fit(call, supports_groups=torch_version() >= (2, 12))
        )

    def _alignment(self, dtype: torch.dtype) -> int:
        bits = 16 if dtype in HALF else 32
        uses_tensor_cores = self._capability >= (8, 0) or (self._capability >= (7, 0) and bits == 16)
        least = 4 if self._capability >= (8, 0) else 1
        return max(least, 128 // bits) if uses_tensor_cores else least


def _is_dense(call: Attention) -> bool:
    tensors = (call.query, call.key, call.value)
    return all(tensor.dim() == 4 for tensor in tensors) and all(tensor.shape[2] != 0 for tensor in tensors)


def _same_type(call: Attention) -> bool:
    return bool(call.query.dtype == call.key.dtype == call.value.dtype)


def _last_stride_is_one(call: Attention, ignores_single: bool) -> bool:
    tensors = (call.query, call.key, call.value)
    dense = all(tensor.stride(-1) == 1 or (ignores_single and tensor.shape[-1] == 1) for tensor in tensors)
    mask = call.mask
    return bool(dense and (mask is None or mask.stride(-1) == 1 or (ignores_single and mask.shape[-1] == 1)))


def _heads_fit(call: Attention, supports_groups: bool) -> bool:
    query, key, value = call.query, call.key, call.value
    if not query.shape[0] == key.shape[0] == value.shape[0]:
        return False
    heads, of_key, of_value = query.shape[1], key.shape[1], value.shape[1]
    if supports_groups and call.enable_gqa:
        return bool(of_key and of_value and heads % of_key == 0 and heads % of_value == 0)
    return bool(heads == of_key == of_value)


def _can_mask(call: Attention) -> bool:
    """torch's ``check_attn_mask_shape``: two or four dimensions, each 1 or that of the scores; no gradient."""
    mask = call.mask
    if mask is None:
        return True
    if mask.requires_grad:
        return False
    lengths = (call.query.shape[2], call.key.shape[2])
    if mask.dim() == 2:
        return mask.shape[0] in (1, lengths[0]) and mask.shape[1] in (1, lengths[1])
    wanted = (call.query.shape[0], call.query.shape[1], *lengths)
    return mask.dim() == 4 and all(size in (1, expected) for size, expected in zip(mask.shape, wanted, strict=True))


def install(chooser: AttentionChooser, notes: PreviewNotes) -> None:
    """Have the compiler see attention on a GPU as the operator of the chosen backend."""
    operator: Any = torch.ops.aten.scaled_dot_product_attention.default
    key = torch.DispatchKey.CompositeImplicitAutograd

    def attention(
        query: Any,
        key_: Any,
        value: Any,
        attn_mask: Any = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        *,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Any:
        named = {"scale": scale, "enable_gqa": enable_gqa}
        call = Attention(query, key_, value, attn_mask, dropout_p, is_causal, enable_gqa)
        backend = chooser.choose(call) if query.device.type == "cuda" else ""
        if query.device.type == "cuda":
            others = tuple(name for name in (CUDNN, FLASH, EFFICIENT, MATH) if name != backend)
            notes.decision("attention", backend, others, "PyTorch asks the GPU and its libraries for the backend.")
        return _lowered(backend, call, named)

    operator.py_kernels.pop(key, None)
    operator.py_impl(key)(attention)


def _lowered(backend: str, call: Attention, named: dict[str, Any]) -> Any:
    """The call as aten/src/ATen/native/transformers/attention.cpp makes it for a backend."""
    query, key, value, mask = call.query, call.key, call.value, call.mask
    scale = named["scale"]
    gradient = call.needs_gradient
    if backend == CUDNN:
        bias = _as_bias(mask, query, LOWEST_FOR_CUDNN)
        return attention_operator("cudnn_attention")(
            query, key, value, bias, gradient, call.dropout, call.is_causal, False, scale=scale
        )[0]
    if backend == FLASH:
        width = query.shape[-1]
        missing = -width % 8
        if missing:
            query, key, value = (torch.nn.functional.pad(tensor, (0, missing)) for tensor in (query, key, value))
        result = attention_operator("flash_attention")(
            query, key, value, call.dropout, call.is_causal, False, scale=scale if scale is not None else width**-0.5
        )[0]
        return result[..., :width] if missing else result
    if backend == EFFICIENT:
        bias = _padded_bias(_as_bias(mask, query, float("-inf")), query, key)
        return attention_operator("efficient_attention")(
            query, key, value, bias, gradient, call.dropout, call.is_causal, scale=scale
        )[0]
    return attention_operator("attention_math")(query, key, value, mask, call.dropout, call.is_causal, None, **named)[0]


def _as_bias(mask: torch.Tensor | None, query: torch.Tensor, lowest: float) -> torch.Tensor | None:
    """A mask of truth values as numbers to add (``convert_boolean_attn_mask``)."""
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.where(mask, 0.0, torch.scalar_tensor(lowest, dtype=query.dtype, device=query.device))


def _padded_bias(bias: torch.Tensor | None, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor | None:
    """``preprocess_mask``: the kernel reads rows of 16 numbers."""
    if bias is None:
        return None
    last = bias.shape[-1]
    if bias.stride(-1) != 1 or any(stride % 16 for stride in bias.stride()[:-1]):
        bias = torch.nn.functional.pad(bias, (0, 16 - last % 16))[..., :last]
    return bias.expand(query.shape[0], query.shape[1], query.shape[2], key.shape[2])
