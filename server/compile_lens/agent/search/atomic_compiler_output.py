"""What the C++ compiler of a step makes is there whole, or not at all.

Inductor lets the compiler write under the file's final name and takes a file of that name for whole (torch/_inductor/codecache.py,
``_worker_compile_cpp``, torch 2.6 to 2.13), so a step that is ended while it compiles would leave half a library to the next one.
"""

from __future__ import annotations

import contextlib
import os
import shlex
from typing import Any


def write_whole(scratch: str) -> None:
    """Let compilers of this process write to ``scratch`` first. Does nothing where this torch compiles in another way."""
    from torch._inductor import cpp_builder

    module: Any = cpp_builder
    original = getattr(module, "run_compile_cmd", None)
    if original is None:
        return

    def compile_whole(cmd_line: str, cwd: str) -> Any:
        words = shlex.split(cmd_line)
        if words.count("-o") != 1 or words[-1] == "-o":
            return original(cmd_line, cwd)
        at = words.index("-o") + 1
        target = words[at]
        words[at] = os.path.join(scratch, f"{os.getpid()}-{os.path.basename(target)}")
        if os.stat(scratch).st_dev != os.stat(os.path.dirname(target)).st_dev:
            return original(cmd_line, cwd)  # cannot be renamed
        try:
            said = original(shlex.join(words), cwd)
            os.replace(words[at], target)
            return said
        finally:
            with contextlib.suppress(OSError):
                os.remove(words[at])

    module.run_compile_cmd = compile_whole
