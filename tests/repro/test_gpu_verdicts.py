"""Bisections that were recorded on a GPU (``record_gpu_verdicts.py``): verdicts, steps and kernels of bugs planted in Triton code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from record_gpu_verdicts import GPU_BUGS

from compile_lens.knowledge.lookup import Knowledge
from compile_lens.repro.bisect_document import document
from compile_lens.repro.verdict import BisectionStatus, from_json

RECORD = json.loads((Path(__file__).parent.parent / "data" / "bisect-gpu" / "bisect_gpu.json").read_text())
BUGS: dict[str, dict[str, Any]] = RECORD["bugs"]


def test_every_bug_that_can_be_planted_there_was_recorded() -> None:
    assert list(BUGS) == list(GPU_BUGS)


@pytest.mark.parametrize("name", BUGS)
def test_the_verdict_is_what_was_planted_and_torchs_own(name: str) -> None:
    bug = BUGS[name]
    found = from_json(json.dumps(bug["ours"]))
    backend, subsystem, info = bug["wanted"]
    assert found.status is BisectionStatus.FOUND and found.verdict is not None
    assert (found.verdict.backend, found.verdict.subsystem) == (backend, subsystem)
    assert info is None or info in (found.verdict.debug_info or "")
    if stock := bug["stock"].get("result"):
        assert stock == {
            "backend": found.verdict.backend,
            "subsystem": found.verdict.subsystem,
            "bisect_number": found.verdict.number,
            "debug_info": found.verdict.debug_info,
        }
    if bug["line"]:
        assert bug["line"] in [line.text for line in found.source]


def test_steps_were_forked_and_a_gpu_that_an_assertion_stopped_spoiled_one_of_them_only() -> None:
    assert all(bug["ours"]["forked"] for bug in BUGS.values())
    stopped = BUGS["triton-relu-runtime-error"]
    # torch's own search in one process does not survive it
    assert "device-side assert" in stopped["stock"]["error"]
    assert [step["good"] for step in stopped["ours"]["steps"]].count(True) > 1


@pytest.mark.parametrize("name", ["triton-relu-accuracy", "triton-relu-runtime-error"])
def test_the_kernel_is_tritons_and_the_document_names_it(name: str) -> None:
    found = from_json(json.dumps(BUGS[name]["ours"]))
    assert found.kernels[0].name.startswith("triton_") and "relu" in found.kernels[0].nodes
    assert found.kernels[0].name in document(found, Knowledge())
