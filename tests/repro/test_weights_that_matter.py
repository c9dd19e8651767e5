"""A finding that depends on the values of weights: its repro and its cause. Other findings are in ``test_bisect.py``."""

from __future__ import annotations

from pathlib import Path

import pytest
from repros import job_for

from compile_lens.repro.bisect import BisectOptions, bisect
from compile_lens.repro.contract import Criterion
from compile_lens.repro.selection import Selection
from compile_lens.repro.verdict import Bisection
from compile_lens.repro.write import Request, Written, write_repro
from compile_lens.workers.job import Depth
from warm_host import WarmHost

pytestmark = [pytest.mark.searches, pytest.mark.xdist_group("bisect")]

# in a decomposition, so that the steps of the search need no C++ compiler
WRONG_FOR_LARGE_VALUES = """\
import torch
from torch._inductor import decomposition


def wrong_addcmul(self, tensor1, tensor2, *, value=1):
    product = tensor1 * tensor2 * value
    return self + torch.where(product > 50.0, product * 0.5, product)


decomposition.decompositions[torch.ops.aten.addcmul.default] = wrong_addcmul


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.zeros(8))

    def forward(self, x):
        return torch.addcmul(x, x, self.scale)


trained = Model()
trained.scale.data.fill_(100.0)
model = torch.compile(trained)
model(torch.ones(8, 8))
"""


@pytest.mark.nightly
def test_a_repro_whose_failure_depends_on_weights_has_them_beside_it_and_leads_to_the_cause(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    program, repro = tmp_path / "program.py", tmp_path / "repro.py"
    program.write_text(WRONG_FOR_LARGE_VALUES)

    request = Request(job_for(program, Depth.INDUCTOR), Selection(finding="wrong-numbers"), repro)
    written: Written = warm_host.wait_for(write_repro(warm_host.shared(), request))
    assert written.finding is not None
    assert written.expected.criterion is Criterion.DIFFERS
    assert written.reproduces, written.sentence()
    assert written.data is not None

    found: Bisection = warm_host.wait_for(bisect(warm_host.shared(), written.file, BisectOptions(ablate=False)))
    assert found.verdict is not None, (found.sentence, found.steps[-1:])
    assert (found.verdict.backend, found.verdict.subsystem) == (
        "aot_eager_decomp_partition",
        "decomposition",
    )
    assert "addcmul" in (found.verdict.debug_info or "")
    assert any("RMS error against float64" in step.output for step in found.steps)
