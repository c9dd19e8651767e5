"""What every step of a search would do again: done once, in the process that the steps are forked from, or beside the first of them.

A step of Inductor on a CPU asks the compiler which vector units there are, traces 140 patterns of attention, and imports what compiles
and loads code: three of four seconds (torch 2.13). Precompiled headers take longer; they are kept in the cache.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import platform
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ..runtime import gpu_presence, processes, warmup
from . import atomic_compiler_output

_threads_of_program = 0
# torch._inductor, 2.6 to 2.13; what another version does not have, it imports when it compiles
FOR_GPU = tuple(
    f"torch._inductor.{name}"
    for name in (
        "choices",
        "codegen.cuda_combined_scheduling",
        "codegen.triton",
        "fx_passes.fuse_attention",
        "fx_passes.pad_mm",
        "runtime.triton_heuristics",
    )
)


def warm_inductor(scratch: str) -> None:
    """Compile a product of two small matrices: it goes through all of Inductor, and its kernel is one that torch has."""
    global _threads_of_program
    import torch

    if not _threads_of_program:
        _threads_of_program = torch.get_num_threads()
    torch.set_num_threads(1)  # a thread here, and no step can be forked any more
    if gpu_presence.has_gpu():  # compiling would make a context on it, and no step could be forked
        _import_what_compiles()
        return
    quietly = (gpu_presence.asked_kindly(), warmup.undone(), _without_bisector(scratch), _without_tqdm_thread())
    with contextlib.suppress(Exception), contextlib.ExitStack() as stack:
        for manager in quietly:
            stack.enter_context(manager)
        import torch._inductor.config as config

        # a pool of compiling processes has threads here; torch 2.6 starts one as soon as Triton is installed
        with config.patch(fx_graph_cache=False, compile_threads=1):
            _ask_compiler()
            torch.compile(torch.mm, backend="inductor")(torch.ones(2, 2), torch.ones(2, 2))
    _forget_decompositions()


def _import_what_compiles() -> None:
    """What Inductor imports when it first compiles for a GPU, and Triton's key, for which it reads all of its compiler's files."""
    names = list(FOR_GPU)
    with contextlib.suppress(ImportError):
        patterns = importlib.import_module("torch._inductor.fx_passes.serialized_patterns")
        names += [f"{patterns.__name__}.{found.name}" for found in pkgutil.iter_modules(patterns.__path__)]
    for name in names:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    with contextlib.suppress(Exception):
        importlib.import_module("torch._inductor.runtime.triton_compat").triton_key()


def _forget_decompositions() -> None:
    """A repro may register others: torch keeps a copy of the table from its first compile on (torch/_inductor/decomposition.py)."""
    with contextlib.suppress(ImportError):
        for found in vars(importlib.import_module("torch._inductor.decomposition")).values():
            if hasattr(found, "cache_clear"):
                found.cache_clear()


def give_threads_back() -> None:
    """In a step: as many threads as the program would have."""
    if _threads_of_program:
        import torch

        torch.set_num_threads(_threads_of_program)


@contextlib.contextmanager
def _without_tqdm_thread() -> Iterator[None]:
    """tqdm, where it is installed, watches its bars in a thread; some of Inductor's passes show one.

    Its lock is one for all processes that are forked from this: a step that is ended while it holds it would stop all others.
    """
    try:
        tqdm: Any = importlib.import_module("tqdm").tqdm
    except ImportError:
        yield
        return
    tqdm.set_lock(threading.RLock())
    before, tqdm.monitor_interval = tqdm.monitor_interval, 0
    try:
        yield
    finally:
        tqdm.monitor_interval = before


@contextlib.contextmanager
def _without_bisector(scratch: str) -> Iterator[None]:
    """Let the search of this process not see what is compiled here."""
    from torch._inductor.compiler_bisector import CompilerBisector

    bisector: Any = CompilerBisector
    before = bisector.bisection_enabled, bisector.in_process_cache
    bisector.bisection_enabled, bisector.in_process_cache = False, os.path.join(scratch, "no-bisection")
    try:
        yield
    finally:
        bisector.bisection_enabled, bisector.in_process_cache = before


def _ask_compiler() -> None:
    """What every compile asks the compiler before it: its version, its flags. torch keeps the answers as long as the process lives."""
    from torch._inductor import cpp_builder, cpu_vec_isa

    with contextlib.suppress(Exception):
        options = cpp_builder.CppTorchOptions(vec_isa=cpu_vec_isa.pick_vec_isa())
        cpp_builder.get_compiler_version_info(options.get_compiler())


def take_vectors_for_granted(scratch: str) -> int | None:
    """Start a child that does torch's own trial of the vector unit that Inductor would pick: it ends with 0 if the trial succeeds.

    From now on this process takes it for granted, until ``forget_vectors``. torch tries every unit that an x86 processor has before it
    picks the first, one compile of seconds after the other (torch/_inductor/cpu_vec_isa.py, ``valid_vec_isa_list``, torch 2.6 to
    2.13); the others are for options that select them. None where there is nothing to try, or this torch has other ways.
    """
    if platform.machine() not in ("x86_64", "AMD64"):
        return None
    try:
        from torch._inductor import cpu_vec_isa

        module: Any = cpu_vec_isa
        trial, module.VecISA.check_build = module.VecISA.check_build, lambda self, code: True
        try:
            picked = module.pick_vec_isa()
            flags = picked.build_arch_flags()
        finally:
            module.VecISA.check_build = trial
    except Exception:
        return None

    def check() -> int:
        forget_vectors()
        atomic_compiler_output.write_whole(scratch)
        is_sound = picked is module.invalid_vec_isa or (picked and picked.build_arch_flags() == flags)
        return 0 if is_sound else 1

    return _start(check)


def forget_vectors() -> None:
    """Let vector units be tried when they are asked for: nothing is known of any."""
    from torch._inductor import cpu_vec_isa

    module: Any = cpu_vec_isa
    module.valid_vec_isa_list.cache_clear()
    for isa in module.supported_vec_isa_list:
        vars(isa).clear()  # what a trial has found out
        for method in {name: getattr(type(isa), name) for name in dir(type(isa))}.values():
            if hasattr(method, "cache_clear"):
                method.cache_clear()


def start_making_headers(scratch: str, patient: bool = False) -> set[int]:
    """Start a child that compiles one kernel, unless precompiled headers are in the cache. Returns its id, if there is one.

    A ``patient`` one takes only the time of processors that nobody else wants.
    """
    if has_headers():
        return set()
    file = os.path.join(scratch, "warm.py")
    with open(file, "w", encoding="utf-8") as opened:
        opened.write("import torch\ntorch.compile(lambda x: x + 1)(torch.ones(8))\n")

    def compile_one() -> int:
        if patient:
            os.nice(19)
        from .step import Setup, be

        return be(Setup(file=file, cwd=scratch, scratch=scratch))

    return {_start(compile_one)}


def _start(body: Callable[[], int]) -> int:
    """A quiet child that does ``body``."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        processes.die_with_parent()
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        code = body()
    finally:
        os._exit(code & 0xFF)


def has_headers() -> bool:
    """Whether there are precompiled headers, for this torch or another, in the cache."""
    folder = os.path.join(os.environ.get("TORCHINDUCTOR_CACHE_DIR", ""), "precompiled_headers")
    with contextlib.suppress(OSError):
        return any(name.endswith(".gch") for name in os.listdir(folder))
    return False
