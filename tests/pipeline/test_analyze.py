"""An analysis as it goes on: what is told while the program still runs, and that nothing is told afterwards."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.pipeline.analyze import analyse
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job

BREAKS_AND_GOES_ON = """\
import time, torch

@torch.compile
def f(x):
    print("a")
    return x + 1

f(torch.ones(2))
while True:
    time.sleep(0.01)
"""


async def test_findings_come_while_the_program_runs_on(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(BREAKS_AND_GOES_ON)
    host = Host(sys.executable)
    partials: asyncio.Queue[Outcome] = asyncio.Queue()
    running = asyncio.create_task(analyse(host, Job(str(file), timeout_s=100.0), partials.put_nowait))
    try:
        while True:
            partial = await asyncio.wait_for(partials.get(), 60.0)
            assert not partial.final
            if partial.graphs == 1:  # the last thing that the program compiles
                break
        assert [finding.code for finding in partial.findings] == ["GB0059"]
        assert not running.done()
        await host.cancel()
        outcome = await running
    finally:
        await host.close()
    assert (outcome.status, outcome.final) == (Status.KILLED, True)
    assert [finding.code for finding in outcome.findings] == ["GB0059"]
