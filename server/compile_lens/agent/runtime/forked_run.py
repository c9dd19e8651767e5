"""Runs a job in a forked child (Linux): forwards its frames, enforces its limits, and ends its process tree."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import select
import signal
import stat
import sys
import tempfile
import time
from dataclasses import replace
from typing import IO, Any

from . import job, processes
from .budget import EVERY_S, TreeBudget
from .disk_growth import DiskGrowth
from .ended_first import go_first
from .left_folders import remove_folder
from .memory_group import make_group
from .processor_time import ProcessorTime
from .protocol import RunEnded, RunStarted, SandboxKind
from .shared_files import FOLDER, REMOVAL_S, SharedFiles
from .task_clock import TaskClock
from .task_group import make_task_group
from .wire import Wire

CRASH_LIMIT = 20_000
# fcntl(2); Python 3.10 has no names for them
ADD_SEALS, NO_MORE_SEALS, NO_SHRINKING, NO_GROWTH = 1033, 1, 2, 4
# what faulthandler.dump_traceback_later writes first (agent/runtime/job.py)
DUMP_AT_TIMEOUT = "Timeout ("
CHUNK = 1 << 16
# of what the child said before its end, in case a descriptor of it has survived in a process that nobody can reach
LAST_WORDS = 1 << 28


def serve(run: job.Run, commands: int, wire: Wire) -> bool:
    """Do one run, and say how it ended. Returns False when the host is gone."""
    command = run.command
    deadline = time.monotonic() + command.timeout_s
    spec = command.sandbox
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    # files in memory count, too, up to their own limit
    group = make_group(spec.memory_bytes + spec.disk_bytes) if spec is not None and spec.memory_bytes else None
    if group is not None and spec is not None:
        group.lower(spec.niceness)
    tasks = make_task_group(spec.processes, group) if spec is not None else None
    shared = SharedFiles() if spec is not None and run.sandbox.kind != SandboxKind.OVERLAY.value else None
    budget = None
    if spec is not None:
        places = (os.path.dirname(spec.scratch), *((FOLDER,) if shared is not None else ()))
        growth = DiskGrowth(spec.caches, places, spec.disk_bytes)
        budget = TreeBudget(spec, run.sandbox.kind, group, shared, growth)
    with _crash_file() as crash:
        # what it starts before it is counted would not be
        waits, goes = os.pipe()
        child = processes.fork()
        if child == 0:
            os.close(goes)
            os.read(waits, 1)
            _be_child(
                replace(run, deadline=deadline, crash=crash, group=group, tasks=tasks),
                wire,
                writing,
                (reading, commands, waits),
            )
        clock = TaskClock(child) if budget is not None else None
        if budget is not None:
            budget = replace(budget, clock=clock)
        began = time.monotonic()
        os.close(goes)
        os.close(waits)
        os.close(writing)
        with contextlib.suppress(OSError):
            os.setpgid(child, child)
        wire.tell(RunStarted(child))
        supervised = _Supervised(child, commands, reading, wire, spec.cpu_s if spec is not None else 0)
        kind, code, reason = supervised.until_end(budget, deadline)
        ran_s = max(0.0, time.monotonic() - began - supervised.waited_s)
        if shared is not None:
            shared.look(processes.stop_run())  # none makes a file after it was looked at
        processes.end_tree(child)
        if clock is not None:
            clock.close()
        supervised.pass_on_the_rest()
        os.close(reading)
        crash.seek(0)
        crash_stack = crash.read(CRASH_LIMIT).rstrip(b"\0").decode("utf-8", "replace")
    if kind in ("signalled", "finished") and budget is not None and budget.ended_by_kernel():
        kind, code, reason = "budget", 0, "memory"
    if kind == "signalled" and crash_stack.startswith(DUMP_AT_TIMEOUT):
        # faulthandler reads frames that another thread changes, and may crash on the way (Python 3.11)
        kind, code = "timeout", 0
    is_done = spec is None or remove_folder(spec.scratch, REMOVAL_S)
    left = shared.remove_left() if shared is not None else 0
    for one in (group, tasks):
        if one is not None:
            one.remove()
    if command.search is not None:
        remove_folder(command.search.scratch)  # for a driver that was ended before it could
    wire.tell(RunEnded(kind, code, crash_stack, reason, ran_s, left))
    while (left or not is_done) and not select.select([commands], [], [], 0)[0]:
        left = shared.remove_left(EVERY_S) if left and shared is not None else 0
        is_done = is_done or spec is None or remove_folder(spec.scratch, EVERY_S)
    return kind != "closed"


def _crash_file() -> IO[bytes]:
    """Where faulthandler writes. The program can write there, too: it has room for a stack, and takes none on a disk."""
    if sys.platform != "linux":
        return tempfile.TemporaryFile()
    import fcntl

    try:
        descriptor = os.memfd_create("crash", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError:
        return tempfile.TemporaryFile()
    os.ftruncate(descriptor, CRASH_LIMIT)
    fcntl.fcntl(descriptor, ADD_SEALS, NO_MORE_SEALS | NO_SHRINKING | NO_GROWTH)
    return os.fdopen(descriptor, "w+b", buffering=0)


def _open_output_anew() -> None:
    """Let the flags that the program sets on its output be its own: an open file that it shared would keep them for the next run."""
    with contextlib.suppress(OSError):
        if stat.S_ISFIFO(os.fstat(2).st_mode):
            os.fchmod(2, stat.S_IRUSR | stat.S_IWUSR)  # so is its mode
            own = os.open("/proc/self/fd/2", os.O_WRONLY)
            os.dup2(own, 1)
            os.dup2(own, 2)
            os.close(own)


def _be_child(run: job.Run, wire: Wire, writing: int, theirs: tuple[int, ...]) -> None:
    code = 1
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        _open_output_anew()
        if run.command.sandbox is not None:
            go_first()
        # out of the way of programs that write to or close the first few
        own = high_descriptor(writing)
        assert run.crash is not None
        crash = os.fdopen(high_descriptor(run.crash.fileno()), "wb", buffering=0)
        for descriptor in (*theirs, wire.descriptor, writing):
            os.close(descriptor)
        run.crash.close()
        run = dataclasses.replace(run, crash=crash)
        code = run.be(Wire(own, bytes.fromhex(run.command.magic)))
    finally:
        _exit(code & 0xFF)


_exit = os._exit  # a program may have replaced it


def high_descriptor(descriptor: int) -> int:
    """A copy with a high number, which the program's children do not inherit."""
    if sys.platform == "win32":
        return os.dup(descriptor)
    import fcntl
    import resource

    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    lowest = 600 if soft == resource.RLIM_INFINITY else max(10, min(600, soft - 20))
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, lowest)


