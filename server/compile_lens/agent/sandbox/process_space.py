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
from .policy import own_threads

NEW_PROCESSES = 0x20000000
PROCESSES = "/proc"
NO_SETUID, NO_DEVICES, NO_PROGRAMS, READ_ONLY, BIND = 0x2, 0x4, 0x8, 0x1, 0x1000
# a program may replace these
_exit, _kill, _getpid, _waitpid, _read, _write = os._exit, os.kill, os.getpid, os.waitpid, os.read, os.write
_decoded = int.from_bytes


def enter(names_threads: bool) -> None:
    """Return in the run's own process, which has a ``/proc`` of its own, where nothing can be changed, but for names of its threads if it
    ``names_threads``. Raises OSError there if it has none."""
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
    flags = NO_SETUID | NO_DEVICES | NO_PROGRAMS
    if names_threads:  # what is mounted as read-only is so in every place
        kernel.mount("proc", PROCESSES, "proc", flags)
        let_threads_be_named()
    else:
        kernel.mount("proc", PROCESSES, "proc", flags | READ_ONLY)


def let_threads_be_named() -> None:
    """Mount the folder of this process's threads once more, as the only part of ``/proc`` that can be changed.

    Most files there belong to no process: whoever changes the mode or owner of one does so for the whole machine, which no Landlock
    restricts. Raises OSError.
    """
    threads = own_threads()
    kernel.mount(threads, threads, None, BIND)
    kernel.set_mount_attributes(PROCESSES, READ_ONLY, 0, recursive=False)
    kernel.set_mount_attributes(threads, 0, READ_ONLY, recursive=False)


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
