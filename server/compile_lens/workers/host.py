"""Runs the user's code, and nothing else does: one agent process per interpreter, kept warm, one run at a time.

Whatever happens to a run, the agent's process tree is gone when ``close`` returns, and a run that was canceled is gone when
``cancel`` returns.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from compile_lens.agent.runtime.protocol import (
    CANCEL_LINE,
    MAGIC,
    OF_END,
    PROTOCOL_VERSION,
    TRIAL_LIMIT_S,
    Hello,
    NoTorch,
    PackagesImported,
    RunEnded,
    RunStarted,
    command_line,
)
from compile_lens.workers.access import Access
from compile_lens.workers.cache_health import FailureSeen
from compile_lens.workers.cache_leases import leased
from compile_lens.workers.command import caches_of, command_of, sandbox_of
from compile_lens.workers.host_environment import CacheError, HostEnvironment
from compile_lens.workers.import_path import left_out
from compile_lens.workers.interpreter import (
    Stamp,
    cannot_analyze,
    cannot_start,
    installation_stamp,
    no_torch_within,
)
from compile_lens.workers.job import Depth, End, EndKind, Job
from compile_lens.workers.loaded_packages import LoadedPackages
from compile_lens.workers.memory_shares import MemoryShares
from compile_lens.workers.output import BoundedOutput
from compile_lens.workers.process_tree import kill_group, kill_tree
from compile_lens.workers.run_limits import RunLimits
from compile_lens.workers.scratch import earlier_are_gone, scratch_folder, sweep
from compile_lens.workers.tied import tied
from compile_lens.workers.wire import AgentFrames, Frame

AGENT_FOLDER = Path(__file__).resolve().parent.parent / "agent"
BOOT = AGENT_FOLDER / "boot.py"
# an interpreter and its libraries look for some files where they are started: not in a workspace
NEUTRAL_FOLDER = AGENT_FOLDER
START_LIMIT_S = 120.0
CHUNK = 1 << 16
# beyond the agent's own time limit, before the host kills it
GRACE_S = 5.0
CLOSED = "The analysis was stopped before it started."
# of an agent that was told to end its run; one that is stopped hears nothing
CANCEL_S = 3.0


class HostError(Exception):
    """The interpreter cannot be used; its text is one sentence for the user."""


class Host:
    """One standby of ``python``. Start it early; it costs one process that has imported torch.

    ``shares``: what its runs take together with those of other hosts.

    ``loads_packages``: after a run, it also imports the packages of that program, for its next run (agent/runtime/loaded_standby.py).
    """

    def __init__(
        self,
        python: str,
        environment: Mapping[str, str] | None = None,
        *,
        loads_packages: bool = False,
        shares: MemoryShares | None = None,
    ) -> None:
        self.python = python
        self._shares = shares if shares is not None else MemoryShares()
        self._packages = LoadedPackages(loads_packages)
        # its frames are excluded from user stacks
        self.agent_folder = str(AGENT_FOLDER)
        self._environment = HostEnvironment(environment)
        self._process: asyncio.subprocess.Process | None = None
        self._hello: Hello | None = None
        self._newest_hello: Hello | None = None
        self._frames: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._readers: list[asyncio.Task[None]] = []
        self._output = BoundedOutput()
        self._starting = asyncio.Lock()
        self._running = asyncio.Lock()
        self._run_pid: int | None = None
        self._stamp: Stamp = ()
        self._said = AgentFrames()
        self._kill: asyncio.TimerHandle | None = None
        self._overdue = False
        # its frames have ended, whether or not the process is known to have
        self._is_gone = False
        self._is_closed = False

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not as it should be on this machine: where the caches are, what torch was imported without."""
        return tuple(filter(None, (self._environment.cache_note, self._environment.backend_note)))

    @property
    def hello(self) -> Hello | None:
        """What the newest agent said, which may have ended since: one that cannot fork does one run. None before it has started."""
        return self._newest_hello

    def output_so_far(self) -> str:
        """What the program of the run that is going on has printed."""
        return self._output.text()

    async def start(self) -> Hello:
        """Start the agent unless it runs, and wait until torch is imported. Raises HostError.

        An agent whose installation has changed since it started is replaced.
        """
        return await self._start(may_replace=not self._running.locked())

    async def _start(self, may_replace: bool) -> Hello:
        async with self._starting:
            self._check_open()
            hello, process = self._hello, self._process
            runs = hello is not None and process is not None and process.returncode is None
            if hello is not None and runs and not (may_replace and self._stamp != self._stamp_now(hello)):
                return hello
            await self._end_process()
            sweep()
            self._check_caches()
            await self._spawn()
            try:
                self._check_open()
                self._hello = await asyncio.wait_for(self._await_hello(), START_LIMIT_S)
            except TimeoutError:
                await self._end_process()
                raise HostError(no_torch_within(self.python, START_LIMIT_S)) from None
            except HostError:
                await self._end_process()
                raise
            except BaseException:  # raised again, a cancellation too
                await self._end_process()
                raise
            self._newest_hello = self._hello
            self._stamp = self._stamp_now(self._hello)
            return self._hello

    def _check_open(self) -> None:
        if self._is_closed:
            raise HostError(CLOSED)

    def _check_caches(self) -> None:
        """Raise HostError if torch cannot write to its caches."""
        try:
            self._environment.check_caches()
        except CacheError as problem:
            raise HostError(str(problem)) from None

    def _stamp_now(self, hello: Hello) -> Stamp:
        return installation_stamp(self.python, hello.library_roots)

    async def _spawn(self) -> None:
        self._frames = asyncio.Queue()
        self._said = AgentFrames()
        self._packages.forget_loaded()
        try:
            self._process = await asyncio.create_subprocess_exec(
                self.python,
                str(BOOT),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._environment.of_agent(),
                cwd=NEUTRAL_FOLDER,
                **tied(new_session=True),
            )
        except OSError as error:
            raise HostError(cannot_start(self.python, error)) from None
        self._output = BoundedOutput()
        assert self._process.stdout is not None and self._process.stderr is not None
        self._readers = [
            asyncio.create_task(self._read_frames(self._process.stdout, self._frames, self._said)),
            asyncio.create_task(self._read_output(self._process.stderr)),
        ]

    async def _await_hello(self) -> Hello:
        while True:
            frame = await self._frames.get()
            if frame is None:
                raise HostError(cannot_analyze(self.python, self._output.text()))
            if isinstance(frame, Hello):
                if frame.version != PROTOCOL_VERSION:
                    raise HostError(
                        f"Compile Lens was updated while it was running (its agent uses protocol {frame.version}, not {PROTOCOL_VERSION}): "
                        "restart its server."
                    )
                return replace(frame, import_paths=(*frame.import_paths, *left_out(self._environment.variables)))
            if isinstance(frame, NoTorch):
                if frame.missing:
                    raise HostError(
                        f"{self.python} has no torch. Choose an interpreter that has it, or install torch in this one."
                    )
                if not self._environment.does_without_backends(frame.message):
                    raise HostError(f"{self.python} cannot import torch: {frame.message}")
                await self._end_process()
                await self._spawn()

    async def _read_frames(
        self, stream: asyncio.StreamReader, frames: asyncio.Queue[Frame | None], said: AgentFrames
    ) -> None:
        while data := await stream.read(CHUNK):
            for frame in said.feed(data):
                frames.put_nowait(frame)
        frames.put_nowait(None)

    async def _read_output(self, stream: asyncio.StreamReader) -> None:
        while data := await stream.read(CHUNK):
            self._output.add(data)

    async def run(self, job: Job, on_frame: Callable[[Frame], None]) -> End:
        """Run ``job``; ``on_frame`` gets each frame as it arrives. Canceling the awaiting task cancels the run. Raises HostError."""
        if job.access is Access.NONE:
            raise HostError("Nothing was run: the workspace is not trusted, or you have not allowed background runs.")
        async with (
            self._running,
            self._shares.taken_by(job),
            leased(self._environment.caches) as lease,
        ):
            # below Inductor no compiler is started that could be interrupted, and nothing is kept
            compiles = job.depth is Depth.INDUCTOR or job.search is not None
            lease.in_order = not compiles
            if compiles:
                self._check_caches()
            await earlier_are_gone()
            await self._start(may_replace=True)
            self._said.begin_run(magic := os.urandom(len(MAGIC)))
            self._output.clear()
            failure = FailureSeen(on_frame)
            with scratch_folder() as scratch:
                try:
                    sandbox = sandbox_of(job, scratch, self._environment.variables)
                    caches = caches_of(job, self._environment.variables)
                    trials = str(self._environment.caches / "knowledge")
                    self._overdue = self._is_gone = False
                    self._wake()
                    told = self._environment.completed(job)
                    command = self._packages.add_to(command_of(told, sandbox, magic, trials, caches))
                    self._send(command_line(command))
                    self._kill_in(TRIAL_LIMIT_S + job.timeout_s + GRACE_S, overdue=True)
                    end = await self._follow(failure.take, job)
                except asyncio.CancelledError:
                    await asyncio.shield(self._end_run())
                    raise
                finally:
                    self._run_pid = None
                    self._spare()
                await asyncio.sleep(
                    0
                )  # the last of the output has come through the other pipe by now, or in the next line
                await self._drain_output()
                if (
                    self._is_gone
                    or self._hello is None
                    or not self._hello.forks
                    or self._environment.tells_secrets(job)
                ):
                    # while it lives, a program that is no fork of it writes to the scratch folder
                    await self._end_process()
                elif (load := self._packages.after(command)) is not None:
                    self._send(command_line(load))
            lease.in_order |= end.kind is EndKind.FINISHED
            if compiles and (failure.was_seen or end.kind is not EndKind.FINISHED):
                self._check_caches()  # a disk that is full now is why
            return replace(end, output=self._output.text(), output_bytes=self._output.total)

    async def _follow(self, on_frame: Callable[[Frame], None], job: Job | None) -> End:
        """Read up to the end of the run; without a ``job``, whatever it does."""
        came_back, limits = False, RunLimits(job)
        while True:
            try:
                # a wait with a limit costs more than a frame: only where there is none yet
                waits = self._frames.empty()
                frame = (
                    await asyncio.wait_for(self._frames.get(), limits.patience())
                    if waits
                    else self._frames.get_nowait()
                )
            except TimeoutError:
                if limits.check(self._output.total, self._said.event_bytes):
                    self._end_soon()
                continue
            if frame is None:
                self._is_gone = True
                if self._run_pid is not None:
                    kill_group(self._run_pid)  # its standby is gone, and cannot end it
                if limits.ended is not None:
                    return limits.ended
                return End(EndKind.TIMEOUT if self._overdue else EndKind.LOST)
            if limits.add(frame, self._output.total, self._said.event_bytes):
                self._end_soon()
            if isinstance(frame, RunStarted):
                self._run_pid = frame.pid
                if job is not None:
                    self._kill_in(job.timeout_s + GRACE_S, overdue=True)
            came_back = came_back or isinstance(frame, OF_END)
            if isinstance(frame, RunEnded):
                end = End.told(frame, came_back)
                return limits.ended or end if end.kind is EndKind.CANCELLED else end
            if isinstance(frame, PackagesImported):
                self._packages.hear(frame.packages)
                continue
            on_frame(frame)

    async def _drain_output(self) -> None:
        """Give the output reader the turns it needs for what the run had printed before its end."""
        seen = -1
        while seen != self._output.total:
            seen = self._output.total
            await asyncio.sleep(0.005)

    def _send(self, line: bytes) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError, RuntimeError):
                self._process.stdin.write(line)

    def _end_soon(self) -> None:
        """Have the agent end its run, or end the agent if that takes long."""
        self._send(CANCEL_LINE)
        self._kill_in(CANCEL_S)

    def _kill_in(self, seconds: float, overdue: bool = False) -> None:
        self._spare()
        self._kill = asyncio.get_running_loop().call_later(seconds, self._kill_now, self._process, overdue)

    def _kill_now(self, process: asyncio.subprocess.Process | None, overdue: bool) -> None:
        if process is None or process is not self._process:
            return
        self._overdue = overdue
        if process.returncode is None:
            kill_tree(process.pid)  # its frames end, and with them the run
        else:
            self._frames.put_nowait(None)

    def _spare(self) -> None:
        if self._kill is not None:
            self._kill.cancel()
            self._kill = None

    def _wake(self) -> None:
        """Let an agent go on that somebody has stopped since its last run."""
        if self._process is not None and hasattr(signal, "SIGCONT"):
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGCONT)

    async def _end_run(self) -> None:
        """End the run whose awaiting task was canceled, and read up to its end; a mute agent is ended itself."""
        self._send(CANCEL_LINE)
        try:
            await asyncio.wait_for(self._follow(lambda _: None, None), 1.0)
        except TimeoutError:
            await self._end_process()

    async def close(self) -> None:
        """End the agent and everything that it started, for good: whoever still waits for it starts none."""
        self._is_closed = True
        await self._end_process()
        sweep()
        await self._environment.close()

    async def _end_process(self) -> None:
        process, self._process, self._hello = self._process, None, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()  # the agent ends its run, and itself
        try:
            await asyncio.wait_for(process.wait(), 1.0)
        except TimeoutError:
            kill_tree(process.pid)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        if process.returncode:
            sweep()  # it was killed, and could not put its own things in order
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        self._readers = []
