"""Answers what ``torch.cuda`` asks its C module as one NVIDIA H100 would.

``torch.cuda`` itself is not replaced: only the functions of ``torch._C`` that a build without CUDA lacks are added, and those that would
ask a driver are replaced. So programs and Dynamo see the same functions of ``torch.cuda`` as on a machine with a GPU.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch

from ...torch_internals import core, cuda
from ...torch_internals.dynamo import COMMON_CONSTANT_TYPES, TORCH_OBJECT_RULES
from ...torch_internals.lookup import Internal
from ..notes import StandInNotes
from . import between_devices
from .native import EmulatedDevices

Functions = dict[Internal, Callable[..., Any]]

GIB = 1 << 30
CUDA_VERSION = "13.0"
NCCL = 2 << 32 | 27 << 16 | 7  # torch/cuda/nccl.py, ``version``
# as an H100 SXM reports them
PROPERTIES: dict[str, Any] = {
    "name": "NVIDIA H100 80GB HBM3",
    "major": 9,
    "minor": 0,
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
    """Replaces ``torch._C._CudaDeviceProperties``."""

    def __init__(self, properties: Mapping[str, Any]) -> None:
        vars(self).update(properties)

    def __repr__(self) -> str:
        return f"_CudaDeviceProperties({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


# markers for a profiler of GPUs, which nobody reads here; what a range returns is its depth or its number
MARKERS = types.SimpleNamespace(
    rangePushA=lambda message: 0,
    rangePop=lambda: 0,
    rangeStartA=lambda message: 0,
    rangeEnd=lambda number: None,
    deviceRangeStart=lambda message, stream: 0,
    deviceRangeEnd=lambda number, stream: None,
    markA=lambda message: None,
)


def install(
    devices: EmulatedDevices,
    generators: tuple[torch.Generator, ...],
    notes: StandInNotes,
    figures: Mapping[str, Any] = PROPERTIES,
) -> None:
    """Give ``torch._C`` the functions of a build with CUDA. ``notes`` takes queries that only a GPU can answer.

    ``figures`` are the properties in which the device differs from an H100.
    """
    properties = DeviceProperties({**PROPERTIES, **figures})

    def device_properties(index: Any = None) -> DeviceProperties:
        notes.queried("properties")
        return properties

    functions = {
        **_device_functions(devices, notes, properties),
        **_memory_functions(notes),
        **_stream_functions(),
        **between_devices.functions(),
    }
    for row, function in functions.items():
        _replace(row, function)
    for row, value in (
        (cuda.DEVICE_PROPERTIES, DeviceProperties),
        (cuda.C_DEVICE_PROPERTIES, DeviceProperties),
        (cuda.GET_DEVICE_PROPERTIES, device_properties),
        # a CUDA build asks NVML before the runtime, and NVML counts no device where all are hidden
        (cuda.NVML_DEVICE_COUNT, lambda: devices.count),
        (cuda.EXCHANGE_DEVICE, functions[cuda.C_EXCHANGE_DEVICE]),
        (cuda.MAYBE_EXCHANGE_DEVICE, functions[cuda.C_MAYBE_EXCHANGE_DEVICE]),
        (cuda.CUDART, CudaRuntime(notes, properties)),
        (cuda.INITIALIZED, True),
        (cuda.NVTX, MARKERS),
        (cuda.C_HAS_CUDA, True),
        (cuda.C_HAS_CUDNN, True),
    ):
        row.put(value)
    # Dynamo takes the class that a build with CUDA has for a constant
    if (constants := COMMON_CONSTANT_TYPES.get()) is not None:
        constants.add(DeviceProperties)
    _let_profilers_start()
    torch.cuda.default_generators = generators
    torch.version.cuda = torch.version.cuda or CUDA_VERSION
    cuda.QUEUED_CALLS.need().clear()
    _clear_cached_answers()


def _replace(row: Internal, function: Callable[..., Any]) -> None:
    """Put ``function`` into ``torch._C``, and into the modules of a build with CUDA that imported the original from there."""
    original = row.look_up()
    row.put(function)
    if original is None:
        return
    for path, module in list(sys.modules.items()):
        if path.startswith("torch.cuda"):
            for known, value in list(vars(module).items()):
                if value is original:
                    setattr(module, known, function)


def _let_profilers_start() -> None:
    """Say that profilers can record CUDA: else they time each operator with CUDA events, which fail with a page of words each."""
    activities = cuda.PROFILER_ACTIVITIES.get()
    if activities is not None:
        cuda.PROFILER_ACTIVITIES.put(lambda: {*activities(), torch.profiler.ProfilerActivity.CUDA})


def _clear_cached_answers() -> None:
    """Clear what torch cached while there was no device."""
    for function in (
        torch.cuda.device_count,
        torch.cuda.is_bf16_supported,
        TORCH_OBJECT_RULES.need(),
        *vars(core.TRITON_QUERIES.need()).values(),
    ):
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    cuda.CACHED_DEVICE_COUNT.put(None)


def _device_functions(devices: EmulatedDevices, notes: StandInNotes, properties: Any) -> Functions:
    architecture = f"{properties.major}{properties.minor}"

    def exchange(index: int) -> int:
        before = devices.current
        if index >= 0:
            devices.current = index
        return before

    def count() -> int:
        notes.queried("available")
        return devices.count

    def make_current(index: int) -> None:
        if not 0 <= index < devices.count:
            raise RuntimeError("CUDA error: invalid device ordinal")
        devices.current = index

    return {
        cuda.C_INIT: lambda: None,
        cuda.IS_IN_BAD_FORK: lambda: False,
        cuda.GET_DEVICE_COUNT: count,
        cuda.GET_DEVICE: lambda: devices.current,
        cuda.SET_DEVICE: make_current,
        cuda.C_EXCHANGE_DEVICE: exchange,
        cuda.C_MAYBE_EXCHANGE_DEVICE: exchange,
        cuda.HAS_PRIMARY_CONTEXT: lambda index: True,
        cuda.SYNCHRONIZE: lambda: None,
        cuda.CAN_DEVICE_ACCESS_PEER: lambda one, other: True,
        cuda.ARCH_FLAGS: lambda: f"sm_80 sm_{architecture} compute_{architecture}",
        cuda.COMPILED_VERSION: lambda: 13000,
        cuda.IPC_COLLECT: lambda: None,
        cuda.SLEEP: lambda cycles: None,
        cuda.SET_SYNC_DEBUG_MODE: lambda mode: None,
        cuda.GET_SYNC_DEBUG_MODE: lambda: 0,
        cuda.BLAS_HANDLE: lambda: 0,
        cuda.GET_CUDNN_BENCHMARK_LIMIT: lambda: 10,  # torch's default (aten/src/ATen/Context.h)
        cuda.SET_CUDNN_BENCHMARK_LIMIT: lambda limit: None,
        cuda.CLEAR_CUBLAS_WORKSPACES: lambda: None,
        cuda.NCCL_VERSION: lambda: NCCL,
        cuda.NCCL_VERSION_SUFFIX: lambda: b"",
    }


def _memory_functions(notes: StandInNotes) -> Functions:
    # torch/csrc/cuda/Module.cpp, THCPModule_memoryStats
    kinds = ("allocation", "segment", "active", "inactive_split")
    sizes = (*(f"{kind}_bytes" for kind in ("allocated", "reserved", "active", "inactive_split", "requested")),)
    pools = ("all", "small_pool", "large_pool")
    figures = ("current", "peak", "allocated", "freed")

    def statistics(index: Any) -> dict[str, Any]:
        notes.queried("memory")
        counted: dict[str, Any] = {
            kind: {pool: dict.fromkeys(figures, 0) for pool in pools} for kind in (*kinds, *sizes)
        }
        large = {kind: dict.fromkeys(figures, 0) for kind in ("oversize_allocations", "oversize_segments")}
        plain = dict.fromkeys(
            ("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free"), 0
        )
        return {**counted, **large, **plain, "max_split_size": -1}

    return {
        cuda.EMPTY_CACHE: lambda: None,
        cuda.MEMORY_STATS: statistics,
        cuda.RESET_ACCUMULATED_MEMORY_STATS: lambda index: None,
        cuda.RESET_PEAK_MEMORY_STATS: lambda index: None,
        cuda.GET_MEMORY_FRACTION: lambda index: 1.0,
        cuda.SET_MEMORY_FRACTION: lambda fraction, index: None,
        cuda.MEMORY_SNAPSHOT: lambda *_: {"segments": [], "device_traces": [], "allocator_settings": {}},
        cuda.ALLOCATOR_BACKEND: lambda: "native",
        cuda.CACHING_ALLOCATOR_IS_ENABLED: lambda: True,
        cuda.RECORD_MEMORY_HISTORY: lambda *_, **__: None,
        cuda.RECORD_MEMORY_HISTORY_LEGACY: lambda *_, **__: None,
        cuda.IS_HISTORY_ENABLED: lambda: False,
    }


class CudaRuntime(types.SimpleNamespace):
    """Replaces the module of the CUDA runtime, ``torch.cuda.cudart()``."""

    cudaError = types.SimpleNamespace(success=0)  # noqa: N815 - its name there

    def __init__(self, notes: StandInNotes, properties: Any) -> None:
        self._notes = notes
        self._properties = properties

    def cudaMemGetInfo(self, index: int) -> tuple[int, int]:  # noqa: N802
        """Free and total bytes."""
        self._notes.queried("memory")
        return self._properties.total_memory, self._properties.total_memory

    def cudaProfilerStart(self) -> int:  # noqa: N802
        return 0

    def cudaProfilerStop(self) -> int:  # noqa: N802
        return 0

    def cudaDeviceSynchronize(self) -> int:  # noqa: N802
        return 0


def _stream_functions() -> Functions:
    return {
        cuda.CURRENT_RAW_STREAM: lambda index: 0,
        cuda.CURRENT_STREAM: lambda index: (0, index, 1),
        cuda.DEFAULT_STREAM: lambda index: (0, index, 1),
        cuda.SET_STREAM: lambda stream_id, device_index, device_type: None,
        cuda.IS_STREAM_CAPTURING: lambda: False,
        # imported by torch/_inductor/cudagraph_trees.py, which `torch.compiler.cudagraph_mark_step_begin` loads
        cuda.ALLOCATOR_STATE: types.SimpleNamespace,
        cuda.SET_CACHED_TENSORS_ENABLED: lambda enabled: None,
    }
