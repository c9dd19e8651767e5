"""Bisections that were recorded on a GPU (``record_gpu_verdicts.py``): verdicts, steps and kernels of bugs planted in Triton code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from compile_lens.knowledge.lookup import Knowledge
from compile_lens.repro.bisect_document import document
from compile_lens.repro.verdict import Status, from_json

RECORD = json.loads((Path(__file__).parent.parent / "data" / "bisect-gpu" / "bisect_gpu.json").read_text())
BUGS: dict[str, dict[str, Any]] = RECORD["bugs"]


@pytest.mark.parametrize("name", BUGS)
def test_the_verdict_is_what_was_planted_and_torchs_own(name: str) -> None:
    bug = BUGS[name]
    found = from_json(json.dumps(bug["ours"]))
    backend, subsystem, info = bug["wanted"]
    assert found.status is Status.FOUND and found.verdict is not None
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


def test_the_kernel_is_tritons_and_the_document_names_it() -> None:
    found = from_json(json.dumps(BUGS["triton-relu-accuracy"]["ours"]))
    assert found.kernels[0].name.startswith("triton_") and "relu" in found.kernels[0].nodes
    assert found.kernels[0].name in document(found, Knowledge())
