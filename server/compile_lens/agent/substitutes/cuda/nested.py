"""Strided nested tensors of the emulated device: a buffer of the device, and sizes, strides and offsets on the CPU.

Such a tensor is a view of a dense buffer (``NestedTensorImpl.h``), so that a CPU alias of it is the same view of the buffer's alias.
Those with the layout ``torch.jagged`` are Python objects over dense tensors and need nothing here.
"""

from __future__ import annotations

import torch

from .sparse import aten

# key of the device → key whose kernels take any device here
KEYS = {"NestedTensorCUDA": "NestedTensorCPU"}
# they describe a nested tensor with tensors of the CPU, on any device
DESCRIPTION = ("_nested_tensor_size", "_nested_tensor_strides", "_nested_tensor_storage_offsets")
READERS = frozenset(f"aten::{name}" for name in DESCRIPTION)
KERNELS = torch.DispatchKeySet(torch.DispatchKey.NestedTensorCPU)
_DENSE = torch.DispatchKeySet(torch.DispatchKey.CPU)


def over(buffer: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    """A nested tensor with the sizes, strides and offsets of ``tensor`` over ``buffer``, which is flat and a whole storage."""
    description = [aten(name).redispatch(KERNELS, tensor) for name in DESCRIPTION]
    made: torch.Tensor = aten("_nested_view_from_buffer").redispatch(_DENSE, buffer, *description)
    return made
