"""Whether this machine has a GPU that programs could use, judged by its device files alone: nothing is loaded or started for it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from compile_lens.agent.runtime.protocol import GPU_DEVICES

# NVIDIA's driver, AMD's, and that of Windows for Linux
LINUX = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


def has_gpu_device() -> bool:
    """False on macOS, where torch has no CUDA."""
    if sys.platform == "win32":
        return Path(os.environ.get("SYSTEMROOT", "C:/Windows"), "System32", "nvcuda.dll").exists()
    return any(Path(name).exists() for name in LINUX)


def has_device_to_show() -> bool:
    """Whether there is anything that a run may be shown because it is allowed GPUs: a device of any maker, also of graphics alone.

    Elsewhere than on Linux, the sandbox shows and hides none.
    """
    return sys.platform != "linux" or any(path.name.startswith(GPU_DEVICES) for path in Path("/dev").iterdir())
