"""How ``torch.nn.DataParallel`` moves tensors between GPUs (torch/csrc/cuda/comm.cpp), for a build without them.

``DataParallel`` scatters its inputs even where there is one GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...torch_internals import cuda
from ...torch_internals.lookup import Internal

if TYPE_CHECKING:
    from torch import Tensor


def functions() -> dict[Internal, Callable[..., Any]]:
    """What a build with CUDA has in ``torch._C`` for that."""
    return {
        cuda.BROADCAST: _broadcast,
        cuda.BROADCAST_COALESCED: _broadcast_coalesced,
        cuda.BROADCAST_OUT: _broadcast_out,
        cuda.GATHER: _gather,
        cuda.GATHER_OUT: _gather_out,
        cuda.SCATTER: _scatter,
        cuda.SCATTER_OUT: _scatter_out,
    }


def _broadcast(tensor: Tensor, devices: Sequence[int]) -> list[Tensor]:
    return [tensor.to(_device(index)) for index in devices]


def _broadcast_coalesced(tensors: Sequence[Tensor], devices: Sequence[int], buffer_size: int) -> list[list[Tensor]]:
    return [[tensor.to(_device(index)) for tensor in tensors] for index in devices]


def _broadcast_out(tensor: Tensor, out: Sequence[Tensor]) -> list[Tensor]:
    return [each.copy_(tensor) for each in out]


def _scatter(
    tensor: Tensor, devices: Sequence[int], chunk_sizes: Sequence[int] | None, dim: int, streams: Any = None
) -> list[Tensor]:
    chunks = tensor.split(list(chunk_sizes), dim) if chunk_sizes else tensor.chunk(len(devices), dim)
    return [chunk.to(_device(index)) for chunk, index in zip(chunks, devices, strict=False)]


def _scatter_out(tensor: Tensor, out: Sequence[Tensor], dim: int, streams: Any = None) -> list[Tensor]:
    chunks = tensor.split([each.size(dim) for each in out], dim)
    return [each.copy_(chunk) for each, chunk in zip(out, chunks, strict=True)]


def _gather(tensors: Sequence[Tensor], dim: int, destination: int | None = None) -> Tensor:
    import torch

    return torch.cat([tensor.to(_device(destination)) for tensor in tensors], dim)


def _gather_out(tensors: Sequence[Tensor], out: Tensor, dim: int) -> Tensor:
    import torch

    return out.copy_(torch.cat([tensor.to(out.device) for tensor in tensors], dim))


def _device(index: int | None) -> str:
    # -1 is the CPU (torch/nn/parallel/comm.py)
    return "cpu" if index == -1 else "cuda" if index is None else f"cuda:{index}"
