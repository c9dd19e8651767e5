"""How long a run takes is told without what it waited for processors that other programs had."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from compile_lens.workers.access import Access
from compile_lens.workers.host import Host
from compile_lens.workers.job import EndKind, Job

pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="this kernel does not say")

ON_ONE_PROCESSOR = """
import os, time
os.sched_setaffinity(0, {%d})
"""
WORKS = ON_ONE_PROCESSOR + "while time.process_time() < 0.5: pass\n"
OTHERS = 3


@pytest.fixture
def busy_processor() -> Iterator[int]:
    """A processor that other programs use all the time."""
    processor = min(os.sched_getaffinity(0))
    text = ON_ONE_PROCESSOR % processor + "print(flush=True)\nwhile True: pass"
    others = [subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE) for _ in range(OTHERS)]
    for other in others:
        assert other.stdout is not None
        other.stdout.readline()  # it works from here on
    yield processor
    for other in others:
        other.kill()
        other.communicate()


@pytest.mark.parametrize("access", [Access.FULL, Access.SANDBOXED])
async def test_what_a_run_waits_for_a_processor_is_not_its_own(
    tmp_path: Path, busy_processor: int, access: Access
) -> None:
    file = tmp_path / "train.py"
    file.write_text(WORKS % busy_processor)
    host = Host(sys.executable)
    try:
        await host.start()
        started = time.monotonic()
        end = await host.run(Job(str(file), access=access), lambda _: None)
        took_s = time.monotonic() - started
    finally:
        await host.close()
    assert end.kind is EndKind.FINISHED
    assert 0.0 < end.ran_s < 0.7 * took_s
