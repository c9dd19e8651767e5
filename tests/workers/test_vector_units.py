"""What one run was shown about the processor's vector units, the next is not shown again; what it was not shown, torch tries itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# each trial in a process of its own, as runs are; prints its answer, and whether torch started a Python for it
PROGRAM = """
import os, subprocess, sys
import torch
from torch._inductor import cpu_vec_isa
from compile_lens.agent.runtime import vector_units

WORKS, FAILS = 'extern "C" int one() { return 1; }', "this is no C++"
cache = sys.argv[1]
started = []
original = subprocess.Popen.__init__
def counting(self, args, *rest, **others):
    started.append(args)
    original(self, args, *rest, **others)
subprocess.Popen.__init__ = counting

def trial(first, code, unit):
    if os.fork():
        assert os.wait()[1] == 0
        return
    first(cache)
    works = unit().check_build(code)
    print(works, any(sys.executable in args for args in started), flush=True)
    os._exit(0)

trial(vector_units.recall, WORKS, cpu_vec_isa.VecAVX2)
trial(vector_units.record, FAILS, cpu_vec_isa.VecAVX2)
trial(vector_units.record, WORKS, cpu_vec_isa.VecAVX2)
trial(vector_units.recall, WORKS, cpu_vec_isa.VecAVX2)
trial(vector_units.recall, WORKS, cpu_vec_isa.VecAVX512)
trial(vector_units.recall, FAILS, cpu_vec_isa.VecAVX2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="loads a library of Linux")
def test_a_unit_that_works_is_tried_once(tmp_path: Path) -> None:
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor")}
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == [
        "True True",  # nothing was recorded before
        "False False",  # a failure is not recorded
        "True True",
        "True False",
        "True True",  # other flags, another trial
        "False False",
    ]
