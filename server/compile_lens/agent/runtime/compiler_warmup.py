"""Compiles something small down to kernels in a copy of the standby, whose next run then finds Inductor as after a first compilation.

The first compilation of a process imports Inductor's code generators, traces 140 attention patterns and asks the C++ compiler for its
version and what it supports: two seconds of a processor (torch 2.13).
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import itertools
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from ..torch_internals import functorch, inductor
from . import atomic_compiler_output, precompiled_headers, vector_units, warmup
from .gpu_presence import environment, has_gpu
from .imported_packages import IN_SETUPTOOLS, SETUPTOOLS

CACHE = "TORCHINDUCTOR_CACHE_DIR"
# what has counters by which compilations and graphs are numbered
COMPILER = ("torch._dynamo", "torch._functorch", "torch._inductor", "torch.fx")
# what takes compiled code from a folder, or from a service that a variable names: nothing of either is loaded outside of a sandbox
OF_INDUCTOR = ("fx_graph_cache", "fx_graph_remote_cache", "autotune_remote_cache", "bundled_autotune_remote_cache")
OF_AUTOGRAD = ("enable_autograd_cache", "enable_remote_autograd_cache")
# imported by the first compilation
IMPORTS_SETUPTOOLS = "torch.utils.cpp_extension"


def warm_compiler(shared: str) -> None:
    """Compile with the caches in the folder ``shared``, which no run can write, and leave torch as it was. Raises what torch raises.

    Nothing is compiled where there is a GPU: that would make a context.
    """
    if not shared or has_gpu():
        return
    import torch

    config: Any = inductor.CONFIG.need()
    autograd_config: Any = functorch.CONFIG.need()
    threads = torch.get_num_threads()
    with environment(**{CACHE: shared}), _without_setuptools(), _numbers_kept(), without_tqdm_thread(), warmup.undone():
        precompiled_headers.keep_private()
        vector_units.recall(shared)
        # more threads would be left behind in a fork
        torch.set_num_threads(1)
        try:
            # only what runs compile is kept in caches; a pool of compilers would start threads
            with (
                config.patch(compile_threads=1, **_off(config, OF_INDUCTOR)),
                autograd_config.patch(**_off(autograd_config, OF_AUTOGRAD)),
                atomic_compiler_output.installed(os.path.join(shared, precompiled_headers.UNFINISHED)),
            ):
                _compile()
            for key in (inductor.KEY_OF_TORCH, inductor.KEY_OF_TRITON):
                key.get(lambda: None)()  # reads all modules of the package, for the keys of torch's caches
        finally:
            torch.set_num_threads(threads)
            inductor.FORGET_METRICS.get(lambda: None)()
    _forget_registered()


def _off(options: Any, names: tuple[str, ...]) -> dict[str, bool]:
    """Those of ``names`` that this torch has."""
    return {name: False for name in names if hasattr(options, name)}


def _compile() -> None:
    """One training step that has what most programs have: products, a normalization, a reduction, and arithmetic around them."""
    import torch

    functions = torch.nn.functional

    def step(x: Any, weight: Any, bias: Any) -> Any:
        hidden = functions.gelu(functions.linear(functions.layer_norm(x, (4,)), weight, bias))
        return (torch.softmax(hidden, -1) * x).sum()

    inputs = [torch.zeros(2, 4), torch.zeros(4, 4), torch.zeros(4)]
    for tensor in inputs:
        tensor.requires_grad_()
    torch.compile(step, backend="inductor")(*inputs).backward()
    with torch.no_grad():
        torch.compile(torch.mm, backend="inductor")(torch.ones(2, 2), torch.ones(2, 2))


@contextlib.contextmanager
def _numbers_kept() -> Iterator[None]:
    """Let compilations be numbered from where they were: the numbers are in names that torch shows."""
    before = [(owner, name, counter, copy.copy(counter)) for owner, name, counter in _counters()]
    try:
        yield
    finally:
        kept = {id(counter): as_it_was for _, _, counter, as_it_was in before}
        for owner, name, counter, _ in before:
            setattr(owner, name, kept[id(counter)])


def _counters() -> Iterator[tuple[Any, str, Any]]:
    """The counters of modules and of their classes, with what has them and their names there."""
    for module_name, module in list(sys.modules.items()):
        if not module_name.startswith(COMPILER):
            continue
        owners = [module, *(one for one in vars(module).values() if isinstance(one, type))]
        for owner in owners:
            for name, value in list(vars(owner).items()):
                if isinstance(value, itertools.count):
                    yield owner, name, value


def _forget_registered() -> None:
    """A program may register decompositions: torch keeps the table of its first compilation (torch/_inductor/decomposition.py)."""
    for function in list(vars(inductor.DECOMPOSITION_MODULE.need()).values()):
        if hasattr(function, "cache_clear"):
            function.cache_clear()


@contextlib.contextmanager
def _without_setuptools() -> Iterator[None]:
    """Let setuptools be imported when it is needed next, as if it had not been."""
    modules, path = set(sys.modules), list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in sys.modules.keys() - modules:
            if name.partition(".")[0] in SETUPTOOLS or name == IMPORTS_SETUPTOOLS or _is_in_setuptools(name):
                _forget_module(name)


def _is_in_setuptools(name: str) -> bool:
    module = sys.modules[name]
    return any(
        IN_SETUPTOOLS in place for place in (getattr(module, "__file__", None) or "", *getattr(module, "__path__", ()))
    )


def _forget_module(name: str) -> None:
    module = sys.modules.pop(name)
    around, _, last = name.rpartition(".")
    if vars(sys.modules.get(around, sys)).get(last) is module:
        delattr(sys.modules[around], last)


@contextlib.contextmanager
def without_tqdm_thread() -> Iterator[None]:
    """Keep tqdm, if installed, from starting its monitor thread; some of Inductor's passes show a progress bar.

    Forked processes would share its lock: one that is killed while it holds the lock would block all others.
    """
    try:
        tqdm: Any = importlib.import_module("tqdm").tqdm
    except ImportError:
        yield
        return
    has_lock = hasattr(tqdm, "_lock")
    tqdm.set_lock(threading.RLock())
    before, tqdm.monitor_interval = tqdm.monitor_interval, 0
    try:
        yield
    finally:
        tqdm.monitor_interval = before
        if not has_lock:
            del tqdm._lock
