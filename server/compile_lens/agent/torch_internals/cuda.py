"""Private names of ``torch.cuda`` and of CUDA's part of ``torch._C``: what the emulated CUDA device answers in place of a driver.

A build without CUDA lacks most of them, so they are put there rather than replaced.
"""

from __future__ import annotations

from .lookup import Internal

_EMULATION = "the emulated CUDA device"

# ``torch.cuda`` (torch/cuda/__init__.py)
AMDSMI_DEVICE_COUNT = Internal("torch.cuda:_device_count_amdsmi", "the detection of AMD GPUs")
DEVICE_PROPERTIES = Internal("torch.cuda:_CudaDeviceProperties", _EMULATION, supplied=True)
ASKS_NVML_FIRST = Internal("torch.cuda:_nvml_based_avail", "the search for calls on a GPU")
CACHED_DEVICE_COUNT = Internal("torch.cuda:_cached_device_count", _EMULATION)
CUDART = Internal("torch.cuda:_cudart", _EMULATION)
EXCHANGE_DEVICE = Internal("torch.cuda:_exchange_device", _EMULATION, supplied=True)
GET_DEVICE_PROPERTIES = Internal("torch.cuda:_get_device_properties", _EMULATION, supplied=True)
NVML_DEVICE_COUNT = Internal("torch.cuda:_device_count_nvml", _EMULATION)
INITIALIZED = Internal("torch.cuda:_initialized", _EMULATION)
IS_COMPILED = Internal("torch.cuda:_is_compiled", "the detection of GPUs")
LAZY_INIT = Internal("torch.cuda:_lazy_init", "the emulated CUDA device in programs whose text does not name CUDA")
NVTX = Internal("torch.cuda.nvtx:_nvtx", _EMULATION)
MAYBE_EXCHANGE_DEVICE = Internal("torch.cuda:_maybe_exchange_device", _EMULATION, supplied=True)
QUEUED_CALLS = Internal("torch.cuda:_queued_calls", _EMULATION)

# classes and flags of ``torch._C``
C_DEVICE_PROPERTIES = Internal("torch._C:_CudaDeviceProperties", _EMULATION, supplied=True)
C_EVENT_BASE = Internal("torch._C:_CudaEventBase", _EMULATION, supplied=True)
C_HAS_CUDA = Internal("torch._C:_has_cuda", _EMULATION, supplied=True)
C_HAS_CUDNN = Internal("torch._C:_has_cudnn", _EMULATION, supplied=True)
# of both (torch/csrc/Module.cpp): asks the hooks of CUDA where there is a device
C_SHOW_CONFIG = Internal("torch._C:_show_config", "`torch.__config__.show()` beside an emulated CUDA device")
C_STREAM_BASE = Internal("torch._C:_CudaStreamBase", _EMULATION, supplied=True)

# what a profiler can record (torch/autograd/profiler.py)
PROFILER_ACTIVITIES = Internal("torch.autograd.profiler:_supported_activities", _EMULATION)

# NCCL's version (torch/cuda/nccl.py)
NCCL_VERSION = Internal("torch._C:_nccl_version", _EMULATION, supplied=True)
NCCL_VERSION_SUFFIX = Internal("torch._C:_nccl_version_suffix", _EMULATION, supplied=True)

