"""Graphs that a run for stages takes from torch's cache have the stages that they would have if they were compiled anew."""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compile_lens.pipeline.stage_run import KeptTrace, job_with_stages
from compile_lens.stages.opened import stages_of
from compile_lens.stages.timeline import read_timeline
from compile_lens.workers.access import SandboxOptions
from compile_lens.workers.job import EndKind, Job
from compile_lens.workers.wire import Frame, TraceRecord
from warm_host import WarmHost

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox keeps a cache for each workspace"),
    pytest.mark.xdist_group("kept-stages"),
]

PROGRAM = """\
import torch

FACTOR = 2.0


@torch.compile
def scaled(x):
    return torch.softmax(x * FACTOR, -1)


@torch.compile
def loss(x, weight):
    hidden = x @ weight
    return (torch.nn.functional.layer_norm(hidden, (8,)).relu() * 3).sum()


scaled(torch.ones(4, 8))
loss(torch.ones(4, 8), torch.ones(8, 8, requires_grad=True)).backward()
"""
OFF = {"torch._inductor.config.fx_graph_cache": "False"}
# of a text: the graph of `scaled`, and the two of `loss`
ALL, UNCHANGED, NONE = 3, 2, 0


def changed(old: str, new: str) -> str:
    assert old in PROGRAM
    return PROGRAM.replace(old, new)


@pytest.mark.parametrize(
    "text, hits",
    [
        pytest.param(PROGRAM, ALL, id="the same text"),
        pytest.param(changed("FACTOR = 2.0", "FACTOR = 2.5"), UNCHANGED, id="another function"),
        pytest.param(changed("import torch\n", "import torch\n\n"), NONE, id="other lines", marks=pytest.mark.nightly),
        pytest.param(changed("hidden", "h"), 1, id="another name", marks=pytest.mark.nightly),
        pytest.param(changed("scaled(torch.ones(4, 8))\n", ""), NONE, id="other numbers", marks=pytest.mark.nightly),
    ],
)
def test_stages_from_the_cache_are_those_of_a_compilation(
    warm_host: WarmHost, tmp_path: Path, text: str, hits: int
) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    job = job_with_stages(Job(str(file), timeout_s=600.0, sandbox=SandboxOptions(niceness=0)))
    used, _ = stages(warm_host, job)
    assert used == {"miss": ALL}
    file.write_text(text)
    used, kept = stages(warm_host, job)
    assert used["hit"] == hits
    assert kept == stages(warm_host, replace(job, torch_options=OFF))[1]


def stages(warm_host: WarmHost, job: Job) -> tuple[Counter[str], list[Any]]:
    """How often the cache had a graph, and all that is told of graphs, without what is another one in each run."""
    trace = KeptTrace()

    def take(frame: Frame) -> None:
        if isinstance(frame, TraceRecord):
            trace.add(frame.data)

    end = warm_host.wait_for(warm_host.shared().run(job, take))
    assert end.kind is EndKind.FINISHED, end
    data = trace.bytes()
    found = [
        (
            graph.id,
            {stage.id: same_in_each_run(stage.text) for stage in graph.stages if not stage.id.endswith("/passes")},
            [replace(kernel, call=same_in_each_run(kernel.call)) for kernel in graph.kernels],
            [same_in_each_run(repr(pair)) for pair in graph.not_fused],
            [(one.name, one.is_changed) for phase in graph.phases for one in phase.passes],
        )
        for graph in stages_of(data, lambda _: None).graphs
    ]
    return Counter(use.result for use in read_timeline(data).caches), found


def same_in_each_run(text: str) -> str:
    """Without addresses and times; torch goes on counting kernels from the graph that it compiled before."""
    return re.sub(r"graph id: \d+|\d+\.\d+ us|\b\d{9,}\b|0x[0-9a-f]+|(?<=[a-z0-9_]):\d+\b", "", text)
