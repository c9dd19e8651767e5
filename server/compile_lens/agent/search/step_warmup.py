"""Does once what every step of a search would repeat: in the process that steps are forked from, or beside the first of them.

A step of Inductor on a CPU asks the compiler which vector units there are, traces 140 attention patterns, and imports what compiles and
loads code: three of four seconds (torch 2.13). Precompiled headers take longer; they are kept in the cache.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import platform
from collections.abc import Callable, Iterable
from typing import Any

from ..runtime import atomic_compiler_output, gpu_presence, processes, warmup
from ..runtime.compiler_warmup import without_tqdm_thread
from ..runtime.degraded import degraded_if_it_fails
from ..torch_internals import inductor
from . import torch_bisector
from .step import run_step
from .step_setup import StepSetup

# without it each step only takes longer; Inductor and the C++ compiler may raise anything
WARM_UP = "the shared warm-up of search steps"

_threads_of_program = 0


def warm_inductor(scratch: str) -> None:
    """Compile a product of two small matrices: it passes through all of Inductor, and calls a kernel that torch has."""
    global _threads_of_program
    import torch

    if not _threads_of_program:
        _threads_of_program = torch.get_num_threads()
    torch.set_num_threads(1)  # with more threads here, steps could no longer be forked
    with degraded_if_it_fails(WARM_UP):
        if gpu_presence.has_gpu():  # compiling would create a CUDA context, and steps could no longer be forked
            _import_gpu_compiler()
            return
        with contextlib.ExitStack() as stack:
            for manager in (
                gpu_presence.without_cuda_runtime(),
                warmup.undone(),
                torch_bisector.paused(scratch),
                without_tqdm_thread(),
            ):
                stack.enter_context(manager)
            config: Any = inductor.CONFIG.need()
            # a pool of compile workers starts threads here; torch 2.6 starts one as soon as Triton is installed
            with config.patch(fx_graph_cache=False, compile_threads=1):
                _query_compiler()
                torch.compile(torch.mm, backend="inductor")(torch.ones(2, 2), torch.ones(2, 2))
    _clear_decompositions()


def _import_gpu_compiler() -> None:
    """Import what Inductor imports when it first compiles for a GPU, and compute Triton's key, which reads all of its compiler's files."""
    for row in inductor.GPU_MODULES:
        row.look_up()
    patterns: Any = inductor.SERIALIZED_PATTERNS.look_up()
    for found in pkgutil.iter_modules(patterns.__path__) if patterns is not None else ():
        importlib.import_module(f"{patterns.__name__}.{found.name}")
    triton_key = inductor.TRITON_KEY.look_up()
    if triton_key is not None:
        triton_key()


def _clear_decompositions() -> None:
    """A repro may register more: torch caches the table at its first compilation (torch/_inductor/decomposition.py)."""
    _clear_caches(vars(inductor.DECOMPOSITION_MODULE.need()).values())


def restore_threads() -> None:
    """Give a step the number of threads that the program would have."""
    if _threads_of_program:
        import torch

        torch.set_num_threads(_threads_of_program)


def _query_compiler() -> None:
    """Ask the compiler what every compilation asks first: its version and flags. torch caches the answers in this process."""
    options = inductor.COMPILER_OPTIONS.need()(vec_isa=inductor.PICK_VECTOR_ISA.need()())
    inductor.COMPILER_VERSION.need()(options.get_compiler())


def assume_vector_isa(scratch: str) -> int | None:
    """Let this process assume, until ``forget_vector_isas``, that the compiler supports every vector unit of the processor.

    Starts a child that runs torch's own trial of the unit that Inductor picks, and exits with 0 if the trial succeeds. torch tries every
    unit of an x86 processor before it picks the first, one compilation of seconds after the other (torch/_inductor/cpu_vec_isa.py,
    ``valid_vec_isa_list``, torch 2.6 to 2.13); the others are for options that select them. None where there is nothing to try.
    """
    trial = inductor.VECTOR_ISA_TRIAL.get()
    if trial is None or platform.machine() not in ("x86_64", "AMD64"):
        return None
    with degraded_if_it_fails(WARM_UP):
        inductor.VECTOR_ISA_TRIAL.set(lambda self, code: True)
        try:
            picked = inductor.PICK_VECTOR_ISA.need()()
            flags = picked.build_arch_flags()
        finally:
            inductor.VECTOR_ISA_TRIAL.set(trial)

        def check() -> int:
            forget_vector_isas()
            atomic_compiler_output.install(scratch)
            works = picked is inductor.INVALID_VECTOR_ISA.need() or (picked and picked.build_arch_flags() == flags)
            return 0 if works else 1

        return _start(check)
    return None


def forget_vector_isas() -> None:
    """Clear what is known about vector units, so that each is tried when it is needed."""
    inductor.VALID_VECTOR_ISAS.need().cache_clear()
    for isa in inductor.SUPPORTED_VECTOR_ISAS.need():
        vars(isa).clear()  # cached results of the trial
        _clear_caches(getattr(type(isa), name) for name in dir(type(isa)))


def _clear_caches(functions: Iterable[Any]) -> None:
    for function in functions:
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def start_header_compilation(scratch: str, low_priority: bool = False) -> set[int]:
    """Start a child that compiles one kernel, unless precompiled headers are in the cache. Returns its process id, if any."""
    if has_precompiled_headers():
        return set()
    file = os.path.join(scratch, "warm.py")
    with open(file, "w", encoding="utf-8") as opened:
        opened.write("import torch\ntorch.compile(lambda x: x + 1)(torch.ones(8))\n")

    def compile_one() -> int:
        if low_priority:
            os.nice(19)
        return run_step(StepSetup(file=file, cwd=scratch, scratch=scratch))

    return {_start(compile_one)}


def _start(body: Callable[[], int]) -> int:
    """Fork a child without output that exits with the code of ``body``."""
    pid = processes.fork()
    if pid:
        return pid
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        code = body()
    finally:
        os._exit(code & 0xFF)


def has_precompiled_headers() -> bool:
    """Whether the cache has precompiled headers, for this torch or another."""
    folder = os.path.join(os.environ.get("TORCHINDUCTOR_CACHE_DIR", ""), "precompiled_headers")
    with contextlib.suppress(OSError):
        return any(name.endswith(".gch") for name in os.listdir(folder))
    return False
