"""Stub servers as forks of one process that has imported what they need: the import takes a second, and most tests want a new server.

``python forked_server.py FD`` is that process. It ends with the test process, at the end of the socket FD.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

LIMIT = 1 << 26
LENGTH_BYTES = 8


class ForkedServer:
    """What ``asyncio.subprocess.Process`` is for a server that another process has forked. Needs a running event loop."""

    def __init__(
        self, pid: int, stdin: asyncio.StreamWriter, stdout: asyncio.StreamReader, end: asyncio.Task[int]
    ) -> None:
        self.pid, self.stdin, self.stdout = pid, stdin, stdout
        self._end = end

    @property
    def returncode(self) -> int | None:
        return self._end.result() if self._end.done() else None

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        return await asyncio.shield(self._end)


async def start(environment: dict[str, str], log: int) -> ForkedServer:
    """A new stub server with this environment, which logs to the descriptor ``log``."""
    (theirs_in, to_it), (from_it, theirs_out), (ends, theirs_end) = os.pipe(), os.pipe(), os.pipe()
    said = json.dumps(environment).encode()
    control = _forker()
    socket.send_fds(control, [len(said).to_bytes(LENGTH_BYTES, "big")], [theirs_in, theirs_out, log, theirs_end])
    control.sendall(said)
    for descriptor in (theirs_in, theirs_out, theirs_end):
        os.close(descriptor)
    end = await _reader(ends)
    pid = int(await end.readline())
    code = asyncio.create_task(_number(end))
    return ForkedServer(pid, await _writer(to_it), await _reader(from_it), code)


async def _number(stream: asyncio.StreamReader) -> int:
    return int(await stream.readline())


async def _reader(descriptor: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(LIMIT)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb")
    )
    return reader


async def _writer(descriptor: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(descriptor, "wb"))
    return asyncio.StreamWriter(transport, protocol, None, loop)


@functools.cache
def _forker() -> socket.socket:
    ours, theirs = socket.socketpair()
    command = [sys.executable, str(Path(__file__).resolve()), str(theirs.fileno())]
    subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    theirs.close()
    return ours


def become_server(control: socket.socket) -> bool:
    """Fork for each request. True in a new server, False in the process that forks them, at its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        said, descriptors, *_ = socket.recv_fds(control, LENGTH_BYTES, 4)
        if not said:
            return False
        environment = bytearray()
        while len(environment) < int.from_bytes(said, "big"):
            environment += control.recv(1 << 16)
        if os.fork() == 0:
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return _watched(descriptors, json.loads(environment))
        for descriptor in descriptors:
            os.close(descriptor)


def _watched(descriptors: list[int], environment: dict[str, str]) -> bool:
    """Fork the server, and tell its id and how it ends, which only its parent knows."""
    end = descriptors.pop()
    pid = os.fork()
    if pid:
        for descriptor in descriptors:
            os.close(descriptor)
        os.write(end, b"%d\n" % pid)
        os.write(end, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        os._exit(0)
    os.close(end)
    for standard, descriptor in enumerate(descriptors):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)
    return True


if __name__ == "__main__":
    from stub_server import StubHost, analyze

    import compile_lens.lsp.server  # noqa: F401 - what a server loads after `initialize`, before the forks instead of in each
    from compile_lens.lsp.serving import create_server, serve

    if become_server(socket.socket(fileno=int(sys.argv[1]))):
        sys.exit(serve(server=create_server(StubHost, analyze)))
