"""What else belongs to the user besides files: another process, a terminal, System V objects, a message queue, an abstract socket."""

from __future__ import annotations

import array
import contextlib
import ctypes
import fcntl
import os
import pty
import resource
import select
import socket
import subprocess
import sys
import termios
import uuid
from pathlib import Path

# ends with the test
WAITS = "import ctypes, time; ctypes.CDLL(None).prctl(1, 9); time.sleep(3600)"
LIBC = ctypes.CDLL(None, use_errno=True)
TYPED = b"the user's next command"
GET_FLAGS, IOPRIO_GET = 0x80086601, {"x86_64": 252, "aarch64": 31}
CREATE, READ_STATUS = 0o1600, 2
LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


class Bystanders:
    """They begin with this object; ``state`` is what a program must leave as it is."""

    def __init__(self, environment: dict[str, str]) -> None:
        # the flag of the terminal and the session: nobody else may signal it
        self.process = subprocess.Popen([sys.executable, "-c", WAITS], env=environment, start_new_session=True)
        self._master, self._slave = pty.openpty()
        settings = termios.tcgetattr(self._slave)
        settings[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(self._slave, termios.TCSANOW, settings)
        os.write(self._master, TYPED)
        self.terminal = os.ttyname(self._slave)
        self.segment = LIBC.shmget(0, 4096, CREATE)
        self.messages = LIBC.msgget(0, CREATE)
        self.semaphores = LIBC.semget(0, 1, CREATE)
        self.queue = f"/compile-lens-planted-{uuid.uuid4().hex}"
        self._queue = LIBC.mq_open(self.queue.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
        self.abstract = f"compile-lens-{uuid.uuid4().hex}"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind("\0" + self.abstract)
        self._listener.listen()
        self._listener.setblocking(False)

    def state(self, standby: int | None) -> dict[str, object]:
        """How processes are limited and scheduled, and what the other objects are like."""
        found: dict[str, object] = {f"process {pid}": of_process(pid) for pid in (self.process.pid, standby) if pid}
        found["bystander runs"] = self.process.poll() is None and _process_state(self.process.pid) != "T"
        found["terminal"] = (
            termios.tcgetattr(self._slave),
            fcntl.ioctl(self._slave, termios.TIOCGWINSZ, bytes(8)),
            fcntl.ioctl(self._slave, termios.FIONREAD, bytes(4)),
            bool(select.select([self._master], [], [], 0)[0]),
        )
        own = {"shm": self.segment, "msg": self.messages, "sem": self.semaphores}
        found["System V"] = [_row(Path("/proc/sysvipc", kind), number) for kind, number in own.items()]
        found["queue"] = os.fstat(self._queue).st_nlink if self._queue >= 0 else None
        with contextlib.suppress(BlockingIOError):
            found["visited"] = self._listener.accept()
        return found

    def close(self) -> None:
        """End and delete all of them."""
        self.process.kill()
        self.process.wait()
        for descriptor in (self._master, self._slave):
            os.close(descriptor)
        LIBC.shmctl(self.segment, 0, None)
        LIBC.msgctl(self.messages, 0, None)
        LIBC.semctl(self.semaphores, 0, 0)
        LIBC.mq_unlink(self.queue.encode())
        if self._queue >= 0:
            os.close(self._queue)
        self._listener.close()


def of_process(pid: int) -> tuple[object, ...]:
    """Limits, priority, cores, policy, input and output, and weight for the killer of processes."""
    call = IOPRIO_GET.get(os.uname().machine)
    return (
        [resource.prlimit(pid, limit) for limit in LIMITS],
        os.getpriority(os.PRIO_PROCESS, pid),
        sorted(os.sched_getaffinity(pid)),
        os.sched_getscheduler(pid),
        LIBC.syscall(call, 1, pid) if call is not None else None,
        Path(f"/proc/{pid}/oom_score_adj").read_text(),
    )


def _row(table: Path, number: int) -> list[str]:
    """What the kernel tells of one System V object; other tests have some of their own."""
    lines = table.read_text().splitlines() if table.exists() else []
    return [line for line in lines if line.split()[1] == str(number)]


def _process_state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def attributes(path: Path) -> tuple[object, ...]:
    """Extended attributes and inode flags of a file or folder."""
    named: dict[str, bytes] = {}
    with contextlib.suppress(OSError):
        named = {
            name: os.getxattr(path, name, follow_symlinks=False) for name in os.listxattr(path, follow_symlinks=False)
        }
    flags = array.array("l", [0])
    if path.is_symlink() or not (path.is_file() or path.is_dir()):
        return (named,)
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, GET_FLAGS, flags)
        finally:
            os.close(descriptor)
    return named, flags[0]
