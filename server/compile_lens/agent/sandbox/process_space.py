"""A process namespace for one run (Linux): the run cannot name any process but its own, and all of them end with its first one.

Three processes take part. The one that the standby has forked only waits. Its child is the first process of the namespace, which the
kernel wants to exist: it reaps orphans. *Its* child is the run.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal

from ..runtime.processes import die_with_parent
from . import kernel

NEW_PROCESSES = 0x20000000
PROCESSES = "/proc"
NO_SETUID, NO_DEVICES, NO_PROGRAMS, READ_ONLY = 0x2, 0x4, 0x8, 0x1
# a program may replace these
_exit, _kill, _getpid, _waitpid, _read, _write = os._exit, os.kill, os.getpid, os.waitpid, os.read, os.write
_decoded = int.from_bytes


def enter(writable: bool) -> None:
    """Return in the run's own process, which has a ``/proc`` of its own, ``writable`` or not. Raises OSError there if it has none."""
    kernel.unshare(NEW_PROCESSES)
    reading, writing = os.pipe()
    first = os.fork()
    if first != 0:
        os.close(writing)
        _wait_outside(reading)
    os.close(reading)
    die_with_parent()
    if not _has_reader(writing):
        _exit(1)  # its parent had ended before it was asked; from in here, nobody can see that
    run = os.fork()
    if run != 0:
        _wait_inside(run, writing)
    os.close(writing)
    die_with_parent()
    with contextlib.suppress(OSError):
        os.setpgid(0, 0)
    flags = NO_SETUID | NO_DEVICES | NO_PROGRAMS | (0 if writable else READ_ONLY)
    kernel.mount("proc", PROCESSES, "proc", flags)


def _has_reader(writing: int) -> bool:
    watched = select.poll()
    watched.register(writing, 0)
    return not watched.poll(0)


def _wait_outside(reading: int) -> None:
    """End as the run does."""
    status = _read(reading, 4)
    if len(status) < 4:
        _kill(_getpid(), signal.SIGKILL)
    number = _decoded(status, "little")
    if os.WIFSIGNALED(number):
        ended_by = os.WTERMSIG(number)
        with contextlib.suppress(OSError, ValueError):
            signal.signal(ended_by, signal.SIG_DFL)
        _kill(_getpid(), ended_by)
        _kill(_getpid(), signal.SIGKILL)
    _exit(os.WEXITSTATUS(number))


def _wait_inside(run: int, writing: int) -> None:
    """Reap whatever ends; when the run has, say how, and take the rest along."""
    while True:
        pid, status = _waitpid(-1, 0)
        if pid == run:
            _write(writing, status.to_bytes(4, "little"))
            _exit(0)
