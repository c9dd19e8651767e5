"""The standby: a process of the user's interpreter that has imported torch before it is needed.

It reads one JSON command a line from its standard input and writes frames to its standard output, both moved to private descriptors
first. On Linux each run is a forked child, made while this process has one thread and no CUDA context; elsewhere, or where that does
not hold, this process runs the job itself and ends.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import json
import os
import platform
import select
import shutil
import signal
import sys
import sysconfig
import tempfile
import threading
import time
from typing import IO, Any

from . import processes, warming
from .wire import Wire

OWN_FOLDER = os.path.dirname(os.path.abspath(__file__))
CRASH_LIMIT = 20_000
# tasks that run a file many times, and the module that drives each
DRIVERS = {"bisect": "bisect_driver", "minify": "minify_driver"}


def main() -> int:
    """Serve until the host closes the command pipe."""
    commands, wire = _take_descriptors()
    processes.become_subreaper()
    processes.die_with_parent()  # while torch is imported, nobody reads the commands, whose end is the host's
    if not _hello(wire):
        return 3
    processes.outlive_parent()
    for line in _lines(commands):
        command = json.loads(line)
        if command["op"] == "run" and not _serve_run(command, commands, wire):
            break
    processes.end_orphans(0.5)
    return 0


def _take_descriptors() -> tuple[int, Wire]:
    """Move the protocol away from 0 and 1: the program reads nothing there, and prints to where 2 leads."""
    commands = _private(0)
    frames = _private(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    return commands, Wire(frames)


def _private(descriptor: int) -> int:
    """A copy with a high number, out of the way of programs that write to or close the first few; not inherited by children."""
    if sys.platform == "win32":
        return os.dup(descriptor)
    import fcntl
    import resource

    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    lowest = 600 if soft == resource.RLIM_INFINITY else max(10, min(600, soft - 20))
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, lowest)


def _hello(wire: Wire) -> bool:
    """Import torch, warm it, and say who we are. False if there is no torch that can be used."""
    global _threads_of_imports
    started = time.monotonic()
    asked = warming.NVML_CHECK in os.environ
    os.environ.setdefault(warming.NVML_CHECK, "1")
    try:
        import torch

        if sys.platform == "linux":
            _threads_of_imports = _native_threads()
    except BaseException as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == "torch"
        wire.event("no-torch", missing=missing, message=f"{type(error).__name__}: {error}")
        return False
    try:
        warming.warm()
    except BaseException as error:
        wire.event("no-torch", missing=False, message=f"torch {torch.__version__} cannot compile here: {error}")
        return False
    if not asked:
        del os.environ[warming.NVML_CHECK]
    wire.event(
        "hello",
        pid=os.getpid(),
        torch=torch.__version__,
        python=platform.python_version(),
        forks=_can_fork(),
        seconds=time.monotonic() - started,
        library_roots=_library_roots(),
    )
    return True


def _library_roots() -> list[str]:
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib") if name in paths}
    folders.add(str(sys.modules["torch"].__path__[0]))
    return sorted(os.path.join(folder, "") for folder in folders)


# Threads of libraries after `import torch`: numpy's OpenBLAS starts its pool when it is loaded, and stops and restarts it around a
# fork (pthread_atfork). Any thread beyond these may hold a lock that a child would wait for.
_threads_of_imports = 1


def _native_threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _can_fork() -> bool:
    if sys.platform != "linux" or threading.active_count() != 1 or _native_threads() > _threads_of_imports:
        return False
    torch = sys.modules["torch"]
    return not torch.cuda.is_initialized()


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


def _serve_run(command: dict[str, Any], commands: int, wire: Wire) -> bool:
    """Do one run. Returns False when this process can do no further one."""
    if not _can_fork():
        _watch_for_cancel(commands)
        code = _run(command, wire, None)
        wire.event("end", kind="finished", code=code, crash_stack="")
        return False
    with tempfile.TemporaryFile() as crash:
        child = os.fork()
        if child == 0:
            _be_child(command, wire, crash)
        with contextlib.suppress(OSError):
            os.setpgid(child, child)
        wire.event("started", pid=child)
        kind, code = _supervise(child, commands, command["timeout_s"])
        processes.end_tree(child)
        if command.get("task"):
            shutil.rmtree(command["task"]["scratch"], ignore_errors=True)  # for a driver that was ended before it could
        crash.seek(0)
        wire.event("end", kind=kind, code=code, crash_stack=crash.read(CRASH_LIMIT).decode("utf-8", "replace"))
    return kind != "closed"


def _be_child(command: dict[str, Any], wire: Wire, crash: IO[bytes]) -> None:
    code = 1
    try:
        processes.die_with_parent()
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        wire.adopt()
        code = _run(command, wire, crash)
    finally:
        os._exit(code & 0xFF)


def _run(command: dict[str, Any], wire: Wire, crash: IO[bytes] | None) -> int:
    """Install the sink, the notes and the depth, then run the program; or drive the search that a task asks for."""
    if crash is not None and not command.get("task"):
        faulthandler.enable(crash)
        # first of all: the host's clock runs already
        faulthandler.dump_traceback_later(max(command["timeout_s"] - 0.05, 0.01), file=crash)
    from . import compare, depth, notes, program, trace_sink
    from .variations.hook import watcher_for

    sys.dont_write_bytecode = True
    os.environ.update(command["env"])
    os.environ.setdefault("MPLBACKEND", "Agg")  # a background run opens no window
    if command.get("cwd"):
        os.chdir(command["cwd"])
    if command.get("task"):
        driver = importlib.import_module(f".{DRIVERS[command['task']['tool']]}", __package__)
        return int(driver.main(command["task"], wire))
    trace_sink.install(wire)
    varied = watcher_for(command)
    notes.install(OWN_FOLDER, varied or _recorder(command))
    depth.apply(command["depth"])
    if command.get("compare"):
        compare.install()
    at_end = varied.at_end if varied is not None else lambda: None
    return program.run(command["file"], command.get("text"), command["argv"], wire, OWN_FOLDER, command["plan"], at_end)


def _recorder(command: dict[str, Any]) -> Any:
    """What watches the calls of compile regions, in a run that is to give a repro."""
    if command.get("capture") is None:
        return None
    from . import trace_sink
    from .capture.recorder import Recorder

    recorder = Recorder(trace_sink.write_note, _library_roots(), OWN_FOLDER, command["capture"]["exact_folder"])
    recorder.install()
    return recorder


def _supervise(child: int, commands: int, timeout_s: float) -> tuple[str, int]:
    """Wait for the child's end, a cancel, the host's end, or the time limit. Returns what it was, and the exit code or signal."""
    deadline = time.monotonic() + timeout_s
    with _watching(child) as watched:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return "timeout", 0
            ready, _, _ = select.select([commands, *watched], [], [], left if watched else min(left, 0.02))
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid:
                if os.WIFSIGNALED(status):
                    return "signalled", os.WTERMSIG(status)
                return "finished", os.WEXITSTATUS(status)
            if commands in ready:
                # the host sends nothing but a cancel during a run; an empty read is its end
                return ("cancelled", 0) if os.read(commands, 65536) else ("closed", 0)


@contextlib.contextmanager
def _watching(child: int) -> Any:
    """A descriptor that is readable when ``child`` has ended, in a list; an empty list where the kernel has none."""
    opened: list[int] = []
    with contextlib.suppress(OSError, AttributeError):
        opened.append(os.pidfd_open(child))
    try:
        yield opened
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _watch_for_cancel(commands: int) -> None:
    """Without a fork nobody else can end the run: any command, or the host's end, ends this process."""

    def wait() -> None:
        os.read(commands, 65536)
        if hasattr(signal, "SIGKILL"):
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(9)

    threading.Thread(target=wait, daemon=True).start()
