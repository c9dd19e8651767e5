"""A graph that torch takes from its cache is shown at the lines of the text that is run, not of the one that put it there."""

from __future__ import annotations

from pathlib import Path

from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, Job
from warm_host import WarmHost

PROGRAM = """\
import torch


@torch.compile
def f(x):
    a = torch.linalg.eigvals(x)
    return torch.linalg.eigvals(a.real.outer(a.real))


f(torch.ones(4, 4))
"""


def test_lines_are_those_of_this_run(tmp_path: Path, warm_host: WarmHost) -> None:
    first, copy = tmp_path / "first.py", tmp_path / "copy.py"

    async def lines(host: Host, file: Path, text: str) -> list[tuple[str, int]]:
        outcome = await analyze(host, Job(str(file), Depth.INDUCTOR, text, timeout_s=300.0))
        found = [finding.place for finding in outcome.findings if finding.code == "fallback-op"]
        return [(place.file, place.line) for place in found]

    async def run_them() -> None:
        host = warm_host.shared()
        try:
            assert await lines(host, first, PROGRAM) == [(str(first), 6), (str(first), 7)]
            moved = f"# a line more\n{PROGRAM}"
            assert await lines(host, first, moved) == [(str(first), 7), (str(first), 8)]
            assert await lines(host, copy, moved) == [(str(copy), 7), (str(copy), 8)]
            # the same graph of another text: what is left to say is the function
            written_otherwise = PROGRAM.replace("a = torch", "a  =  torch")
            assert (str(first), 4) in await lines(host, first, written_otherwise)
        finally:
            await host.close()

    warm_host.wait_for(run_them())