# functions of ``torch._C`` (torch/csrc/cuda/Module.cpp)
ALLOCATOR_BACKEND = Internal("torch._C:_cuda_getAllocatorBackend", _EMULATION, supplied=True)
ALLOCATOR_STATE = Internal("torch._C:_cuda_CUDAAllocator_AllocatorState", _EMULATION, supplied=True)
ARCH_FLAGS = Internal("torch._C:_cuda_getArchFlags", _EMULATION, supplied=True)
BLAS_HANDLE = Internal("torch._C:_cuda_getCurrentBlasHandle", _EMULATION, supplied=True)
CACHING_ALLOCATOR_IS_ENABLED = Internal("torch._C:_cuda_cudaCachingAllocator_is_enabled", _EMULATION, supplied=True)
CAN_DEVICE_ACCESS_PEER = Internal("torch._C:_cuda_canDeviceAccessPeer", _EMULATION, supplied=True)
CLEAR_CUBLAS_WORKSPACES = Internal("torch._C:_cuda_clearCublasWorkspaces", _EMULATION, supplied=True)
COMPILED_VERSION = Internal("torch._C:_cuda_getCompiledVersion", _EMULATION, supplied=True)
C_EXCHANGE_DEVICE = Internal("torch._C:_cuda_exchangeDevice", _EMULATION, supplied=True)
C_INIT = Internal("torch._C:_cuda_init", _EMULATION, supplied=True)
C_MAYBE_EXCHANGE_DEVICE = Internal("torch._C:_cuda_maybeExchangeDevice", _EMULATION, supplied=True)
CURRENT_RAW_STREAM = Internal("torch._C:_cuda_getCurrentRawStream", _EMULATION, supplied=True)
CURRENT_STREAM = Internal("torch._C:_cuda_getCurrentStream", _EMULATION, supplied=True)
DEFAULT_STREAM = Internal("torch._C:_cuda_getDefaultStream", _EMULATION, supplied=True)
EMPTY_CACHE = Internal("torch._C:_cuda_emptyCache", _EMULATION, supplied=True)
GET_CUDNN_BENCHMARK_LIMIT = Internal("torch._C:_cuda_get_cudnn_benchmark_limit", _EMULATION, supplied=True)
GET_DEVICE = Internal("torch._C:_cuda_getDevice", _EMULATION, supplied=True)
GET_DEVICE_COUNT = Internal("torch._C:_cuda_getDeviceCount", _EMULATION, supplied=True)
GET_MEMORY_FRACTION = Internal("torch._C:_cuda_getMemoryFraction", _EMULATION, supplied=True)
GET_SYNC_DEBUG_MODE = Internal("torch._C:_cuda_get_sync_debug_mode", _EMULATION, supplied=True)
HAS_PRIMARY_CONTEXT = Internal("torch._C:_cuda_hasPrimaryContext", _EMULATION, supplied=True)
IPC_COLLECT = Internal("torch._C:_cuda_ipc_collect", _EMULATION, supplied=True)
IS_HISTORY_ENABLED = Internal("torch._C:_cuda_isHistoryEnabled", _EMULATION, supplied=True)
IS_IN_BAD_FORK = Internal("torch._C:_cuda_isInBadFork", "whether importing torch initialized CUDA", cuda_only=True)
IS_STREAM_CAPTURING = Internal("torch._C:_cuda_isCurrentStreamCapturing", _EMULATION, supplied=True)
MEMORY_SNAPSHOT = Internal("torch._C:_cuda_memorySnapshot", _EMULATION, supplied=True)
MEMORY_STATS = Internal("torch._C:_cuda_memoryStats", _EMULATION, supplied=True)
RECORD_MEMORY_HISTORY = Internal("torch._C:_cuda_record_memory_history", _EMULATION, supplied=True)
RECORD_MEMORY_HISTORY_LEGACY = Internal("torch._C:_cuda_record_memory_history_legacy", _EMULATION, supplied=True)
RESET_ACCUMULATED_MEMORY_STATS = Internal("torch._C:_cuda_resetAccumulatedMemoryStats", _EMULATION, supplied=True)
RESET_PEAK_MEMORY_STATS = Internal("torch._C:_cuda_resetPeakMemoryStats", _EMULATION, supplied=True)
SET_CACHED_TENSORS_ENABLED = Internal("torch._C:_set_cached_tensors_enabled", _EMULATION, supplied=True)
SET_CUDNN_BENCHMARK_LIMIT = Internal("torch._C:_cuda_set_cudnn_benchmark_limit", _EMULATION, supplied=True)
SET_DEVICE = Internal("torch._C:_cuda_setDevice", _EMULATION, supplied=True)
SET_MEMORY_FRACTION = Internal("torch._C:_cuda_setMemoryFraction", _EMULATION, supplied=True)
SET_STREAM = Internal("torch._C:_cuda_setStream", _EMULATION, supplied=True)
SET_SYNC_DEBUG_MODE = Internal("torch._C:_cuda_set_sync_debug_mode", _EMULATION, supplied=True)
SLEEP = Internal("torch._C:_cuda_sleep", _EMULATION, supplied=True)
SYNCHRONIZE = Internal("torch._C:_cuda_synchronize", _EMULATION, supplied=True)

# between GPUs (torch/nn/parallel/comm.py)
BROADCAST = Internal("torch._C:_broadcast", _EMULATION, supplied=True)
BROADCAST_COALESCED = Internal("torch._C:_broadcast_coalesced", _EMULATION, supplied=True)
BROADCAST_OUT = Internal("torch._C:_broadcast_out", _EMULATION, supplied=True)
GATHER = Internal("torch._C:_gather", _EMULATION, supplied=True)
GATHER_OUT = Internal("torch._C:_gather_out", _EMULATION, supplied=True)
SCATTER = Internal("torch._C:_scatter", _EMULATION, supplied=True)
SCATTER_OUT = Internal("torch._C:_scatter_out", _EMULATION, supplied=True)
