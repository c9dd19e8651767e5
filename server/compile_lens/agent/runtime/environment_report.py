"""Reports this interpreter's environment to the doctor: ``boot.py environment`` prints it as one JSON object.

Nothing is changed: torch's cache directory is looked up without being made (``torch/_inductor/runtime/cache_dir_utils.py`` makes it).
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any

from .. import torch_internals
from ..sandbox import choice
from ..torch_internals import dynamo, inductor

# what changes how torch compiles, or what a bisection left in the environment
CHANGES_COMPILING = re.compile(
    r"TORCH_COMPILE|TORCHDYNAMO_|TORCHINDUCTOR_|TORCH_BISECT_|TORCH_LOGS|TORCH_TRACE|TRITON_"
)
SOURCE = """\
#include <cmath>
#include <omp.h>
extern "C" float largest(const float* x, int n) {
  float best = x[0];
  #pragma omp parallel for reduction(max : best)
  for (int i = 0; i < n; ++i) best = std::fmax(best, x[i]);
  return best;
}
"""
LIMIT_S = 60.0


def main() -> int:
    """Print the facts. What cannot be known is null, or an ``error`` in words."""
    # what torch prints while it is imported or asked is not for the reader of the facts
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    facts: dict[str, Any] = {
        "python": {
            "version": platform.python_version(),
            "executable": sys.executable,
            "free_threaded": _free_threaded(),
        },
        "environment": {name: value for name, value in sorted(os.environ.items()) if CHANGES_COMPILING.match(name)},
    }
    facts["sandbox"] = _of(choice.in_force)  # tried in a fork, while there is one thread
    try:
        import torch
    except ImportError as error:
        facts["torch"] = {"error": str(error), "missing": error.name == "torch"}
    else:
        facts["torch"] = {"version": torch.__version__, "folder": os.path.dirname(torch.__file__)}
        facts["dynamo"] = _of(_dynamo)
        facts["torch_internals"] = _of(_torch_internals)
        facts["triton"] = _of(_triton)
        facts["gpu"] = _of(_gpu)
        facts["compiler"] = _of(_compiler)
        facts["users_cache"] = _of(_users_cache)
    json.dump(facts, output)
    output.close()
    return 0


def _of(query: Any) -> Any:
    try:
        return query()
    except Exception as error:  # whatever torch or a driver raises is the answer
        return {"error": f"{type(error).__name__}: {error}".strip().split("\n")[0]}


def _free_threaded() -> bool:
    return not getattr(sys, "_is_gil_enabled", lambda: True)()


def _dynamo() -> dict[str, Any]:
    dynamo.SUPPORT_CHECK.need()()
    return {}


def _torch_internals() -> dict[str, Any]:
    """How many private names of torch are declared for this version, and what is lost without those that it lacks."""
    rows = [row for row in torch_internals.declared() if row.is_expected]
    missing = {row.dotted: row.lost for row in rows if not row.exists}
    return {"declared": len(rows), "missing": missing}


def _triton() -> dict[str, Any]:
    import triton

    return {"version": triton.__version__}


def _gpu() -> dict[str, Any]:
    import torch

    built_for = (torch.version.cuda and f"CUDA {torch.version.cuda}") or (
        torch.version.hip and f"ROCm {torch.version.hip}"
    )
    names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return {"built_for": built_for, "names": names, "usable": torch.cuda.is_available()}


def _compiler() -> dict[str, Any]:
    """The C++ compiler that Inductor would take, and whether it builds a library with OpenMP."""
    command = inductor.CPP_COMPILER.need()()
    where = shutil.which(command)
    answer = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    found = {"command": command, "path": where, "version": answer.stdout.partition("\n")[0].strip(), "builds": None}
    if sys.platform == "linux":  # elsewhere torch passes flags of its own for OpenMP
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "probe.cpp")
            with open(source, "w", encoding="utf-8") as file:
                file.write(SOURCE)
            built = subprocess.run(
                [command, "-shared", "-fPIC", "-fopenmp", source, "-o", os.path.join(folder, "probe.so")],
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
                check=False,
            )
        found["builds"] = built.returncode == 0
        if built.returncode:
            lines = [line for line in built.stderr.splitlines() if "error" in line] or built.stderr.splitlines()
            found["problem"] = lines[0].replace(folder + os.sep, "") if lines else f"exit code {built.returncode}"
    return found


def _users_cache() -> dict[str, Any]:
    """Inductor's cache of this user's own runs, and what a bisection has left there."""
    folder = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    if not folder:
        folder = inductor.DEFAULT_CACHE.need()()
    status = None
    with (
        contextlib.suppress(OSError),
        open(os.path.join(folder, "bisect", "bisect_status.txt"), encoding="utf-8") as file,
    ):
        status = file.read(200)
    return {"folder": os.path.abspath(folder), "bisect_status": status}
