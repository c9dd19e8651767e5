"""Which kinds of sandbox this machine offers: a container may have neither namespaces nor Landlock."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

import pytest

ASK = """\
import sys
from compile_lens.agent.sandbox.choice import choose
chosen = choose(sys.argv[1], [])
print(chosen.kind, chosen.reason, sep="\\n")
"""
# an interpreter for which the kernel has less: as in a container
POOR = """\
#!{python}
import os, sys
from compile_lens.agent.sandbox import kernel, syscall_filter
syscall_filter.REFUSED, syscall_filter.UNAVAILABLE = {refused}, {{}}
kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
syscall_filter.Filter(True, False, True, True, True, 0).install()
os.execv({python!r}, [{python!r}, *sys.argv[1:]])
"""
NAMESPACES = {"unshare": (272, 97), "mount": (165, 40)}
LANDLOCK = {"landlock_create_ruleset": (444, 444)}


@functools.cache
def offered(kind: str) -> tuple[str, str]:
    """The kind that is in force where ``kind`` is asked for, and why it is not that one."""
    # forks: in a process of its own, which has one thread
    said = subprocess.run([sys.executable, "-c", ASK, kind], check=True, capture_output=True, text=True)
    in_force, _, reason = said.stdout.partition("\n")
    return in_force, reason.strip()


def skip_unless_offered(kind: str) -> None:
    """Skip the test where this machine does not offer ``kind``."""
    in_force, reason = offered(kind)
    if in_force != kind:
        pytest.skip(f"no sandbox of the kind {kind} here: {reason}")


def poor_interpreter(folder: Path, refused: dict[str, tuple[int, int]]) -> str:
    """This interpreter where the kernel refuses these system calls: the path of a script that is it."""
    script = folder / "python"
    script.write_text(POOR.format(python=sys.executable, refused=refused))
    script.chmod(0o755)
    return str(script)