class _Supervised:
    """A child that runs."""

    def __init__(self, child: int, commands: int, reading: int, wire: Wire, cpu_s: float) -> None:
        self._child = child
        self._commands = commands
        self._reading = reading
        self._wire = wire
        self._speaks = True
        self._cpu_s = cpu_s
        # where nothing else counts what it takes of the processors
        self._time = ProcessorTime()
        self.waited_s = 0.0

    def until_end(self, budget: TreeBudget | None, deadline: float) -> tuple[str, int, str]:
        """Wait for the child's end, a cancel, the host's end, or a limit. What it was, the exit code or signal, and which limit."""
        next_look = time.monotonic() + EVERY_S
        with _watching(self._child) as watched:
            while True:
                now = time.monotonic()
                if now >= deadline:
                    return "timeout", 0, ""
                if now >= next_look:
                    next_look = now + EVERY_S
                    if reason := self._look(budget):
                        return "budget", 0, reason
                wait = min(deadline - now, next_look - now)
                speaking = [self._reading] if self._speaks else []
                ready, _, _ = select.select(
                    [self._commands, *speaking, *watched], [], [], wait if watched else min(wait, 0.02)
                )
                if self._reading in ready:
                    self._pass_on()
                if self._commands in ready:
                    # the host sends nothing but a cancel during a run; an empty read is its end
                    return ("cancelled" if os.read(self._commands, CHUNK) else "closed"), 0, ""
                pid, status, used = os.wait4(self._child, os.WNOHANG)
                if pid and os.WIFSIGNALED(status):
                    if _is_out_of_time(self._cpu_s, os.WTERMSIG(status), used.ru_utime + used.ru_stime):
                        return "budget", 0, "cpu"
                    return "signalled", os.WTERMSIG(status), ""
                if pid:
                    return "finished", os.WEXITSTATUS(status), ""

    def _look(self, budget: TreeBudget | None) -> str:
        """What is used up, if anything; how long the program has waited for a processor is noted."""
        if budget is None:
            self._time.look([self._child])
            self.waited_s = self._time.waited_s
            return ""
        reason = budget.exceeded(self._child)
        self.waited_s = budget.time.waited_s
        return reason

    def _pass_on(self) -> int:
        try:
            data = os.read(self._reading, CHUNK)
        except OSError:
            return 0
        if data:
            self._wire.chunk(data)
        else:
            self._speaks = False
        return len(data)

    def pass_on_the_rest(self) -> None:
        """What the child had said when it ended."""
        total = 0
        while total < LAST_WORDS and (size := self._pass_on()):
            total += size


def _is_out_of_time(limit: float, signal_number: int, used_s: float) -> bool:
    """Whether the kernel ended the child for its processor time, with a signal that also has other causes (sandbox/enter.py)."""
    return bool(limit) and signal_number in (signal.SIGKILL, signal.SIGXCPU) and used_s > limit - 1.0


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
