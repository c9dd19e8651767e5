"""Starts a command of the user's as it is, with torch's trace switched on: no sandbox, no agent, its own terminal and signals."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

TRACE = "TORCH_TRACE"
# what is sent to this process is meant for the program
PASSED_ON = ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGBREAK")
# a terminal sends these to all of its foreground, and so to the program, too
OF_TERMINAL = ("SIGINT", "SIGQUIT", "SIGBREAK")
# what a shell says of a command that it cannot run
NOT_FOUND = 127
NOT_EXECUTABLE = 126
BY_SIGNAL = 128


class LaunchError(Exception):
    """A command cannot be started; its text is one sentence for the user."""

    def __init__(self, sentence: str, code: int) -> None:
        super().__init__(sentence)
        self.code = code


class Launched:
    """A program that runs beside this process."""

    def __init__(self, command: Sequence[str], trace: Path, environment: Mapping[str, str]) -> None:
        """Start ``command``, whose processes write their traces to ``trace``. Raises LaunchError."""
        try:
            self._process = subprocess.Popen(command, env={**environment, TRACE: str(trace)})
        except FileNotFoundError:
            raise LaunchError(f"{command[0]}: command not found.", NOT_FOUND) from None
        except OSError as error:
            hint = f" Run it with `python {command[0]}`." if command[0].endswith(".py") else ""
            raise LaunchError(f"{command[0]} cannot be run: {error.strerror}.{hint}", NOT_EXECUTABLE) from None

    def wait(self, seconds: float) -> bool:
        """Wait for the program's end, so many seconds at most. Returns whether it has ended."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    @property
    def code(self) -> int:
        """The exit code as a shell tells it: 128 and the signal's number for one that a signal has ended."""
        code = self._process.returncode
        return code if code >= 0 else BY_SIGNAL - code

    @contextmanager
    def passing_signals_on(self) -> Iterator[None]:
        """Send the program what is sent to this process, for the block. What is ignored stays ignored."""
        before = {}
        for name in PASSED_ON:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, self._pass_on)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        if signal.Signals(number).name in OF_TERMINAL and _is_in_foreground():
            return
        if self._process.poll() is None:
            self._process.send_signal(number)


def _is_in_foreground() -> bool:
    """Whether a terminal sends its signals to the group of this process."""
    try:
        with open("/dev/tty", "rb") as terminal:  # noqa: PTH123 - a device
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except (OSError, AttributeError):  # no terminal; Windows
        return False
