"""The only door to running the user's code: one agent process of one interpreter, kept warm, one run at a time.

Whatever happens to a run, the agent's process tree is gone when ``close`` returns, and a run that was cancelled is gone when
``cancel`` returns.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from compile_lens.workers.cache_leases import leased
from compile_lens.workers.caches import cache_root, private_cache_environment
from compile_lens.workers.command import command_of
from compile_lens.workers.job import Depth, End, EndKind, Job
from compile_lens.workers.output import BoundedOutput
from compile_lens.workers.wire import AgentEvent, Frame, FrameDecoder

AGENT_FOLDER = Path(__file__).resolve().parent.parent / "agent"
BOOT = AGENT_FOLDER / "boot.py"
START_LIMIT_S = 120.0
CHUNK = 1 << 16
# beyond the agent's own time limit, before the host stops waiting for it
GRACE_S = 5.0


class HostError(Exception):
    """The interpreter cannot be used; its text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class Hello:
    """What the agent says of itself once torch is imported. ``forks``: it can do many runs; otherwise one.

    ``library_roots`` are the folders of installed code in that interpreter, torch's own included (it may be a checkout).
    """

    pid: int
    torch: str
    python: str
    forks: bool
    seconds: float
    library_roots: tuple[str, ...]


class Host:
    """One standby of ``python``. Start it early; it costs one process that has imported torch."""

    def __init__(self, python: str, environment: Mapping[str, str] | None = None) -> None:
        self.python = python
        # its frames are nobody's business
        self.agent_folder = str(AGENT_FOLDER)
        self._environment = dict(os.environ if environment is None else environment)
        self._process: asyncio.subprocess.Process | None = None
        self._hello: Hello | None = None
        self._frames: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._readers: list[asyncio.Task[None]] = []
        self._output = BoundedOutput()
        self._starting = asyncio.Lock()
        self._running = asyncio.Lock()
        self._run_pid: int | None = None
        self._cancelled = False

    @property
    def hello(self) -> Hello | None:
        """What the running agent said; None before it has started."""
        return self._hello

    async def start(self) -> Hello:
        """Start the agent unless it runs, and wait until torch is imported. Raises HostError."""
        async with self._starting:
            if self._hello is not None and self._process is not None and self._process.returncode is None:
                return self._hello
            await self._end_process()
            await self._spawn()
            try:
                self._hello = await asyncio.wait_for(self._await_hello(), START_LIMIT_S)
            except TimeoutError:
                await self._end_process()
                raise HostError(f"{self.python} did not import torch within {START_LIMIT_S:.0f} seconds.") from None
            except BaseException:
                await self._end_process()
                raise
            return self._hello

    async def _spawn(self) -> None:
        environment = {**self._environment, **private_cache_environment(self._environment)}
        self._frames = asyncio.Queue()
        try:
            self._process = await asyncio.create_subprocess_exec(
                self.python,
                str(BOOT),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise HostError(f"{self.python} cannot be started: {error.strerror or error}.") from None
        self._output = BoundedOutput()
        assert self._process.stdout is not None and self._process.stderr is not None
        self._readers = [
            asyncio.create_task(self._read_frames(self._process.stdout, self._frames)),
            asyncio.create_task(self._read_output(self._process.stderr)),
        ]

    async def _await_hello(self) -> Hello:
        while True:
            frame = await self._frames.get()
            if frame is None:
                text = self._output.text().strip()
                last = text.splitlines()[-1] if text else "it said nothing"
                raise HostError(f"{self.python} is not a Python that can run the analysis: {last}")
            if not isinstance(frame, AgentEvent):
                continue
            if frame.name == "hello":
                fields = frame.fields
                return Hello(
                    fields["pid"],
                    fields["torch"],
                    fields["python"],
                    fields["forks"],
                    fields["seconds"],
                    tuple(fields["library_roots"]),
                )
            if frame.name == "no-torch":
                if frame.fields["missing"]:
                    raise HostError(
                        f"{self.python} has no torch; choose an interpreter that has it, or install torch there."
                    )
                raise HostError(f"{self.python} cannot import torch: {frame.fields['message']}")

    async def _read_frames(self, stream: asyncio.StreamReader, frames: asyncio.Queue[Frame | None]) -> None:
        decoder = FrameDecoder()
        while data := await stream.read(CHUNK):
            for frame in decoder.feed(data):
                frames.put_nowait(frame)
        frames.put_nowait(None)

    async def _read_output(self, stream: asyncio.StreamReader) -> None:
        while data := await stream.read(CHUNK):
            self._output.add(data)

    async def run(self, job: Job, on_frame: Callable[[Frame], None]) -> End:
        """Run ``job``; ``on_frame`` gets each frame as it arrives. Cancelling the awaiting task cancels the run. Raises HostError."""
        async with self._running, leased(cache_root(self._environment)) as lease:
            lease.in_order = (
                job.depth is not Depth.INDUCTOR
            )  # below it no compiler is started that could be interrupted
            await self.start()
            self._cancelled = False
            self._output.clear()
            try:
                self._send(command_of(job))
                end = await asyncio.wait_for(self._follow(on_frame), job.timeout_s + GRACE_S)
            except TimeoutError:
                await self._end_process()
                end = End(EndKind.TIMEOUT)
            except asyncio.CancelledError:
                await asyncio.shield(self._end_run())
                raise
            finally:
                self._run_pid = None
            await asyncio.sleep(0)  # the last of the output has come through the other pipe by now, or in the next line
            await self._drain_output()
            if self._hello is None or not self._hello.forks:
                await self._end_process()
            lease.in_order |= end.kind is EndKind.FINISHED
            return End(end.kind, end.code, end.crash_stack, self._output.text(), self._output.total)

    async def _follow(self, on_frame: Callable[[Frame], None]) -> End:
        came_back = False
        while True:
            frame = await self._frames.get()
            if frame is None:
                if self._run_pid is not None:
                    _kill_group(self._run_pid)  # the agent cannot any more
                return End(EndKind.CANCELLED if self._cancelled else EndKind.LOST)
            if isinstance(frame, AgentEvent):
                if frame.name == "started":
                    self._run_pid = frame.fields["pid"]
                came_back = came_back or frame.name in ("done", "raised", "unreadable")
                if frame.name == "end":
                    return _end(frame, came_back)
            on_frame(frame)

    async def _drain_output(self) -> None:
        """Give the output reader the turns it needs for what the run had printed before its end."""
        seen = -1
        while seen != self._output.total:
            seen = self._output.total
            await asyncio.sleep(0.005)

    def _send(self, command: dict[str, object]) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError, RuntimeError):
                self._process.stdin.write(json.dumps(command).encode() + b"\n")

    async def cancel(self) -> None:
        """End the run that is going on, its whole process tree. Its ``run`` returns with ``EndKind.CANCELLED``."""
        if self._running.locked():
            self._cancelled = True
            self._send({"op": "cancel"})

    async def _end_run(self) -> None:
        """End the run whose awaiting task was cancelled, and read up to its end; a mute agent is ended itself."""
        self._send({"op": "cancel"})
        try:
            await asyncio.wait_for(self._follow(lambda _: None), 1.0)
        except TimeoutError:
            await self._end_process()

    async def close(self) -> None:
        """End the agent and everything that it started."""
        await self._end_process()

    async def _end_process(self) -> None:
        process, self._process, self._hello = self._process, None, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()  # the agent ends its run, and itself
        try:
            await asyncio.wait_for(process.wait(), 1.0)
        except TimeoutError:
            _kill_group(process.pid)
            if self._run_pid is not None:
                _kill_group(self._run_pid)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        self._readers = []


def _end(frame: AgentEvent, came_back: bool) -> End:
    said = frame.fields["kind"]
    kind = EndKind.CANCELLED if said == "closed" else EndKind(said)  # closed: the host itself is being ended
    if kind is EndKind.FINISHED and not came_back:
        kind = EndKind.EXITED
    return End(kind, frame.fields["code"], frame.fields["crash_stack"])


def _kill_group(pid: int) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
