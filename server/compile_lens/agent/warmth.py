"""What every step of a search would do again: done once, in the process that the steps are forked from, or beside the first of them.

A step of Inductor on a CPU asks the compiler which vector units there are, traces 140 patterns of attention, and imports what compiles
and loads code: three of four seconds (torch 2.13). Precompiled headers take longer; they are kept in the cache.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from typing import Any

from . import processes, warming

_threads_of_program = 0


def warm_inductor(scratch: str) -> None:
    """Compile a product of two small matrices: it goes through all of Inductor, and its kernel is one that torch has."""
    global _threads_of_program
    import torch

    with contextlib.suppress(Exception):
        from torch._inductor import cpu_vec_isa

        cpu_vec_isa.valid_vec_isa_list()
    if not _threads_of_program:
        _threads_of_program = torch.get_num_threads()
    torch.set_num_threads(1)  # a thread here, and no step can be forked any more
    if warming.has_gpu():  # compiling would make a context on it, and no step could be forked
        return
    with contextlib.suppress(Exception), warming.undone(), _without_bisector(scratch), _without_tqdm_thread():
        import torch._inductor.config as config

        with config.patch(fx_graph_cache=False):
            torch.compile(torch.mm, backend="inductor")(torch.ones(2, 2), torch.ones(2, 2))


def give_threads_back() -> None:
    """In a step: as many threads as the program would have."""
    if _threads_of_program:
        import torch

        torch.set_num_threads(_threads_of_program)


@contextlib.contextmanager
def _without_tqdm_thread() -> Iterator[None]:
    """tqdm, where it is installed, watches its bars in a thread; some of Inductor's passes show one."""
    try:
        tqdm: Any = importlib.import_module("tqdm").tqdm
    except ImportError:
        yield
        return
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


def start_making_headers(scratch: str) -> set[int]:
    """Start a child that compiles one kernel, unless precompiled headers are in the cache. Returns its id, if there is one."""
    if _has_headers():
        return set()
    file = os.path.join(scratch, "warm.py")
    with open(file, "w", encoding="utf-8") as opened:
        opened.write("import torch\ntorch.compile(lambda x: x + 1)(torch.ones(8))\n")
    pid = os.fork()
    if pid:
        return {pid}
    try:
        processes.die_with_parent()
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        from .bisect_step import Setup, be

        be(Setup(file=file, cwd=scratch, scratch=scratch))
    finally:
        os._exit(0)


def _has_headers() -> bool:
    folder = os.path.join(os.environ.get("TORCHINDUCTOR_CACHE_DIR", ""), "precompiled_headers")
    with contextlib.suppress(OSError):
        return any(name.endswith(".gch") for name in os.listdir(folder))
    return False
