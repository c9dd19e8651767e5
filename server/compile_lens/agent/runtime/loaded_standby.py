"""A copy of the standby that has also imported the packages of a program's last run (Linux): the next run is a fork of the copy.
In a session in which kernels were asked for, it has compiled some, too.

To import is not to run the user's program, but it is code, and it runs here with the user's rights and before the program. So it
happens only where a run in the sandbox has imported the same, with the variables that such a run has, under ``guarded_imports``; and
the copy ends, as if it had never been, if the imports do anything that a program could notice later: print, start a thread, draw
random numbers, change variables, keep a file open.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import random
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from ..sandbox.enter import set_variables
from . import installed_imports, own_compilers, precompiled_headers, processes
from .compiler_warmup import warm_compiler
from .degraded import degraded
from .fork_check import why_not_fork
from .gpu_presence import environment, without_cuda_runtime
from .import_guard import guarded_imports
from .imported_packages import why_not_loaded
from .libraries import library_roots
from .protocol import LoadCommand, RunCommand, command_from, command_line
from .wire import Wire

# seconds for the imports
LIMIT_S = 60
# variables that every run has
OF_CACHES = {"TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"}
# of the program alone: it is not set while a compiler starts
IMPORT_PATH = "PYTHONPATH"
READY, TAKEN, HOST_IS_THERE, HOST_IS_GONE = b"r", b"t", b"1", b"0"

Serve = Callable[[RunCommand], bool]


class LoadedStandby:
    """The copy, as the standby sees it. ``serve`` is what the copy does with each run; ``places`` are folders of programs."""

    def __init__(
        self, command: LoadCommand, native_threads: int, wire: Wire, serve: Serve, places: tuple[str, ...]
    ) -> None:
        self._modules = command.load.modules
        self._variables = dict(command.env)
        self._network = command.network
        self._is_ready = False
        self._channel, theirs = socket.socketpair()
        self._pid = processes.fork()
        if self._pid == 0:
            self._channel.close()
            _be(theirs, command, native_threads, wire, serve, places)
        theirs.close()
        processes.private_descriptors.add(self._channel.fileno())
        processes.kept.add(self._pid)

    def fits(self, command: RunCommand) -> bool:
        """Whether a run of ``command`` may start in the copy, which has everything imported."""
        wanted, spec = command.packages, command.sandbox
        return (
            wanted is not None
            and spec is not None
            and (wanted.modules, dict(command.env), spec.network) == (self._modules, self._variables, self._network)
            and self._has_loaded()
            and not why_not_loaded(command)
        )

    def _has_loaded(self) -> bool:
        try:
            said = self._channel.recv(1, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return self._is_ready
        except OSError:
            return False
        self._is_ready = said == READY  # nothing: it has ended
        return self._is_ready

    def serve(self, command: RunCommand) -> bool | None:
        """Have the copy do the run; whether the host is still there. None if the copy has just ended, and nothing was run.

        The copy has the standby's descriptors, and speaks for itself.
        """
        try:
            self._channel.sendall(command_line(command))
            if self._channel.recv(1) != TAKEN:
                return None
        except OSError:
            return None
        return self._channel.recv(1) == HOST_IS_THERE

    def end(self) -> None:
        """End the copy, and what it has started."""
        processes.private_descriptors.discard(self._channel.fileno())
        self._channel.close()
        processes.kept.discard(self._pid)
        processes.end_tree(self._pid)


def _be(
    channel: socket.socket,
    command: LoadCommand,
    native_threads: int,
    wire: Wire,
    serve: Serve,
    places: tuple[str, ...],
) -> None:
    try:
        processes.private_descriptors.add(channel.fileno())
        processes.become_subreaper()
        wire.move_to_this_process()
        _load(command, native_threads, places)
        channel.sendall(READY)
        with channel.makefile("rb") as lines:
            for line in lines:
                channel.sendall(TAKEN)
                run = command_from(line)
                there = isinstance(run, RunCommand) and serve(run)
                channel.sendall(HOST_IS_THERE if there else HOST_IS_GONE)
        processes.end_orphans(0.5)
    finally:
        os._exit(0)


def _load(command: LoadCommand, native_threads: int, places: tuple[str, ...]) -> None:
    """Import the packages; ends the process if that leaves anything behind but modules."""
    signal.alarm(LIMIT_S)
    sys.dont_write_bytecode = True
    before = _noticeable()
    with _captured_output() as printed, without_cuda_runtime():
        # before any package is there, and not for variables of a workspace: they may name a compiler, which would run outside of a sandbox
        if command.compiles and command.env.keys() <= {*OF_CACHES, IMPORT_PATH}:
            _warm_compiler(places)
        # from where the program would import; the guard refuses what is not installed
        with (
            _variables_of_run(command),
            installed_imports.lifted(),
            guarded_imports(library_roots(), lambda _: os._exit(1)),
        ):
            for name in command.load.modules:
                importlib.import_module(name)
    tempfile.tempdir = None
    if any(printed) or _noticeable() != before or why_not_fork(native_threads):
        os._exit(1)
    gc.collect()
    gc.freeze()
    signal.alarm(0)


def _warm_compiler(places: tuple[str, ...]) -> None:
    why_not = own_compilers.why_not_compile(places)
    if why_not:
        degraded("a compiler that is loaded before the run", why_not)
        return
    with environment(**own_compilers.variables(places)):
        warm_compiler(precompiled_headers.shared_folder())


def _noticeable() -> tuple[Any, ...]:
    """What a program could notice of an import that did more than to define things."""
    torch = sys.modules["torch"]
    numpy: Any = sys.modules.get("numpy")
    return (
        random.getstate(),
        torch.random.get_rng_state().tolist(),
        repr(numpy.random.get_state()) if numpy is not None else "",
        torch.get_default_dtype(),
        [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)],
        sys.excepthook,
        installed_imports.whole_path(),
        os.getcwd(),
        _open_files(),
        _shared_memory(),
    )


def _open_files() -> list[tuple[str, str]]:
    """All runs would share what is open: where one has read up to, the next one would go on."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the list itself
            found.append((name, os.readlink(f"/proc/self/fd/{name}")))
    return sorted(found)


def _shared_memory() -> list[str]:
    """What one run writes to, and the next one reads."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return [line for line in maps if line.split()[1].startswith("rw") and line.split()[1].endswith("s")]


@contextlib.contextmanager
def _variables_of_run(command: LoadCommand) -> Iterator[None]:
    """The variables that a run in the sandbox would have."""
    before = dict(os.environ)
    os.environ.update(command.env)
    os.environ.setdefault("MPLBACKEND", "Agg")
    set_variables(hides_gpus=True, network=command.network)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _captured_output() -> Iterator[list[int]]:
    """A list that has, after the block, how many bytes were printed in it, by native code too."""
    file = os.memfd_create("output")
    before = {number: os.dup(number) for number in (1, 2)}
    for number in before:
        os.dup2(file, number)
    printed: list[int] = []
    try:
        yield printed
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        printed.append(os.fstat(file).st_size)
        os.close(file)
        for number, descriptor in before.items():
            os.dup2(descriptor, number)
            os.close(descriptor)
