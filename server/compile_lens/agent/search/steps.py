"""Starts the steps of a search, each in a process of its own, and collects how they end.

On Linux a step is a forked child of the driver, which has torch imported; elsewhere, or where a GPU was touched, it is a fresh process.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import faulthandler
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

from .. import OWN_FOLDER
from ..runtime import processes
from . import step_warmup
from .step import run_step
from .step_setup import StepSetup

BOOT = os.path.join(OWN_FOLDER, "boot.py")
OUTPUT_KEPT = 8_000
POLL_S = 0.01


@dataclasses.dataclass
class StepResult:
    """How a step ended: exit code or signal; ``timeout`` if it was killed. ``output`` is the tail of what it printed."""

    code: int
    signal: int
    timeout: bool
    seconds: float
    output: str
    crash_stack: str

    @property
    def good(self) -> bool:
        return self.code == 0 and not self.signal and not self.timeout


@dataclasses.dataclass
class RunningStep:
    """A forked step. ``memory`` is its peak in bytes, once it has ended."""

    pid: int
    prefix: str
    started: float
    result: StepResult | None = None
    memory: int = 0


class Steps:
    """Runs steps. ``forks``: as children of this process, several at once if asked to; otherwise as fresh processes."""

    def __init__(self, scratch: str, limit_s: float, forks: bool) -> None:
        self.scratch = scratch
        self.limit_s = limit_s
        self.forks = forks
        self.protected: set[int] = set()
        self._number = 0

    def run(self, setup: StepSetup) -> StepResult:
        """Run one step until it ends or exceeds its time limit; no process that it started is left."""
        if self.forks:
            return self.wait(self.start(lambda: run_step(setup)))
        self._number += 1
        prefix = os.path.join(self.scratch, f"step-{self._number}")
        started = time.monotonic()
        with open(f"{prefix}.out", "wb") as output:
            how = self._spawn(setup, prefix, output.fileno())
        return _result(prefix, started, *how)

    def start(self, body: Callable[[], int]) -> RunningStep:
        """Fork a step that exits with the code that ``body`` returns."""
        self._number += 1
        prefix = os.path.join(self.scratch, f"step-{self._number}")
        started = time.monotonic()
        with open(f"{prefix}.out", "wb") as output, open(f"{prefix}.crash", "wb") as crash:
            pid = self._fork(body, output.fileno(), crash.fileno())
        self.protected.add(pid)
        return RunningStep(pid, prefix, started)

    def wait(self, running: RunningStep, meanwhile: Callable[[], None] = lambda: None) -> StepResult:
        """Wait until it ends or exceeds its time limit. ``meanwhile`` is called repeatedly."""
        while True:
            result = self.poll(running)
            if result is not None:
                return result
            meanwhile()
            time.sleep(POLL_S)

    def poll(self, running: RunningStep) -> StepResult | None:
        """How it ended, or None while it runs; a step over its time limit is killed."""
        if running.result is None:
            found, status, usage = os.wait4(running.pid, os.WNOHANG)
            late = time.monotonic() - running.started > self.limit_s
            if found or late:
                self.kill(running)
                code, signal = (0, 0) if not found else _code_and_signal(status)
                running.result = _result(running.prefix, running.started, code, signal, not found)
                running.memory = usage.ru_maxrss << 10
        return running.result

    def kill(self, *running: RunningStep) -> None:
        """Kill steps, with every process that they started."""
        self.protected -= {one.pid for one in running}
        processes.end_orphans(2.0, self.protected)

    def _fork(self, body: Callable[[], int], output: int, crash: int) -> int:
        sys.stdout.flush()
        sys.stderr.flush()
        pid = processes.fork()
        if pid:
            return pid
        code = 1
        try:
            step_warmup.restore_threads()
            atexit._clear()  # exit handlers belong to the driver, among them the bisector's clean-up
            os.dup2(output, 1)
            os.dup2(output, 2)
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
            faulthandler.enable(crash)
            code = body()
        finally:
            os._exit(code & 0xFF)

    def _spawn(self, setup: StepSetup, prefix: str, output: int) -> tuple[int, int, bool]:
        with open(f"{prefix}.json", "w", encoding="utf-8") as file:
            json.dump(dataclasses.asdict(setup), file)
        command = [sys.executable, BOOT, "step", f"{prefix}.json"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        self.protected.discard(process.pid)
        try:
            code = process.wait(self.limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return 0, 0, True
        finally:
            processes.end_orphans(2.0, self.protected)
        return (0, -code, False) if code < 0 else (code, 0, False)


def _code_and_signal(status: int) -> tuple[int, int]:
    return (0, os.WTERMSIG(status)) if os.WIFSIGNALED(status) else (os.WEXITSTATUS(status), 0)


def _result(prefix: str, started: float, code: int, signal: int, timeout: bool) -> StepResult:
    seconds = time.monotonic() - started
    result = StepResult(code, signal, timeout, seconds, _tail(f"{prefix}.out"), _tail(f"{prefix}.crash"))
    for name in (f"{prefix}.out", f"{prefix}.crash", f"{prefix}.json"):
        with contextlib.suppress(OSError):
            os.remove(name)
    return result


def _tail(name: str) -> str:
    try:
        with open(name, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - OUTPUT_KEPT))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
