"""Recognizes crashes and device errors, with the settings that make them repeatable."""

from __future__ import annotations

import re
import signal

from compile_lens.late_pattern import pattern

CRASH = "crash"
DEVICE = "device-error"

# c10/cuda/CUDAException.cpp and c10/core/DeviceType (torch 2.13): "CUDA error: an illegal memory access was encountered"
DEVICE_ERROR = pattern(r"^(?P<device>CUDA|HIP|XPU|MPS) (?:kernel )?error: (?P<what>.+?)\.?$", re.MULTILINE)
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
    "Run it with `TORCH_COMPILE_DISABLE=1`: if it still crashes, torch.compile is not the cause.",
    'Compile with `backend="aot_eager"`: if that does not crash, check the code that Inductor generates (`TORCH_LOGS=output_code`).',
    "Set `OMP_NUM_THREADS=1` and `TORCHINDUCTOR_COMPILE_THREADS=1` to make runs repeatable.",
)
DEVICE_HINTS = (
    "Set `CUDA_LAUNCH_BLOCKING=1`: without it the error is reported at a later line than its cause.",
    'Compile with `backend="aot_eager"`: if that works, check the kernels that Inductor generates (`TORCH_LOGS=output_code`).',
    "Run it under `compute-sanitizer` with `PYTORCH_NO_CUDA_MEMORY_CACHING=1`: it names the kernel and the address.",
)
OTHER_DEVICE_HINTS = (
    'Compile with `backend="aot_eager"`: if that works, check the kernels that Inductor generates (`TORCH_LOGS=output_code`).',
)


def device_error(message: str) -> tuple[str, tuple[str, ...]] | None:
    """What a device reported, and what to do about it; None for another kind of error."""
    match = DEVICE_ERROR.search(message)
    if match is None:
        return None
    hints = DEVICE_HINTS if match["device"] in ASYNCHRONOUS else OTHER_DEVICE_HINTS
    return f"{match['device']}: {match['what']}", hints
