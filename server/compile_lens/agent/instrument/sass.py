"""Disassembles what Triton has assembled for NVIDIA GPUs: the machine code of a kernel as text, by the tool that Triton's wheel brings."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from ..runtime.degraded import degraded

LOST = "the SASS of kernels"
TOOL = "nvdisasm"
# Triton takes another one from there (triton/knobs.py)
VARIABLE = "TRITON_NVDISASM_PATH"
LONGEST_S = 60.0


def sass_of(cubin: bytes) -> str | None:
    """The instructions of a kernel's binary; None without a disassembler, or if it does not know the binary."""
    tool = _disassembler()
    if tool is None:
        degraded(LOST, f"there is no `{TOOL}` in the package `triton` or on the search path")
        return None
    try:
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(cubin)
            file.flush()
            done = subprocess.run(
                [tool, "--print-code", file.name], capture_output=True, text=True, errors="replace", timeout=LONGEST_S
            )
    except (OSError, subprocess.SubprocessError) as error:
        degraded(LOST, error)
        return None
    if done.returncode:
        degraded(LOST, done.stderr.strip() or f"`{TOOL}` ended with {done.returncode}")
        return None
    return done.stdout


@functools.cache
def _disassembler() -> str | None:
    found = importlib.util.find_spec("triton.backends.nvidia")
    folders = found.submodule_search_locations if found is not None else None
    own = [str(Path(folder, "bin", TOOL)) for folder in folders or ()]
    candidates = [os.environ.get(VARIABLE, ""), *own]
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None) or shutil.which(TOOL)
