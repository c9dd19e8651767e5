"""Ends process trees: nothing that a run started may outlive it.

On Linux the standby is a *child subreaper*: whatever a run's process leaves behind becomes its child, and is ended here. Elsewhere the
run's process group is all that can be reached.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Container, Iterator

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def become_subreaper() -> None:
    """Let orphans of a run come to this process (Linux)."""
    if sys.platform == "linux":
        _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Have the kernel end this process when its parent is gone (Linux)."""
    if sys.platform == "linux":
        _prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))


def fork() -> int:
    """``os.fork`` for a child that ends with this process."""
    parent = os.getpid()
    child = _fork()
    if child == 0:
        die_with_parent()
        if os.getppid() != parent:
            os._exit(1)  # it had ended before it was asked
        forget_parent()
        kept.clear()
        for descriptor in private_descriptors:
            os.close(descriptor)
        private_descriptors.clear()
    return child


_fork = os.fork  # a program may replace it


def outlive_parent(limit_s: float) -> None:
    """Take that back: from here on this process sees its parent's end itself, and puts things in order before its own.

    One that was stopped goes on for that. If it has not ended by itself within ``limit_s``, since it waits for something that is still
    stopped, it kills all that is below it, and ends. Only the main thread may ask for this.
    """
    if sys.platform != "linux":
        return
    me, parent = os.getpid(), os.getppid()

    def go_on(*_: object) -> None:
        if os.getpid() == me and os.getppid() != parent:
            signal.setitimer(signal.ITIMER_REAL, limit_s)

    def end(*_: object) -> None:
        end_orphans()
        os._exit(1)

    _woken_by.update({signal.SIGCONT: go_on, signal.SIGALRM: end})
    for number, handler in _woken_by.items():
        signal.signal(number, handler)
    _prctl(PR_SET_PDEATHSIG, int(signal.SIGCONT))
    go_on()


_woken_by: dict[signal.Signals, Callable[..., None]] = {}


def forget_parent() -> None:
    """Leave no handler of ours to a program that runs in this process or in a copy of it."""
    for number in list(_woken_by):
        signal.signal(number, signal.SIG_DFL)
        del _woken_by[number]


# children of this process that stay from run to run
kept: set[int] = set()
# what leads to them, or to the process that this one works for: no child may have it, since it could give orders there
private_descriptors: set[int] = set()


def end_tree(pid: int) -> None:
    """Kill ``pid``, its process group, and every child this process has left but those ``kept``, for ten seconds at most."""
    with contextlib.suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)
    end_orphans(10.0, kept)


def stop_run() -> set[int]:
    """Stop every process of the run, for two seconds at most; which they are."""
    return _stop_all(time.monotonic() + 2.0, kept)


def end_orphans(limit_s: float = 2.0, spared: Container[int] = ()) -> None:
    """Kill and reap every process below this one, but for its children in ``spared`` and what is below those.

    All are stopped before any is killed, until no new one is found: what forks as fast as it is killed would else go on.
    """
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        for pid in _stop_all(deadline, spared):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        mine = [child for child in children(os.getpid()) if child not in spared]
        for child in mine if spared else [-1]:
            try:
                while os.waitpid(child, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                if not spared:
                    return
        if spared and not mine:
            return
        time.sleep(0.002)


def _stop_all(deadline: float, spared: Container[int]) -> set[int]:
    stopped: set[int] = set()
    while time.monotonic() < deadline:
        trees = [(child, *descendants(child)) for child in children(os.getpid()) if child not in spared]
        new = [pid for tree in trees for pid in tree if pid not in stopped]
        if not new:
            break
        for pid in new:
            stopped.add(pid)
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
    return stopped


def descendants(pid: int) -> Iterator[int]:
    """Every process below ``pid``, zombies too. A program may have made each the child of another, thousands deep."""
    waiting = [pid]
    while waiting:
        found = children(waiting.pop())
        yield from found
        waiting += found


def tree_of_run() -> Iterator[int]:
    """Every process below this one that belongs to its run."""
    for child in children(os.getpid()):
        if child not in kept:
            yield child
            yield from descendants(child)


def speaking(pid: int) -> int:
    """Process ``pid``, or where its first thread has ended, another one of its threads: only that says then what the process has (Linux).

    In ``/proc`` each thread has a folder of its number, though none is listed there.
    """
    if has_memory(pid):
        return pid
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            if has_memory(int(thread)):
                return int(thread)
    return pid


def has_memory(thread: int) -> bool:
    """Whether a process or thread has not ended."""
    with contextlib.suppress(OSError), open(f"/proc/{thread}/statm", "rb") as size:
        return not size.read().startswith(b"0 ")
    return False


def children(pid: int) -> list[int]:
    """The children of ``pid`` (Linux; elsewhere there is nothing to ask)."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/task/{thread}/children", "rb") as listed:
                found += map(int, listed.read().split())
    except (OSError, ValueError):
        return []
    return found or _children_by_search(pid)


_has_children_files: bool | None = None


def _children_by_search(pid: int) -> list[int]:
    """For a kernel without the files that ``children`` reads (CONFIG_PROC_CHILDREN)."""
    global _has_children_files
    if _has_children_files is None:
        _has_children_files = os.path.exists(f"/proc/self/task/{os.getpid()}/children")
    if _has_children_files:
        return []
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and _parent(name) == pid]


def _parent(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            # the name is in parentheses and may hold anything; state and parent follow the last one
            return int(stat.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return -1
