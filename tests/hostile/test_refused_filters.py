"""Where the kernel has no room for the filter of system calls, nothing is run; where it has no filters, that is told.

Nothing here uses anything up: the kernel's answer is put in the place of the call.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sandbox_kinds import skip_unless_offered

from compile_lens.agent.sandbox import syscall_filter

pytestmark = [pytest.mark.hostile, pytest.mark.skipif(sys.platform != "linux", reason="the kinds are those of Linux")]
# enters a sandbox where the kernel answers filters so: a number for one that is there to read, another for one that is nowhere
ENTERS = """\
import os, sys, tempfile
from compile_lens.agent.sandbox import kernel
from compile_lens.agent.sandbox.enter import enter
from compile_lens.agent.sandbox.policy import Policy

kind, scratch, place, refusal, asked = sys.argv[1:]
tempfile.gettempdir()  # as the standby has asked
call = kernel.system_call

def answered(number, *arguments):
    if number in kernel.SECCOMP.values():
        answer = int(asked) if arguments[-1] is None else int(refusal)
        if answer:
            raise OSError(answer, os.strerror(answer))
    return call(number, *arguments)

kernel.system_call = answered
try:
    entered = enter(Policy(kind, scratch, (), (), False, False, 0, 1 << 24, 0, 0), kind, [place], lambda *_: None)
    print("system calls" in entered.unrestricted)
except OSError as error:
    print(error)
"""
NO_ROOM, NOT_SUPPORTED, NO_SUCH_CALL, NOT_HERE, ANOTHER = 12, 524, 38, 1, 16
NOTHING_TO_READ = 14
FULL = "the kernel has no memory left for the seccomp filter; end programs that install many filters, or raise `net.core.bpf_jit_limit`"


def entering(kind: str, folder: Path, refusal: int, asked: int) -> str:
    skip_unless_offered(kind)
    (folder / "scratch").mkdir()
    (folder / "place").mkdir()
    arguments = (kind, str(folder / "scratch"), str(folder / "place"), str(refusal), str(asked))
    ran = subprocess.run([sys.executable, "-c", ENTERS, *arguments], capture_output=True, text=True, env=os.environ)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


@pytest.mark.parametrize(
    ("kind", "refusal", "said"),
    [
        ("overlay", NOT_SUPPORTED, FULL),
        ("landlock", NO_ROOM, FULL),
        ("landlock", ANOTHER, f"the kernel refused the seccomp filter: {os.strerror(ANOTHER)}"),
    ],
)
def test_nothing_is_run_where_the_kernel_refuses_the_filter(kind: str, refusal: int, said: str, tmp_path: Path) -> None:
    assert entering(kind, tmp_path, refusal, NOTHING_TO_READ) == said


@pytest.mark.parametrize("asked", [NO_SUCH_CALL, NOT_HERE])
def test_a_kernel_without_filters_is_told(asked: int, tmp_path: Path) -> None:
    assert entering("landlock", tmp_path, asked, asked) == "True"


def test_to_ask_installs_none() -> None:
    before = filters_of_this_process()
    syscall_filter.is_offered()
    assert filters_of_this_process() == before


def filters_of_this_process() -> list[str]:
    return [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("Seccomp")]
