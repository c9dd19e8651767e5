"""What the product finds is what torch says: every fixture, corpus program and example against a plain run of torch in another process.

The other side, ``benchmarks/plain_torch``, hooks Dynamo directly and never sees a trace.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from benchmarks.plain_torch.process import PlainTorch, recompiles_of

from compile_lens.analysis.finding import Kind
from compile_lens.analysis.outcome import Status
from compile_lens.workers.job import Depth
from fixture_notation import depth_of, is_compared
from plain_torch_process import breaks_of
from warm_host import WarmHost, one_worker_each

HERE = Path(__file__).parent
FOLDERS = (HERE / "fixtures", HERE / "corpus" / "graph_breaks", HERE / "corpus" / "programs", HERE.parent / "examples")
# torch counts the lines behind a break wrongly there, and the agent mends that (agent/instrument/resume_lines.py)
WRONG_LINES = {"break_behind_chain"}
# a plain torch has nothing that stands in for a GPU, or for other processes
PROGRAMS = [
    f
    for folder in FOLDERS
    for f in sorted(folder.glob("[!_]*.py"))
    if not f.stem.startswith("stand_in_") and f.stem not in WRONG_LINES
]


@pytest.mark.parametrize("file", one_worker_each(PROGRAMS))
def test_breaks_and_recompiles_are_those_of_torch(file: Path, warm_host: WarmHost, plain_torch: PlainTorch) -> None:
    text = file.read_text(encoding="utf-8")
    depth = Depth(depth_of(text))
    ours = warm_host.analyze(file, depth, is_compared(text))  # a comparison changes neither
    torchs = plain_torch.run(file)
    assert breaks_of(ours) == torchs.breaks
    assert recompiles_of(ours.report) == torchs.recompiles
    found = [finding for finding in ours.outcome.findings if finding.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT)]
    in_findings = Counter(compile_id for finding in found for compile_id in finding.frames)
    assert in_findings == Counter(compile_id for compile_id, *_ in torchs.recompiles)
    assert any(finding.kind is Kind.RECOMPILE_LIMIT for finding in found) == torchs.hit_limit
    # the other side stops after Dynamo, and does not get to what fails later
    if depth is Depth.DYNAMO:
        assert (ours.outcome.status is Status.RAISED) == bool(torchs.raised)
