"""From the finding of a run over a repro of it to the verdict of a bisection: code that fails when it runs, a crash, values that matter."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from repros import job_for

from compile_lens.repro.bisect import Options, bisect
from compile_lens.repro.choose import Wanted
from compile_lens.repro.contract import Criterion
from compile_lens.repro.verdict import Bisection
from compile_lens.repro.write import Request, Written, write_repro
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth

pytestmark = pytest.mark.xdist_group("bisect")

FAILS_WHEN_IT_RUNS = """\
import torch
import torch._inductor.config

torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "runtime_error"


@torch.compile
def f(x):
    return torch.relu(x.sin()).sum()


f(torch.randn(8, 8))
"""
CRASHES = """\
import os
import signal

import torch
from torch._inductor import lowering


def crash(x):
    os.kill(os.getpid(), signal.SIGSEGV)


lowering.lowerings[torch.ops.aten.erf.default] = crash


@torch.compile
def f(x):
    return x.sin().erf() + 1


f(torch.randn(8, 8))
"""
WRONG_FOR_LARGE_VALUES = """\
import torch
from torch._inductor import lowering

right = lowering.lowerings[torch.ops.aten.tanh.default]


def wrong_tanh(x):
    large = lowering.lowerings[torch.ops.aten.gt.Scalar](x, 50.0)
    half = lowering.lowerings[torch.ops.aten.mul.Tensor](right(x), 0.5)
    return lowering.lowerings[torch.ops.aten.where.self](large, half, right(x))


lowering.lowerings[torch.ops.aten.tanh.default] = wrong_tanh


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.zeros(8))

    def forward(self, x):
        return torch.tanh(x * self.scale)


trained = Model()
trained.scale.data.fill_(100.0)
model = torch.compile(trained)
model(torch.ones(8, 8))
"""


def found_cause(folder: Path, program: str, wanted: Wanted) -> tuple[Written, Bisection]:
    """The repro of a finding of ``program``, written and run, and its bisection."""
    file = folder / "program.py"
    file.write_text(program)

    async def both() -> tuple[Written, Bisection]:
        host = Host(sys.executable)
        try:
            request = Request(job_for(file, Depth.INDUCTOR), wanted, folder / "repro.py")
            written = await write_repro(host, request)
            return written, await bisect(host, request.out, Options(ablate=False))
        finally:
            await host.close()

    return asyncio.run(both())


@pytest.mark.parametrize(
    ("program", "wanted", "criterion", "operation"),
    [
        (FAILS_WHEN_IT_RUNS, Wanted(), Criterion.ANY, "relu"),
        (CRASHES, Wanted(finding="crash@9"), Criterion.CRASHES, "erf"),
        (WRONG_FOR_LARGE_VALUES, Wanted(finding="wrong-numbers"), Criterion.DIFFERS, "tanh"),
    ],
    ids=["fails when it runs", "crashes", "depends on values"],
)
def test_the_repro_of_a_finding_leads_to_what_was_planted(
    tmp_path: Path, program: str, wanted: Wanted, criterion: Criterion, operation: str
) -> None:
    written, found = found_cause(tmp_path, program, wanted)
    assert written.finding is not None
    assert written.expected.criterion is criterion
    assert written.reproduces, written.sentence()
    assert (written.data is not None) == (operation == "tanh"), "only this one depends on the values of its weights"
    assert found.verdict is not None, (found.sentence, found.steps[-1:])
    assert (found.verdict.backend, found.verdict.subsystem) == ("inductor", "lowerings")
    assert operation in (found.verdict.debug_info or "")
