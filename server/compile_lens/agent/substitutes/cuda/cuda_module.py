"""What ``torch.cuda`` asks its C module: answers of one NVIDIA H100.

``torch.cuda`` itself stays as it is: only the functions of ``torch._C`` that a build without CUDA lacks are added, and those that would
ask a driver are replaced. So programs and Dynamo meet the functions of ``torch.cuda`` that they would meet on a machine with a GPU.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import torch

from ..notes import Told
from .native import State

GIB = 1 << 30
NAME = "NVIDIA H100 80GB HBM3"
CAPABILITY = (9, 0)
CUDA_VERSION = "13.0"
# what an H100 SXM tells of itself
PROPERTIES: dict[str, Any] = {
    "name": NAME,
    "major": CAPABILITY[0],
    "minor": CAPABILITY[1],
    "total_memory": 80 * GIB,
    "multi_processor_count": 132,
    "regs_per_multiprocessor": 65536,
    "max_threads_per_multi_processor": 2048,
    "max_threads_per_block": 1024,
    "warp_size": 32,
    "shared_memory_per_block": 49152,
    "shared_memory_per_block_optin": 232448,
    "shared_memory_per_multiprocessor": 233472,
    "L2_cache_size": 50 << 20,
    "is_integrated": 0,
    "is_multi_gpu_board": 0,
    "gcnArchName": "",
    "clock_rate": 1980000,
    "memory_clock_rate": 2619000,
    "memory_bus_width": 5120,
    "pci_bus_id": 0,
    "pci_device_id": 0,
    "pci_domain_id": 0,
    "uuid": "00000000-0000-0000-0000-000000000000",
}


class DeviceProperties:
    """Stands for ``torch._C._CudaDeviceProperties``."""

    def __init__(self) -> None:
        vars(self).update(PROPERTIES)

    def __repr__(self) -> str:
        return f"_CudaDeviceProperties({', '.join(f'{name}={value!r}' for name, value in PROPERTIES.items())})"


def install(state: State, generators: tuple[torch.Generator, ...], told: Told) -> None:
    """Give ``torch._C`` the functions of a build with CUDA. ``told`` writes down what only a GPU can say."""
    properties = DeviceProperties()

    def device_properties(index: Any = None) -> DeviceProperties:
        told.asked("properties")
        return properties

    for name, function in {**_device_functions(state, told), **_memory_functions(told), **_stream_functions()}.items():
        _replace(name, function)
    cuda: Any = torch.cuda
    cuda._CudaDeviceProperties = torch._C._CudaDeviceProperties = DeviceProperties
    cuda._get_device_properties = device_properties
    # a build with CUDA asks the driver's library first, which knows of no visible GPU (torch/cuda/__init__.py, `device_count`)
    cuda._device_count_nvml = lambda: state.count
    cuda._exchange_device = torch._C._cuda_exchangeDevice
    cuda._maybe_exchange_device = torch._C._cuda_maybeExchangeDevice
    cuda._cudart = Runtime(told)
    cuda.default_generators = generators
    cuda._initialized = True
    core: Any = torch._C
    core._has_cuda = core._has_cudnn = True
    torch.version.cuda = torch.version.cuda or CUDA_VERSION
    cuda._queued_calls.clear()
    _forget_answers()


def _replace(name: str, function: Callable[..., Any]) -> None:
    """Put ``function`` into ``torch._C``, and where a build with CUDA has imported the one of that name from there."""
    original = getattr(torch._C, name, None)
    setattr(torch._C, name, function)
    if original is None:
        return
    for path, module in list(sys.modules.items()):
        if path.startswith("torch.cuda"):
            for known, value in list(vars(module).items()):
                if value is original:
                    setattr(module, known, function)


def _forget_answers() -> None:
    """Ask again what was answered without a GPU: the answers are kept by torch."""
    import torch.utils._triton
    from torch._dynamo import trace_rules

    for function in (
        torch.cuda.device_count,
        torch.cuda.is_bf16_supported,
        trace_rules.get_torch_obj_rule_map,
        *vars(torch.utils._triton).values(),
    ):
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    torch.cuda._cached_device_count = None


def _device_functions(state: State, told: Told) -> dict[str, Callable[..., Any]]:
    def exchange(index: int) -> int:
        before = state.current
        if index >= 0:
            state.current = index
        return before

    def count() -> int:
        told.asked("available")
        return state.count

    def make_current(index: int) -> None:
        if not 0 <= index < state.count:
            raise RuntimeError("CUDA error: invalid device ordinal")
        state.current = index

    return {
        "_cuda_init": lambda: None,
        "_cuda_isInBadFork": lambda: False,
        "_cuda_getDeviceCount": count,
        "_cuda_getDevice": lambda: state.current,
        "_cuda_setDevice": make_current,
        "_cuda_exchangeDevice": exchange,
        "_cuda_maybeExchangeDevice": exchange,
        "_cuda_hasPrimaryContext": lambda index: True,
        "_cuda_synchronize": lambda: None,
        "_cuda_canDeviceAccessPeer": lambda one, other: True,
        "_cuda_getArchFlags": lambda: "sm_80 sm_90 compute_90",
        "_cuda_getCompiledVersion": lambda: 13000,
        "_cuda_ipc_collect": lambda: None,
        "_cuda_sleep": lambda cycles: None,
        "_cuda_set_sync_debug_mode": lambda mode: None,
        "_cuda_get_sync_debug_mode": lambda: 0,
        "_cuda_getCurrentBlasHandle": lambda: 0,
        "_cuda_clearCublasWorkspaces": lambda: None,
    }


def _memory_functions(told: Told) -> dict[str, Callable[..., Any]]:
    # torch/csrc/cuda/Module.cpp, THCPModule_memoryStats
    kinds = ("allocation", "segment", "active", "inactive_split")
    sizes = (*(f"{kind}_bytes" for kind in ("allocated", "reserved", "active", "inactive_split", "requested")),)
    pools = ("all", "small_pool", "large_pool")
    figures = ("current", "peak", "allocated", "freed")

    def statistics(index: Any) -> dict[str, Any]:
        told.asked("memory")
        counted: dict[str, Any] = {
            kind: {pool: dict.fromkeys(figures, 0) for pool in pools} for kind in (*kinds, *sizes)
        }
        large = {kind: dict.fromkeys(figures, 0) for kind in ("oversize_allocations", "oversize_segments")}
        plain = dict.fromkeys(
            ("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free"), 0
        )
        return {**counted, **large, **plain, "max_split_size": -1}

    return {
        "_cuda_emptyCache": lambda: None,
        "_cuda_memoryStats": statistics,
        "_cuda_resetAccumulatedMemoryStats": lambda index: None,
        "_cuda_resetPeakMemoryStats": lambda index: None,
        "_cuda_setMemoryFraction": lambda fraction, index: None,
        "_cuda_memorySnapshot": lambda *_: {"segments": [], "device_traces": [], "allocator_settings": {}},
        "_cuda_getAllocatorBackend": lambda: "native",
        "_cuda_cudaCachingAllocator_is_enabled": lambda: True,
        "_cuda_record_memory_history": lambda *_, **__: None,
        "_cuda_record_memory_history_legacy": lambda *_, **__: None,
        "_cuda_isHistoryEnabled": lambda: False,
    }


class Runtime(types.SimpleNamespace):
    """Stands for the module of CUDA's runtime, ``torch.cuda.cudart()``."""

    cudaError = types.SimpleNamespace(success=0)  # noqa: N815 - its name there

    def __init__(self, told: Told) -> None:
        self._told = told

    def cudaMemGetInfo(self, index: int) -> tuple[int, int]:  # noqa: N802
        """Free and total bytes."""
        self._told.asked("memory")
        return PROPERTIES["total_memory"], PROPERTIES["total_memory"]

    def cudaProfilerStart(self) -> int:  # noqa: N802
        return 0

    def cudaProfilerStop(self) -> int:  # noqa: N802
        return 0

    def cudaDeviceSynchronize(self) -> int:  # noqa: N802
        return 0


def _stream_functions() -> dict[str, Callable[..., Any]]:
    return {
        "_cuda_getCurrentRawStream": lambda index: 0,
        "_cuda_getCurrentStream": lambda index: (0, index, 1),
        "_cuda_getDefaultStream": lambda index: (0, index, 1),
        "_cuda_setStream": lambda stream_id, device_index, device_type: None,
        "_cuda_isCurrentStreamCapturing": lambda: False,
        # imported by torch/_inductor/cudagraph_trees.py, which `torch.compiler.cudagraph_mark_step_begin` loads
        "_cuda_CUDAAllocator_AllocatorState": types.SimpleNamespace,
        "_set_cached_tensors_enabled": lambda enabled: None,
    }
