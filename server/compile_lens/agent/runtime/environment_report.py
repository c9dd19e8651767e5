"""Reports this interpreter's environment to the doctor: ``boot.py environment`` prints it as one JSON object.

Nothing is changed: torch's cache directory is looked up without being made (``torch/_inductor/runtime/cache_dir_utils.py`` makes it).
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from .. import torch_internals
from ..sandbox import choice
from ..torch_internals import dynamo, inductor
from . import device_backends, gpu_presence, own_compilers, processes
from .environment_facts import (
    CompilerFacts,
    DynamoFacts,
    EnvironmentFacts,
    GpuFacts,
    InternalsFacts,
    PythonFacts,
    SandboxFacts,
    TorchFacts,
    TritonFacts,
    UsersCacheFacts,
)
from .message import to_json
from .regular_file import read_regular_text

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
# after the host's end nothing here needs to be put in order
AT_ONCE_S = 0.1
F = TypeVar("F")


def main() -> int:
    """Print the facts."""
    processes.become_subreaper()
    processes.outlive_parent(AT_ONCE_S)
    # what torch prints while it is imported or asked is not for the reader of the facts
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    python = PythonFacts(platform.python_version(), sys.executable, _free_threaded())
    environment = {name: value for name, value in sorted(os.environ.items()) if CHANGES_COMPILING.match(name)}
    sandbox = _of(SandboxFacts, _sandbox)  # tried in a fork, while there is one thread
    try:
        with device_backends.only_installed():
            import torch
    except ImportError as error:
        without = TorchFacts(error=str(error), missing=error.name == "torch")
        facts = EnvironmentFacts(python, environment, sandbox, without)
    else:
        facts = EnvironmentFacts(
            python,
            environment,
            sandbox,
            TorchFacts(torch.__version__, os.path.dirname(torch.__file__)),
            _of(DynamoFacts, _dynamo),
            _of(InternalsFacts, _torch_internals),
            _of(TritonFacts, _triton),
            _of(GpuFacts, _gpu),
            _of(CompilerFacts, _compiler),
            _of(UsersCacheFacts, users_cache),
        )
    output.write(to_json(facts))
    output.close()
    return 0


def _of(kind: Callable[..., F], query: Callable[[], F]) -> F:
    try:
        return query()
    except Exception as error:  # whatever torch or a driver raises is the answer
        return kind(error=f"{type(error).__name__}: {error}".strip().split("\n")[0])


def _sandbox() -> SandboxFacts:
    found = choice.in_force()
    return SandboxFacts(found["kind"], found["reason"], tuple(found["open_ends"]))


def _free_threaded() -> bool:
    return not getattr(sys, "_is_gil_enabled", lambda: True)()


def _dynamo() -> DynamoFacts:
    dynamo.SUPPORT_CHECK.need()()
    return DynamoFacts()


def _torch_internals() -> InternalsFacts:
    rows = [row for row in torch_internals.declared() if row.is_expected]
    return InternalsFacts(len(rows), {row.dotted: row.lost for row in rows if not row.exists})


def _triton() -> TritonFacts:
    import triton

    return TritonFacts(triton.__version__)


def _gpu() -> GpuFacts:
    import torch

    built_for = (torch.version.cuda and f"CUDA {torch.version.cuda}") or (
        torch.version.hip and f"ROCm {torch.version.hip}"
    )
    names = tuple(torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count()))
    return GpuFacts(built_for or None, names, torch.cuda.is_available())


def _compiler() -> CompilerFacts:
    # of whoever asks, and what repositories brought; this process has been started elsewhere
    places = sys.argv[2:]
    if why_not := own_compilers.why_not_compile(places):
        name = own_compilers.first()
        return CompilerFacts(name, shutil.which(name), problem=why_not)
    with gpu_presence.environment(**own_compilers.variables(places)):
        return _tried_compiler()


def _tried_compiler() -> CompilerFacts:
    command = inductor.CPP_COMPILER.need()()
    where = shutil.which(command)
    answer = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    found = CompilerFacts(command, where, answer.stdout.partition("\n")[0].strip())
    if sys.platform != "linux":  # torch passes flags of its own for OpenMP there
        return found
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
    if not built.returncode:
        return replace(found, builds=True)
    lines = [line for line in built.stderr.splitlines() if "error" in line] or built.stderr.splitlines()
    problem = lines[0].replace(folder + os.sep, "") if lines else f"exit code {built.returncode}"
    return replace(found, builds=False, problem=problem)


def users_cache() -> UsersCacheFacts:
    """Where the user's own cache of Inductor is, and what a bisection has left in it."""
    folder = os.environ.get("TORCHINDUCTOR_CACHE_DIR")
    if not folder:
        folder = inductor.DEFAULT_CACHE.need()()
    status = None
    # anybody may have made the folder, in a temporary one, and have put a pipe there
    with contextlib.suppress(OSError):
        status = read_regular_text(os.path.join(folder, "bisect", "bisect_status.txt"))[:200]
    return UsersCacheFacts(os.path.abspath(folder), status)
