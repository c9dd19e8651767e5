"""The recorder speaks the protocol of today's agent, and what it records can be played back."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import replay

FIXTURES = Path(__file__).parent / "fixtures"
RECORDER = Path(__file__).parent / "data" / "record.py"


def test_a_program_is_recorded_and_played_back(tmp_path: Path) -> None:
    root = tmp_path / "cluster"
    command = [sys.executable, str(RECORDER), str(tmp_path / "out"), "--root", str(root), "--only", "^break_explicit$"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "NO END" not in done.stdout
    with tarfile.open(tmp_path / "out" / "fixtures.tar.xz") as archive:
        wire = archive.extractfile("break_explicit.wire")
        assert wire is not None
        host = replay.ReplayHost(replay.frames_of(wire.read()))
    host.agent_folder = str(root / "agent")
    outcome = replay.play(host, f"{root}/job/break_explicit.py", (FIXTURES / "break_explicit.py").read_text())
    assert {finding.code for finding in outcome.findings} == {"GB0025"}
