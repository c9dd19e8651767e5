"""Sparse tensors of the emulated device: their indices and values are dense tensors of it.

A sparse tensor has no memory of its own (``SparseTensorImpl.h``, ``SparseCsrTensorImpl.h``): in either direction another one is made
of its parts. C++ chooses its class by layout and device alone, so that the kernels for CPU tensors make and read those of the device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

# key of the device → key whose kernels take any device here
KEYS = {"SparseCUDA": "SparseCPU", "SparseCsrCUDA": "SparseCsrCPU"}
# they return parts and facts of a sparse tensor, or set one, without computing anything
READERS = frozenset(
    {
        "aten::_indices",
        "aten::_values",
        "aten::indices",
        "aten::values",
        "aten::_nnz",
        "aten::sparse_dim",
        "aten::dense_dim",
        "aten::_dimI",
        "aten::_dimV",
        "aten::is_coalesced",
        "aten::_coalesced_",
        "aten::crow_indices",
        "aten::col_indices",
        "aten::ccol_indices",
        "aten::row_indices",
    }
)
_BY_ROWS = (torch.sparse_csr, torch.sparse_bsr)
_COO = torch.DispatchKeySet(torch.DispatchKey.SparseCPU)
_COMPRESSED = torch.DispatchKeySet(torch.DispatchKey.SparseCsrCPU)


def kernels_of(key: str) -> torch.DispatchKeySet:
    """The kernels of the CPU that read sparse tensors of the emulated device with dispatch key ``key``."""
    return _COO if key == "SparseCUDA" else _COMPRESSED


def with_parts(tensor: torch.Tensor, device: torch.device, moved: Callable[[torch.Tensor], Any]) -> torch.Tensor:
    """A sparse tensor on ``device``, of the indices and values of ``tensor`` that ``moved`` returns."""
    given = {"dtype": tensor.dtype, "layout": tensor.layout, "device": device, "pin_memory": False}
    made: torch.Tensor
    if tensor.layout is torch.sparse_coo:
        made = aten("_sparse_coo_tensor_with_dims_and_tensors").redispatch(
            _COO,
            tensor.sparse_dim(),
            tensor.dense_dim(),
            list(tensor.shape),
            moved(aten("_indices").redispatch(_COO, tensor)),
            moved(aten("_values").redispatch(_COO, tensor)),
            **given,
            is_coalesced=aten("is_coalesced").redispatch(_COO, tensor),
        )
        return made
    by_rows = tensor.layout in _BY_ROWS
    names = ("crow_indices", "col_indices", "values") if by_rows else ("ccol_indices", "row_indices", "values")
    parts = [moved(aten(name).redispatch(_COMPRESSED, tensor)) for name in names]
    made = aten("_sparse_compressed_tensor_unsafe")(*parts, list(tensor.shape), **given)
    return made


def write_back(tensor: torch.Tensor, changed: torch.Tensor) -> None:
    """Give ``tensor`` the indices and values of ``changed``: an operator on its alias may have replaced them."""
    if tensor.layout is torch.sparse_coo:  # the values of the others are changed in place
        aten("copy_sparse_to_sparse_").redispatch(_COO, tensor, changed)


def aten(name: str) -> Any:
    """An operator by the name of its schema."""
    return getattr(torch.ops.aten, name).default
