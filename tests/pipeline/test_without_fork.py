"""An interpreter whose runs cannot be forked: each has a process of its own, and the outcome says as much as elsewhere."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from compile_lens.analysis.outcome import Status
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing is forked there")
# what Triton's compile workers are in torch 2.6: a thread that is there as soon as torch is imported
THREAD = "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
PROGRAM = """\
import torch


@torch.compile
def f(x):
    print("here")
    return x + 1


f(torch.ones(3))
"""


async def test_the_outcome_names_the_torch_and_knows_the_libraries(tmp_path: Path) -> None:
    # of an installer, which the standby imports from
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "sitecustomize.py").write_text(THREAD)
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    host = Host(sys.executable, {**os.environ, "PYTHONPATH": str(tmp_path / "site-packages")})
    try:
        hello = await host.start()
        assert not hello.forks
        outcome = await analyze(host, Job(str(file), timeout_s=240))
    finally:
        await host.close()
    assert outcome.status is Status.OK, outcome.failure
    assert outcome.torch == hello.torch
    assert [finding.code for finding in outcome.findings] == ["GB0059"]
