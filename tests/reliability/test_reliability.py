"""Short versions of ``make fuzz`` and ``make soak``, and proof that they would see what is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.reliability.mutations import run
from tests.reliability.sequences import Difference, play
from tests.reliability.targets import TARGETS

from compile_lens.documents import documents
from compile_lens.documents.line_index import Encoding, LineIndex
from compile_lens.documents.moves import LineEdit

ROOT = Path(__file__).parent.parent.parent


async def test_random_sequences_of_edits_requests_and_cancellations() -> None:
    assert (await play(600, seed=2))["messages"] > 1_800


async def test_a_text_that_is_wrong_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real = documents._apply

    def wrong(index: LineIndex, change: documents.Change, encoding: Encoding) -> tuple[LineIndex, list[LineEdit]]:
        return real(index, change, Encoding.UTF32 if "😀" in index.text else encoding)

    monkeypatch.setattr(documents, "_apply", wrong)
    with pytest.raises(Difference, match="seed 3, sequence"):
        await play(1_000, seed=3)


@pytest.mark.parametrize("name", TARGETS)
def test_changed_bytes_end_in_order(name: str) -> None:
    assert run(name, 2_500, seed=4)["inputs"] == 2_500


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_short_soak_leaves_nothing_behind() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "COMPILE_LENS_CACHE_DIR"}
    command = [sys.executable, "-m", "tests.reliability.soak", "--minutes", "0.25", "--seed", "5"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout)
    assert result["steps"] > 5
    assert (result["exit_code"], result["processes_left"], result["left_behind"]) == (0, 0, [])
    assert result["errors_logged"] == []
    assert (
        result["last"]["descriptors"] <= result["first"]["descriptors"] + 8
    )  # an agent that is just starting has pipes
