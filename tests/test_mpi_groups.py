"""A program that starts MPI, which says the rank and the size itself: here it is one process, or what the launcher's variables say."""

from __future__ import annotations

from pathlib import Path

from compile_lens.analysis.outcome import Status
from compile_lens.workers.job import Job
from warm_host import WarmHost

PROGRAM = """\
import os
import torch.distributed as dist

os.environ.update(NEEDED)
dist.init_process_group("mpi")
print(dist.get_rank(), dist.get_world_size(), dist.get_backend())
"""


def _output(host: WarmHost, folder: Path, variables: dict[str, str]) -> str:
    file = folder / "program.py"
    file.write_text(PROGRAM.replace("NEEDED", repr(variables)), encoding="utf-8")
    outcome = host.run(Job(str(file)))
    assert outcome.status is Status.OK, outcome.findings
    return outcome.output


def test_it_is_a_group_of_one_or_what_the_launcher_says(warm_host: WarmHost, tmp_path: Path) -> None:
    assert _output(warm_host, tmp_path, {}) == "0 1 mpi\n"
    assert _output(warm_host, tmp_path, {"RANK": "1", "WORLD_SIZE": "4"}) == "1 4 mpi\n"
