"""Results of bisections as data: kept, read, compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from compile_lens.agent.runtime.search_protocol import NamedPlace, UserLine
from compile_lens.analysis.finding import Kind, Place
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.repro.history import recall, remember
from compile_lens.repro.scratch import scratch_folder, sweep
from compile_lens.repro.verdict import (
    Bisection,
    BisectionStatus,
    Switch,
    Verdict,
    differences,
    from_json,
)
from compile_lens.repro.verdict_finding import verdict_findings

FOUND = Bisection(
    "/repro.py", "python", "2.13.0", BisectionStatus.FOUND, "Found.", 1.0, Verdict("inductor", "lowerings", 1, "relu")
)


def test_the_last_result_is_kept_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILE_LENS_CACHE_DIR", str(tmp_path))
    assert recall(Path("/repro.py")) is None
    remember(FOUND)
    assert recall(Path("/repro.py")) == FOUND


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 2}', '{"version": 1, "status": "found"}'])
def test_what_is_no_result_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        from_json(text)


def test_differences_are_told_in_sentences() -> None:
    gone = replace(FOUND, torch="2.14.0", status=BisectionStatus.NOT_REPRODUCED, verdict=None)
    assert list(differences(FOUND, gone)) == [
        "torch changed from 2.13.0 to 2.14.0.",
        "The problem was found in the compiler and is now not reproduced.",
    ]
    other = replace(FOUND, verdict=Verdict("inductor", "lowerings", 2, "sin"))
    assert list(differences(FOUND, other)) == [
        "The verdict changed from inductor / lowerings / relu (number 1) to inductor / lowerings / sin (number 2)."
    ]
    helped = replace(FOUND, switches=(Switch("fusion", "no fusion", {}, True),))
    assert list(differences(FOUND, helped)) == ["Options that help: before none, now fusion."]
    assert not list(differences(FOUND, replace(FOUND, seconds=9.0)))


def test_a_verdict_is_a_finding_at_the_innermost_line_that_is_as_it_was() -> None:
    text = {("/model.py", 3): "    return block(x)", ("/model.py", 9): "    y = torch.relu(x)  "}
    found = replace(
        FOUND,
        source=(
            UserLine("/model.py", 9, "block", "y = torch.relu(x)"),
            UserLine("/model.py", 3, "forward", "return block(x)"),
        ),
        places=(NamedPlace("registered", "aten.relu", "/torch/lowering.py", 70),),
        switches=(Switch("fusion", "no fusion", {"max_fusion_size": 1}, True),),
    )

    def line_of(file: str, line: int) -> str:
        return text.get((file, line), "")

    (finding,) = verdict_findings(found, line_of, Knowledge())
    assert (finding.code, finding.kind) == ("bisect-verdict", Kind.BISECT_VERDICT)
    assert finding.place == Place("/model.py", 9, 5, 9, 22)
    assert finding.message == "Bisection of repro.py: the fault is in inductor / lowerings / relu (number 1)."
    assert [(related.place.line, related.message) for related in finding.related] == [
        (3, "called in `forward`"),
        (70, "registered: aten.relu"),
    ]
    assert "This option makes the problem go away: no fusion (max_fusion_size)." in finding.hints
    text["/model.py", 9] = "    y = torch.tanh(x)"
    (moved,) = verdict_findings(found, line_of, Knowledge())
    assert moved.place.line == 3
    assert not verdict_findings(replace(found, verdict=None), line_of, Knowledge())


def test_scratch_folders_of_dead_processes_are_swept(tmp_path: Path) -> None:
    environment = {"COMPILE_LENS_CACHE_DIR": str(tmp_path)}
    with scratch_folder(environment) as folder:
        root = folder.parent
        (root / "4194305-dead").mkdir()  # above the largest number of a process on Linux
        (root / "of somebody").mkdir()
        sweep(root)
        assert {made.name for made in root.iterdir()} == {folder.name, "of somebody"}
    assert not folder.exists()
