"""Serves runs from a process of the user's interpreter that has already imported torch.

It reads one JSON command a line from its standard input and writes frames to its standard output, both moved to private descriptors
first. On Linux each run is a forked child (see ``forked_run``), made while this process has one thread and no CUDA context; elsewhere,
or where that does not hold, this process runs the job itself and ends.
"""

from __future__ import annotations

import codecs
import contextlib
import gc
import importlib.machinery
import os
import platform
import signal
import sys
import threading
import time
from typing import Any

from .. import torch_internals
from ..sandbox import choice, initial_environment, own_program
from ..substitutes.cuda import trial
from ..substitutes.cuda.usage import names_gpu
from . import device_backends, forked_run, gpu_presence, job, own_compilers, precompiled_headers, processes, warmup
from .fork_check import count_threads, why_not_fork
from .imported_packages import are_packages
from .job import SandboxChoice
from .libraries import import_paths, library_roots
from .loaded_standby import LoadedStandby
from .protocol import (
    PROTOCOL_VERSION,
    SERVICE_VARIABLES,
    Depth,
    Hello,
    LoadCommand,
    NoTorch,
    RunCommand,
    RunEnded,
    SandboxKind,
    Substitution,
    command_from,
)
from .session_niceness import set_session_niceness
from .thread_waits import threads_that_sleep
from .wire import Wire

# how long a run may take to end after its host; then it is killed as it is
ORDER_S = 3.0


def main() -> int:
    """Serve until the host closes the command pipe."""
    own_program.start_anew()
    initial_environment.forget(SERVICE_VARIABLES)  # runs may look into their parents
    commands, wire = _take_descriptors()
    processes.become_subreaper()
    if not _hello(wire):
        return 3
    if sys.platform == "linux":
        _choose(SandboxKind.OVERLAY, True, ())  # tried before a run waits for it
    loaded: LoadedStandby | None = None
    for line in _lines(commands):
        command = command_from(line)
        if isinstance(command, LoadCommand):
            if loaded is not None:
                loaded.end()
            loaded = _load(command, commands, wire)
        elif command is not None and not _serve(command, commands, wire, loaded):
            break
    processes.end_orphans(0.5)
    return 0


