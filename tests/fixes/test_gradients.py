"""A fix that changes gradients outside compiled regions changes results: what a backward leaves, compared in two runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.fixes.gradients import differing_gradients
from compile_lens.fixes.results import compare_results
from compile_lens.fixes.verify import Verifier
from compile_lens.pipeline.analyze import analyze
from compile_lens.trace.region_results import RegionResult, ResultValue
from compile_lens.workers.job import Job
from warm_host import WarmHost

# neither module is compiled, and no call of the region shows their gradients
OUTSIDE = """\
import torch

encoder = torch.nn.Linear(3, 4)
head = torch.nn.Linear(4, 2)


@torch.compile
def f(h):
    scale = h.abs().max().item()
    return head(h) * scale


loss = f(encoder(torch.ones(2, 3))).sum()
loss.backward()
(more,) = torch.autograd.grad(f(encoder(torch.ones(2, 3))).sum(), encoder.bias)
"""


def gradient(*numbers: float, shape: tuple[int, ...] = (2,), dtype: str = "torch.float32") -> ResultValue:
    return ResultValue("gradient", dtype=dtype, shape=shape, numbers=numbers)


def test_a_fix_that_changes_a_gradient_outside_regions_changes_results(warm_host: WarmHost, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(OUTSIDE)
    job = Job(str(file), text=OUTSIDE, timeout_s=60.0)
    verifier = Verifier(analyze, job, OUTSIDE, warm_host.run(job))

    def told(text: str) -> str:
        return warm_host.wait_for(verifier.effect_of_text(warm_host.shared(), text)).results.words()

    assert told(OUTSIDE.replace(".item()", ".detach()")).startswith("results equal")
    differs = "results differ: a gradient of backward 1: float32[4, 3] differs"
    assert told(OUTSIDE.replace(".item()", "")) == differs
    doubled = OUTSIDE.replace(".item()", ".detach()").replace(".sum(), encoder", ".sum() * 2, encoder")
    assert told(doubled) == "results differ: a gradient of backward 2: float32[4] differs"


def test_a_graph_that_is_lowered_for_its_float_draws_as_eager_does(warm_host: WarmHost, tmp_path: Path) -> None:
    text = (
        "import torch\n\n\n@torch.compile\ndef f(x, scale):\n    return torch.dropout(x, 0.5, True).sum() * scale\n\n\n"
        "for scale in (1.0, 2.0, 3.0):\n    f(torch.rand(8, requires_grad=True), scale).backward()\n"
    )
    file = tmp_path / "program.py"
    file.write_text(text)
    job = Job(str(file), text=text, timeout_s=60.0)
    verifier = Verifier(analyze, job, text, warm_host.run(job))
    dynamic = text.replace("@torch.compile", "@torch.compile(dynamic=True)")
    effect = warm_host.wait_for(verifier.effect_of_text(warm_host.shared(), dynamic))
    assert (effect.results.equal, effect.after.recompiles < effect.before.recompiles) == (True, True), effect


def test_each_gradient_has_a_counterpart_in_any_order() -> None:
    one, other = gradient(1.0, 0.5, 0.25), gradient(2.0, -0.5, 0.5)
    assert differing_gradients([one, other], [other, one]) == ""
    assert differing_gradients([one, other], [other, gradient(1.00001, 0.5, 0.25)]) == ""
    assert differing_gradients([one], [gradient(1.0, -0.5, 0.25)]) == "float32[2] differs"
    assert differing_gradients([one], []) == "float32[2] is missing"
    assert differing_gradients([one], [one, other]) == "float32[2] is new"
    assert differing_gradients([one], [gradient(1.0, 0.5, 0.25, dtype="torch.float64")]) == "float32[2] is missing"


@pytest.mark.parametrize("noise", [[], [gradient(3e-6, -1e-6, 2e-6)]])
def test_rounding_where_a_gradient_is_zero_is_no_difference(noise: list[ResultValue]) -> None:
    large = gradient(10.0, 1.0, 1.0)
    assert differing_gradients([large, gradient(1e-6, 1e-6, 0.0)], [large, *noise]) == ""


def test_a_gradient_that_is_no_number_any_more_differs() -> None:
    nan = float("nan")
    lost = gradient(nan, nan, nan)
    assert differing_gradients([gradient(1.0, 0.5, 0.25)], [lost]) == "float32[2] differs"
    assert differing_gradients([lost], [lost]) == ""
    assert differing_gradients([], [lost]) == "float32[2] is new"


def test_a_backward_that_moves_is_not_called_equal() -> None:
    call, end = RegionResult("f", (), ()), RegionResult("", (), ())
    backward = RegionResult("", (gradient(1.0, 0.5, 0.25),), (), is_backward=True)
    assert compare_results([backward, call, end], [call, backward, end]).equal
    assert (
        compare_results([call, backward, end], [call, end]).words() == "results not compared: backward runs elsewhere"
    )
