"""A run that leaves very many names in shared memory has its answer before all of them are deleted."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compile_lens.agent.runtime.protocol import RunEnded
from compile_lens.agent.runtime.shared_files import SharedFiles
from compile_lens.pipeline.run_facts import RunFacts
from compile_lens.workers.job import End, Job

pytestmark = [
    pytest.mark.hostile,
    # others that run beside it put files there, too
    pytest.mark.xdist_group("hostile"),
    pytest.mark.skipif(sys.platform != "linux", reason="shared memory is a folder there"),
]
SHARED = Path("/dev/shm")
NAMES = 300
LIKE_A_LIBRARY = f"psm_compile-lens-{os.getpid()}"


@pytest.fixture
def left() -> Iterator[SharedFiles]:
    """What was there before three hundred names were left."""
    shared = SharedFiles()
    for number in range(NAMES):
        (SHARED / f"{LIKE_A_LIBRARY}-{number}").touch()
    yield shared
    for path in names():
        path.unlink()


def names() -> list[Path]:
    return list(SHARED.glob(f"{LIKE_A_LIBRARY}-*"))


def test_no_more_is_deleted_than_there_is_time_for(left: SharedFiles) -> None:
    ticks = itertools.count()
    assert left.remove_left(100, lambda: float(next(ticks))) > 0
    assert NAMES - 100 <= len(names()) < NAMES
    assert left.remove_left(clock=lambda: 0.0) == 0
    assert names() == []


def test_the_rest_is_told(tmp_path: Path) -> None:
    end = End.told(RunEnded("finished", 0, "", left=12_345), came_back=True)
    notes = RunFacts(is_sandboxed=True).notes(end, Job(str(tmp_path / "train.py")))
    assert notes == (
        "Sandbox: the program left about 12345 files in `/dev/shm`. Deleting them continues until the next run.",
    )
