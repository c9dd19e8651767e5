"""Copies what a program passes to its models, as far as a compiler can tell the copy from the original."""

from __future__ import annotations

from typing import Any

from ...runtime.foreign_code import attempted
from ...torch_internals.core import PYTREE

# a slice of a large data set may begin anywhere in it: what lies before it is not copied
MOST_BEFORE = 4096


def copies_of(value: Any) -> Any:
    """``value`` with copies of its tensors, without their history; as it is where a class of the program does not let it be taken apart."""
    import torch

    def copied(each: Any) -> Any:
        if not isinstance(each, torch.Tensor):
            return each
        copy = each.detach().clone()
        if type(each) is torch.Tensor and each.layout is torch.strided and each.storage_offset():
            copy = _behind(copy, each.storage_offset())
        return copy.requires_grad_(each.requires_grad)

    result = attempted(lambda: PYTREE.need().tree_map(copied, value))
    return value if result is None else result


def _behind(tensor: Any, offset: int) -> Any:
    """``tensor`` as a part of a larger one that begins ``offset`` numbers before it: code that is compiled for any size may be compiled
    again for a batch that is not the first of its data."""
    import torch

    before = offset if offset <= MOST_BEFORE else MOST_BEFORE + offset % MOST_BEFORE
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    whole = torch.zeros(before + max(span, 0), dtype=tensor.dtype, device=tensor.device)
    part = whole.as_strided(tensor.shape, tensor.stride(), before)
    part.copy_(tensor)
    return part
