"""Has Triton compile for the GPU that is not there, and knows which Triton the installed torch needs."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import torch

from ..torch_internals.lookup import torch_version

# of wheels without CUDA, which do not require Triton: the version that the wheels with CUDA of the same torch require
TRITON_OF_TORCH = {
    (2, 6): "3.2.0",
    (2, 7): "3.3.0",
    (2, 8): "3.4.0",
    (2, 9): "3.5.0",
    (2, 10): "3.6.0",
    (2, 11): "3.6.0",
    (2, 13): "3.7.1",
}
# of cuDNN, likewise, as a number; it decides how attention is computed (attention.py)
CUDNN_OF_WHEELS = 91900


def required_version(package: str) -> str:
    """The version of ``package`` that torch's metadata require, '' if they name none."""
    try:
        required = importlib.metadata.requires("torch") or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    for line in required:
        if match := re.match(rf"{package}\s*==\s*([\w.]+)", line):
            return match[1]
    return ""


def wanted_triton() -> str:
    """The version of Triton for the installed torch, '' if it is not known."""
    return required_version("triton") or TRITON_OF_TORCH.get(torch_version(), "")


def installed_triton() -> str:
    """The version of Triton that can be imported, '' if there is none."""
    try:
        return str(importlib.import_module("triton").__version__)
    except (ImportError, AttributeError):
        return ""


def cudnn_version() -> int:
    """The version of cuDNN of this torch, as torch numbers it: 91900 for 9.19.0."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", required_version(r"nvidia-cudnn-cu\d+"))
    if found is None:
        return CUDNN_OF_WHEELS
    major, minor, patch = map(int, found.groups())
    return major * 10000 + minor * 100 + patch


def install(figures: Mapping[str, Any]) -> None:
    """Let Triton's driver answer for a GPU with these ``figures``. Raises ImportError or AttributeError for a Triton that is too old."""
    runtime: Any = importlib.import_module("triton.runtime")
    target: Any = importlib.import_module("triton.backends.compiler").GPUTarget
    nvidia: Any = importlib.import_module("triton.backends.nvidia.driver").CudaDriver
    architecture = figures["major"] * 10 + figures["minor"]

    class AbsentGpu(nvidia):  # Inductor asks for the class (``set_driver_to_gpu``)
        """Answers what the driver of that GPU would."""

        utils = SimpleNamespace(
            get_device_properties=lambda index=0: {
                "max_shared_mem": figures["shared_memory_per_block_optin"],
                "max_num_regs": figures["regs_per_multiprocessor"],
                "multiprocessor_count": figures["multi_processor_count"],
                "warpSize": figures["warp_size"],
                "sm_clock_rate": 0,
                "mem_clock_rate": 0,
                "mem_bus_width": 0,
            }
        )

        def __init__(self) -> None:
            """Without a driver's library."""

        def get_current_target(self) -> Any:
            return target("cuda", architecture, figures["warp_size"])

        def get_current_device(self) -> int:
            return int(torch.cuda.current_device())

        def get_device_capability(self, device: int = 0) -> tuple[int, int]:
            return figures["major"], figures["minor"]

        def get_current_stream(self, device: int = 0) -> int:
            return 0

    runtime.driver.set_active(AbsentGpu())
