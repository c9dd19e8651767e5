"""Lets the C++ compiler write its output to a temporary name first.

Inductor lets the compiler write under the file's final name and assumes that a file of that name is complete
(torch/_inductor/codecache.py, ``_worker_compile_cpp``, torch 2.6 to 2.13). A process killed while it compiles would leave half a library
to the next one.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Callable, Iterator
from typing import Any

from ..torch_internals.inductor import RUN_COMPILER


def install(scratch: str) -> None:
    """Let compilers started by this process write to ``scratch`` first."""
    RUN_COMPILER.wrap(lambda original: _atomic(original, scratch))


@contextlib.contextmanager
def installed(scratch: str) -> Iterator[None]:
    """The same within the block, with a folder that is made."""
    os.makedirs(scratch, exist_ok=True)
    before = RUN_COMPILER.get()
    install(scratch)
    try:
        yield
    finally:
        if before is not None:
            RUN_COMPILER.set(before)


def _atomic(original: Callable[[str, str], Any], scratch: str) -> Callable[[str, str], Any]:
    def compile_atomically(cmd_line: str, cwd: str) -> Any:
        words = shlex.split(cmd_line)
        if words.count("-o") != 1 or words[-1] == "-o":
            return original(cmd_line, cwd)
        at = words.index("-o") + 1
        target = words[at]
        words[at] = os.path.join(scratch, f"{os.getpid()}-{os.path.basename(target)}")
        if os.stat(scratch).st_dev != os.stat(os.path.dirname(target)).st_dev:
            return original(cmd_line, cwd)  # a rename cannot cross file systems
        try:
            result = original(shlex.join(words), cwd)
            os.replace(words[at], target)
            return result
        finally:
            with contextlib.suppress(OSError):
                os.remove(words[at])

    return compile_atomically
