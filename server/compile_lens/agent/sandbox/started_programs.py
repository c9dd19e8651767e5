"""Which program an audited call starts, where the kernel does not restrict programs."""

from __future__ import annotations

import os
from typing import Any

from .passed_text import passed_text

# where the event has the program, and where its command line, which is all that Windows gets
STARTS: dict[str, tuple[int, int | None]] = {
    "subprocess.Popen": (0, 1), "os.system": (0, None), "os.exec": (0, None), "os.posix_spawn": (0, None), "os.spawn": (1, None),
    "os.startfile": (0, None), "os.startfile/2": (0, None), "_winapi.CreateProcess": (0, 1),
}  # fmt: skip
# of an event of ours (agent/sandbox/unaudited_calls.py)
ONLY_THE_PROGRAM = (0, None)
# compilers and tools that only look
HARMLESS_PROGRAMS = (
    "python", "c++", "g++", "gcc", "cc", "clang", "clang++", "cl", "ld", "ptxas", "nvcc", "ninja", "xcrun", "sysctl", "uname",
    "where", "which", "ldconfig",
)  # fmt: skip
# of a shell: with these, a command starts more than its first word says
OF_SHELLS = frozenset(";&|<>()$`\\\n\r{}%^!")


def refused_program(event: str, arguments: tuple[Any, ...]) -> str | None:
    """The name of the program that must not be started; None for a harmless one."""
    program_at, line_at = STARTS.get(event, ONLY_THE_PROGRAM)
    command, is_line = arguments[program_at], event == "os.system"
    if command is None and line_at is not None:
        command = arguments[line_at]
        is_line = isinstance(command, (str, bytes))
        command = command if is_line or not command else command[0]
    if isinstance(command, int):
        return f"the program of descriptor {int(command)}"
    text = passed_text(command) if command else ""
    name = os.path.basename(_first_word(text) if is_line else text)
    starts_more = event == "os.system" and not OF_SHELLS.isdisjoint(text)
    return name if starts_more or not is_harmless(name) else None


def _first_word(line: str) -> str:
    line = line.lstrip()
    if line.startswith('"'):  # as a path with blanks is written
        return line[1:].partition('"')[0]
    return line.split(maxsplit=1)[0] if line else ""


def is_harmless(name: str) -> bool:
    """Whether a program of this name may be started."""
    if ".so" in name:
        return False  # `ld-linux-x86-64.so.2` is no linker: it starts any program
    return any(name == known or name.startswith((f"{known}.", f"{known}-", f"{known}3")) for known in HARMLESS_PROGRAMS)
