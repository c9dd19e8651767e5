"""While torch's threads have nothing to do, a run takes no processor; the program's variables are its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from compile_lens.workers.job import Job
from warm_host import WarmHost

# each sum is split between threads, which then wait for the next one
PROGRAM = """
import os, time
import torch
x = torch.zeros(1 << 20)
x.add_(1)
before = time.process_time()
for _ in range(20):
    x.add_(1)
    time.sleep(0.02)
print(time.process_time() - before, torch.get_num_threads(), sorted(name for name in os.environ if "OMP" in name))
"""


@pytest.mark.skipif(
    sys.platform != "linux" or (os.cpu_count() or 1) < 2, reason="one thread computes, or it sleeps already"
)
def test_threads_of_a_run_sleep_between_operations(warm_host: WarmHost, tmp_path: Path) -> None:
    file = tmp_path / "sums.py"
    file.write_text(PROGRAM, encoding="utf-8")
    seconds, threads, variables = warm_host.run(Job(str(file), timeout_s=60.0)).output.split(maxsplit=2)
    assert int(threads) > 1
    # 0.12 s where they spin
    assert float(seconds) < 0.05
    assert variables.strip() == repr(sorted(name for name in os.environ if "OMP" in name))
