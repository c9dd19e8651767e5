"""Runs one job in its own process: sandbox, trace sink, notes and depth first, then the program or search."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import sys
import time
from dataclasses import dataclass
from types import FrameType
from typing import IO

from .. import OWN_FOLDER
from ..instrument.stacks import live_stack
from ..sandbox import inherited_files
from ..sandbox.enter import EnteredSandbox, enter
from ..sandbox.policy import Policy
from ..substitutes.cuda.trial import UNTRIED, TrialResult
from . import device_backends, installed_imports, own_interpreter, precompiled_headers
from .degraded import degraded
from .memory_group import MemoryGroup
from .protocol import (
    CallRefused,
    FilesDiscarded,
    RunCommand,
    SandboxEntered,
    SandboxFailed,
    StackLine,
)
from .task_group import TaskGroup
from .wire import Wire

MAX_NAMES = 5


@dataclass(frozen=True)
class SandboxChoice:
    """The kind of sandbox that this machine offers for a run, and why it is not a stronger one.

    ``alone``: it can have a process namespace, too.
    """

    kind: str = ""
    reason: str = ""
    alone: bool = False


@dataclass(frozen=True)
class Run:
    """What a process is for. ``crash`` takes the stack if the process is killed, or has not ended by ``deadline``.

    ``cuda`` is what a trial of the emulated CUDA device has shown, if there was one. ``headers`` is the folder of headers that the
    standby has precompiled, ``why_no_headers`` why it may not. ``group`` counts the memory of the run, ``tasks`` limits its processes.
    """

    command: RunCommand
    sandbox: SandboxChoice
    cuda: TrialResult = UNTRIED
    deadline: float = 0.0
    crash: IO[bytes] | None = None
    headers: str = ""
    why_no_headers: str = ""
    group: MemoryGroup | None = None
    tasks: TaskGroup | None = None

    def be(self, wire: Wire) -> int:
        """Run the program, or drive the search that is asked for; the exit code."""
        command = self.command
        sys.dont_write_bytecode = True
        # where the user's home and secrets are, the variables of a workspace do not decide
        policy = Policy.read(command.sandbox, self.sandbox.alone) if command.sandbox is not None else None
        os.environ.update(command.env)
        os.environ.setdefault("MPLBACKEND", "Agg")  # a background run opens no window
        try:
            sandbox = self._enter_sandbox(policy, wire) if policy is not None else None
        except OSError as error:
            wire.tell(SandboxFailed(f"{error}"))
            return 1
        device_backends.load_others(installed_imports.restore())
        # the interpreter has looked at it long ago; nothing from there is imported before the sandbox is entered
        entries = command.env.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:0] = [path for path in entries if path and path not in sys.path]
        os.chdir(command.cwd)  # again, now that there is another view of it
        if sandbox is not None and "torch._inductor.codecache" in sys.modules:
            precompiled_headers.keep_private()
            precompiled_headers.share(self.headers)
        if self.why_no_headers:
            degraded("headers that are compiled once for all runs", self.why_no_headers)
        if command.bisect is not None:
            from ..search import bisect_driver

            return bisect_driver.main(command.bisect, wire)
        if command.minify is not None:
            from ..search import minify_driver

            return minify_driver.main(command.minify, wire)
        own = command.own_interpreter
        if own is not None and sandbox is not None and own_interpreter.is_confined(sandbox.kind):
            own_interpreter.become(own, command.file, command.argv)
        if self.crash is not None:
            faulthandler.enable(self.crash)
            # just before the time is up, which began to run before this process did
            faulthandler.dump_traceback_later(max(self.deadline - time.monotonic() - 0.1, 0.01), file=self.crash)
        from . import watched_program  # needs torch, which the standby imports when this module is there

        code = watched_program.run(command, wire, self.cuda)
        if sandbox is not None:
            _tell_what_was_written(sandbox, wire)
        return code

    def _enter_sandbox(self, policy: Policy, wire: Wire) -> EnteredSandbox:
        def tell(what: str, does: str, target: str, frame: FrameType) -> None:
            stack = tuple(StackLine(**line) for line in live_stack(frame, OWN_FOLDER))
            wire.tell(CallRefused(what, does, target, stack))

        counted = self.group is not None
        try:
            if self.group is not None:
                self.group.join()
        except OSError:
            counted = False  # the standby sees that the group is empty, and counts by itself
        with contextlib.suppress(OSError):  # it counts them in any case
            if self.tasks is not None:
                self.tasks.join()
        inherited_files.take_away([wire.descriptor, *([self.crash.fileno()] if self.crash is not None else [])])
        os.mkdir(policy.scratch, 0o700)
        places = [os.path.dirname(self.command.file), self.command.cwd]
        sandbox = enter(policy, self.sandbox.kind, places, tell, counted)
        # what was opened before belongs to the machine: its mode and owner could be changed through it
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        wire.move_to_this_process()
        wire.tell(SandboxEntered(sandbox.kind, self.sandbox.reason, tuple(sandbox.unrestricted)))
        return sandbox


def _tell_what_was_written(sandbox: EnteredSandbox, wire: Wire) -> None:
    try:
        written = sandbox.written()
    except Exception as error:  # the program may have replaced what is needed to look
        degraded("the list of discarded files", error)
        return
    if written:
        wire.tell(FilesDiscarded(tuple(written[:MAX_NAMES]), len(written)))
