"""Results of bisections as data: kept, read, compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from compile_lens.repro.history import recall, remember
from compile_lens.repro.scratch import scratch_folder, sweep
from compile_lens.repro.verdict import Bisection, Status, Switch, Verdict, differences, from_json

FOUND = Bisection(
    "/repro.py", "python", "2.13.0", Status.FOUND, "Found.", 1.0, Verdict("inductor", "lowerings", 1, "relu")
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
    gone = replace(FOUND, torch="2.14.0", status=Status.NOT_REPRODUCED, verdict=None)
    assert list(differences(FOUND, gone)) == [
        "torch was 2.13.0, and is 2.14.0 now.",
        "It was found in the compiler, and is not reproduced now.",
    ]
    other = replace(FOUND, verdict=Verdict("inductor", "lowerings", 2, "sin"))
    assert list(differences(FOUND, other)) == [
        "The verdict was inductor / lowerings / relu (number 1), and is inductor / lowerings / sin (number 2) now."
    ]
    helped = replace(FOUND, switches=(Switch("fusion", "no fusion", {}, True),))
    assert list(differences(FOUND, helped)) == ["What helped was nothing, and is fusion now."]
    assert not list(differences(FOUND, replace(FOUND, seconds=9.0)))


def test_scratch_folders_of_dead_processes_are_swept(tmp_path: Path) -> None:
    environment = {"COMPILE_LENS_CACHE_DIR": str(tmp_path)}
    with scratch_folder(environment) as folder:
        root = folder.parent
        (root / "4194305-dead").mkdir()  # above the largest number of a process on Linux
        (root / "of somebody").mkdir()
        sweep(root)
        assert {made.name for made in root.iterdir()} == {folder.name, "of somebody"}
    assert not folder.exists()
