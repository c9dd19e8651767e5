"""Runs trials in a forked process, so that what is compiled afterwards is the first call of its process.

A trial in eager fills caches, as a call of the program's does: what is compiled after it would not recompile where a user's program does.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ...runtime import fork_check, gpu_presence, processes

Send = Callable[[Any], None]
# from the end of a copy's messages to its own
ENDING_S = 1.0


@dataclass(frozen=True)
class Died:
    """The copy ended before its work was done; ``why`` is what it raised, or the signal."""

    why: str


def can_fork() -> bool:
    """Whether a forked process can do the work: not on Windows and macOS, nor where this process uses a GPU, or has asked for one such
    that a copy cannot use it."""
    torch: Any = sys.modules.get("torch")
    if sys.platform != "linux" or (torch is not None and torch.cuda.is_initialized()):
        return False
    return torch is None or not gpu_presence.has_gpu() or not fork_check.loses_gpu()


class Fork:
    """A forked copy of this process that sends values back. In the copy ``is_copy`` is true, and ``end`` must be its last act."""

    def __init__(self) -> None:
        read, write = os.pipe()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # the program may have closed or replaced it
                stream.flush()
        self._pid = processes.fork()
        self.is_copy = not self._pid
        os.close(read if self.is_copy else write)
        self._descriptor = write if self.is_copy else read
        self._received = b""
        # of a copy that a signal has ended, and not this process
        self.signal = ""
        if self.is_copy:
            import torch

            torch.set_num_threads(1)  # the threads of the pool have not come along

    def send(self, value: Any) -> None:
        """Send a value, from the copy."""
        data = pickle.dumps(value)
        _write_all(self._descriptor, len(data).to_bytes(8, "little") + data)

    def end(self) -> None:
        """End the copy, without what the program registered for its end."""
        os._exit(0)

    def received(self, end: float) -> Iterator[Any]:
        """The values that the copy sends, until it has ended or until ``end``, a time of ``time.monotonic``."""
        try:
            while self._has_read(8, end):
                size = int.from_bytes(self._received[:8], "little")
                if not self._has_read(8 + size, end):
                    return
                data, self._received = self._received[8 : 8 + size], self._received[8 + size :]
                yield pickle.loads(data)
        finally:
            self.close()

    def _has_read(self, count: int, end: float) -> bool:
        while len(self._received) < count:
            ready, _, _ = select.select([self._descriptor], [], [], max(end - time.monotonic(), 0.0))
            data = os.read(self._descriptor, 1 << 16) if ready else b""
            if not data:
                if ready:
                    self._await_end()
                return False
            self._received += data
        return True

    def _await_end(self) -> None:
        """Wait until the copy, which has closed its side, has ended: how is known only then."""
        # the program may have waited for it; a Python that was built for an old kernel, as conda's, has no such call
        with contextlib.suppress(OSError, ValueError, AttributeError):
            ended = os.pidfd_open(self._pid)
            select.select([ended], [], [], ENDING_S)
            os.close(ended)

    def close(self) -> None:
        """End the copy, and wait for it."""
        if self._descriptor < 0:
            return
        os.close(self._descriptor)
        self._descriptor = -1
        with contextlib.suppress(ProcessLookupError, ChildProcessError):  # the program may have waited for it
            ended, status = os.waitpid(self._pid, os.WNOHANG)
            if not ended:
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
            elif os.WIFSIGNALED(status):
                self.signal = signal.Signals(os.WTERMSIG(status)).name


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


@contextlib.contextmanager
def ahead(work: Callable[[Send], None], seconds: float) -> Iterator[Iterator[Any]]:
    """What ``work`` sends, as it comes, from a forked process that gets at most ``seconds``; where none can be forked, from this one."""
    if not can_fork():
        sent: list[Any] = []
        work(sent.append)
        yield iter(sent)
        return
    fork = Fork()
    if fork.is_copy:
        try:
            work(fork.send)
        except BrokenPipeError:
            pass  # nobody needs more
        except BaseException as error:  # code of the user's may raise anything
            traceback.print_exc()
            fork.send(Died(f"{type(error).__name__}: {error}"))
        finally:
            fork.end()
    try:
        yield _until_its_end(fork, time.monotonic() + seconds)
    finally:
        fork.close()


def _until_its_end(fork: Fork, end: float) -> Iterator[Any]:
    yield from fork.received(end)
    if fork.signal:
        yield Died(fork.signal)


def of_copy(work: Callable[[], Any], seconds: float) -> Any:
    """What ``work`` returns in a forked process; None if it does not come back within ``seconds``."""

    def send_result(send: Send) -> None:
        send(work())

    with ahead(send_result, seconds) as values:
        found = next(values, None)
    return None if isinstance(found, Died) else found