def _take_descriptors() -> tuple[int, Wire]:
    """Move the protocol away from 0 and 1: the program reads nothing there, and prints to where 2 leads."""
    commands = forked_run.high_descriptor(0)
    frames = forked_run.high_descriptor(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    with contextlib.suppress(AttributeError, ValueError, OSError):  # closed, or not a text file
        if codecs.lookup(sys.stdout.encoding).name != "utf-8":
            # a pipe may have another encoding than the terminal, where the program can print what it prints
            sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    return commands, Wire(frames)


def _hello(wire: Wire) -> bool:
    """Import torch, warm it, and say who we are. False if there is no torch that can be used."""
    global _threads_of_imports
    started = time.monotonic()
    gc.disable()  # what is imported stays: to look through it for garbage takes a twentieth of the time
    try:
        with threads_that_sleep(), device_backends.only_installed():
            import torch

        gpu_presence.has_gpu()  # its thread, too, is there to stay, and a fork leaves it behind
        if sys.platform == "linux":
            _threads_of_imports = count_threads()
    except BaseException as error:  # code of torch and of its dependencies may even exit; the host is told why
        missing = isinstance(error, ModuleNotFoundError) and error.name == "torch"
        wire.tell(NoTorch(missing, f"{type(error).__name__}: {error}{_where_it_is(error)}"))
        return False
    try:
        warmup.warm()
        torch_internals.report_missing()  # each run notes what is lost
        from . import watched_program  # noqa: F401 - and the fifty modules that each run would import
    except BaseException as error:  # the same
        why = f"{error}{_where_it_is(error)}"
        wire.tell(NoTorch(False, f"torch {torch.__version__} cannot compile with this interpreter: {why}"))
        return False
    gc.enable()
    # until here it dies with the host (workers/tied.py); what a run has begun is put in order
    processes.outlive_parent(ORDER_S)
    seconds = time.monotonic() - started
    wire.tell(
        Hello(
            os.getpid(),
            str(torch.__version__),
            platform.python_version(),
            not why_not_fork(_threads_of_imports),
            seconds,
            library_roots(),
            PROTOCOL_VERSION,
            tuple(import_paths()),
        )
    )
    return True


def _where_it_is(error: BaseException) -> str:
    """What to add to ``error`` where it is a lack of something that is only linked to."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    folders = [path for path in import_paths() if path not in sys.path]
    if not name or name == "torch" or importlib.machinery.PathFinder.find_spec(name, folders) is None:
        return ""
    return f". Before your program runs, nothing is imported from folders of editable installs: install `{name}` without `-e`."


# Threads of libraries after `import torch`: numpy's OpenBLAS starts its pool when it is loaded, and stops and restarts it around a
# fork (pthread_atfork). Any thread beyond these may hold a lock that a child would wait for.
_threads_of_imports = 1


def _lines(descriptor: int) -> Any:
    """Commands, one a line; ends when the host closes its side."""
    pending = b""
    while True:
        data = os.read(descriptor, 65536)
        if not data:
            return
        pending += data
        *complete, pending = pending.split(b"\n")
        yield from complete


_sandbox: dict[tuple[SandboxKind, tuple[str, ...]], SandboxChoice] = {}


def _choose(strongest: SandboxKind, forks: bool, places: tuple[str, ...]) -> SandboxChoice:
    """The kind of sandbox for the next run, whose folders are ``places``, and why it is not a stronger one; tried once for each."""
    if not forks and strongest is SandboxKind.OVERLAY:
        strongest = SandboxKind.LANDLOCK  # a process with threads cannot leave its namespaces
    key = (strongest, places if strongest is SandboxKind.OVERLAY else ())
    if key not in _sandbox:
        chosen = choice.choose(strongest.value, list(places))
        _sandbox[key] = SandboxChoice(chosen.kind, chosen.reason, chosen.alone)
    return _sandbox[key]


def _load(command: LoadCommand, commands: int, wire: Wire) -> LoadedStandby | None:
    if why_not_fork(_threads_of_imports) or not are_packages(command.load.modules):
        return None
    return LoadedStandby(
        command, _threads_of_imports, wire, lambda run: _serve_run(run, commands, wire), tuple(_program_folders)
    )


def _serve(command: RunCommand, commands: int, wire: Wire, loaded: LoadedStandby | None) -> bool:
    """Do one run, where its packages are imported if that can be. Returns False when this process can do no further one."""
    set_session_niceness(command.sandbox.niceness if command.sandbox is not None else 0)
    if _may_share_headers(command) and not _compiles_for_gpu(command):
        # never in the copy, whose packages may have heeded variables of a workspace: it is made outside of the sandbox
        precompiled_headers.make_shared(commands, _workspaces(command))
    served = loaded.serve(command) if loaded is not None and loaded.fits(command) else None
    return _serve_run(command, commands, wire) if served is None else served


def _serve_run(command: RunCommand, commands: int, wire: Wire) -> bool:
    """Do one run. Returns False when this process can do no further one."""
    forks = not why_not_fork(_threads_of_imports)
    spec = command.sandbox
    places = _places(command)
    chosen = _choose(spec.strongest, forks, places) if spec is not None else SandboxChoice()
    shares = _may_share_headers(command)
    headers = precompiled_headers.shared_folder() if shares else ""
    why_none = own_compilers.why_not_compile(_workspaces(command)) if shares and not headers else ""
    run = job.Run(command, chosen, _cuda_verdict(command, forks), headers=headers, why_no_headers=why_none)
    if forks:
        return forked_run.serve(run, commands, wire)
    processes.forget_parent()
    _watch_for_cancel(commands)
    code = run.be(wire)
    wire.tell(RunEnded("finished", code, ""))
    return False


def _places(command: RunCommand) -> tuple[str, ...]:
    """The folders of the program."""
    return os.path.dirname(command.file), command.cwd


# of all programs so far: one of them may have brought a compiler that the editor's variables name; and what other repositories have
_program_folders: dict[str, None] = {}


def _workspaces(command: RunCommand) -> tuple[str, ...]:
    brought = command.sandbox.brought if command.sandbox is not None else ()
    _program_folders.update(dict.fromkeys((*_places(command), *brought)))
    return tuple(_program_folders)


def _may_share_headers(command: RunCommand) -> bool:
    """Whether the run compiles C++ with caches of its own, in a process that can be told of others."""
    in_fork = not why_not_fork(_threads_of_imports) and command.own_interpreter is None
    return in_fork and command.sandbox is not None and command.depth is Depth.INDUCTOR and command.preview is None


def _compiles_for_gpu(command: RunCommand) -> bool:
    """Whether the program's kernels run on a GPU, and need no C++ headers. Making those took 46 of the 68 s of a first check (an H100,
    torch 2.11); a run that has kernels for the processor as well makes what it needs itself."""
    spec = command.sandbox
    return spec is not None and spec.gpu and gpu_presence.has_gpu() and names_gpu(command)


def _cuda_verdict(command: RunCommand, forks: bool) -> trial.TrialResult:
    """What is known of the emulated CUDA device on this machine; tried now for a program whose text needs it, if a fork can do that."""
    if command.search is not None or command.emulation_failed:
        return trial.UNTRIED
    if command.preview is not None:
        return trial.verdict(command.trials) if forks else trial.remembered(command.trials) or trial.UNTRIED
    if command.stand_in is not Substitution.AUTO:
        return trial.UNTRIED
    may_use_gpu = command.sandbox is None or command.sandbox.gpu
    if forks and not (may_use_gpu and gpu_presence.has_gpu()) and names_gpu(command):
        return trial.verdict(command.trials)
    return trial.remembered(command.trials) or trial.UNTRIED


def _watch_for_cancel(commands: int) -> None:
    """Without a fork nobody else can end the run: any command, or the host's end, ends this process."""

    def wait() -> None:
        os.read(commands, 65536)
        if sys.platform == "linux":
            processes.end_orphans()
        if hasattr(signal, "SIGKILL"):
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(9)

    threading.Thread(target=wait, daemon=True).start()
