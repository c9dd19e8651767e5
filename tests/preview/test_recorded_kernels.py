"""Whole programs that were recorded on an H100 (torch 2.11, CUDA 13.0) have the same kernels when they are previewed without it.

``PREVIEW_PYTHON_FOR_TESTS`` names an interpreter with torch 2.11, built for CUDA, and its triton.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.preview.kernel_hashes import kernel_hashes

from compile_lens.knowledge.devices import find_device
from compile_lens.pipeline.gpu_preview import preview_job
from compile_lens.stages.gpu_preview import Certainty, preview_of
from compile_lens.workers.job import Job
from warm_host import WarmHost

PROGRAMS = Path(__file__).parent.parent / "data" / "gpu-preview"
PYTHON = os.environ.get("PREVIEW_PYTHON_FOR_TESTS", "")
# the program never calls the backward of this graph
NOT_CALLED = {"flex_masks": {"triton_tem_fused_flex_attention_backward_1"}}

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.xdist_group("gpu-preview-recorded"),
    pytest.mark.skipif(not PYTHON, reason="PREVIEW_PYTHON_FOR_TESTS names no interpreter with torch 2.11"),
]


@pytest.fixture(scope="module")
def host_2_11() -> Iterator[WarmHost]:
    host = WarmHost(python=PYTHON)
    yield host
    host.close()


@pytest.mark.parametrize("file", sorted(PROGRAMS.glob("*.py")), ids=lambda file: file.stem)
def test_a_program_has_the_kernels_that_it_had_on_the_gpu(host_2_11: WarmHost, file: Path) -> None:
    outcome, report = host_2_11.run_with_report(preview_job(Job(str(file), timeout_s=600), find_device("h100")))
    assert not outcome.failure
    preview = preview_of(report)
    assert preview is not None
    assert not [decision.why for decision in preview.decisions if decision.what == "failed"]
    recorded = set(json.loads(file.with_suffix(".json").read_text()))
    found = kernel_hashes(report)
    if any(kernel.certainty is Certainty.GPU_DECIDES for kernel in preview.kernels):
        assert any(decision.what == "max-autotune" and decision.others for decision in preview.decisions)
        return
    more = {one for one in found - recorded if one.split()[0] not in NOT_CALLED.get(file.stem, ())}
    assert (recorded - found, more) == (set(), set())
