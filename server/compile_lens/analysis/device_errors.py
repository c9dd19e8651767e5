"""Crashes and errors of a device: what ended, and the settings that make it end at the same place each time."""

from __future__ import annotations

import re
import signal

CRASH = "crash"
DEVICE = "device-error"

# c10/cuda/CUDAException.cpp and c10/core/DeviceType (torch 2.13): "CUDA error: an illegal memory access was encountered"
DEVICE_ERROR = re.compile(r"^(?P<device>CUDA|HIP|XPU|MPS) (?:kernel )?error: (?P<what>.+?)\.?$", re.MULTILINE)
ASYNCHRONOUS = frozenset({"CUDA", "HIP"})

CRASHES = {
    signal.SIGSEGV: "a segmentation fault (SIGSEGV)",
    signal.SIGABRT: "an abort (SIGABRT)",
    signal.SIGFPE: "an arithmetic error (SIGFPE)",
    signal.SIGILL: "an illegal instruction (SIGILL)",
}
if hasattr(signal, "SIGBUS"):
    CRASHES[signal.SIGBUS] = "a bus error (SIGBUS)"

CRASH_HINTS = (
    "Run it with `TORCH_COMPILE_DISABLE=1`: if it still crashes, torch.compile has no part in it.",
    'Compile with `backend="aot_eager"`: if that does not crash, look at the code that Inductor generated (`TORCH_LOGS=output_code`).',
    "Set `OMP_NUM_THREADS=1` and `TORCHINDUCTOR_COMPILE_THREADS=1`, so that the same things happen in the same order each time.",
)
DEVICE_HINTS = (
    "Set `CUDA_LAUNCH_BLOCKING=1`: without it the error is reported at a later line than the one that made it.",
    'Compile with `backend="aot_eager"`: if that works, look at the kernels that Inductor generated (`TORCH_LOGS=output_code`).',
    "Run it under `compute-sanitizer`, which names the kernel and the address; `PYTORCH_NO_CUDA_MEMORY_CACHING=1` lets it see each tensor.",
)
OTHER_DEVICE_HINTS = (
    'Compile with `backend="aot_eager"`: if that works, look at the kernels that Inductor generated (`TORCH_LOGS=output_code`).',
)


def device_error(message: str) -> tuple[str, tuple[str, ...]] | None:
    """What a device reported, and what to do about it; None if ``message`` is of another kind."""
    match = DEVICE_ERROR.search(message)
    if match is None:
        return None
    hints = DEVICE_HINTS if match["device"] in ASYNCHRONOUS else OTHER_DEVICE_HINTS
    return f"{match['device']}: {match['what']}", hints
