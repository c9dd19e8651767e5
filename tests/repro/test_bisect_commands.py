"""The commands that repeat a bisection: a shell runs what they say, and nothing that a name of a folder says."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from compile_lens.agent.runtime.search_protocol import BisectionBegan, OptionChange
from compile_lens.repro.bisect_commands import commands
from compile_lens.repro.verdict import Verdict

CHANGES = {"option": OptionChange("torch._inductor.config", "debug", "True")}


@pytest.mark.parametrize(
    "verdict", [Verdict("inductor"), Verdict("a;touch b", "lowerings $(touch c)", 3), Verdict("inductor", "option")]
)
def test_a_shell_runs_the_interpreter_whatever_its_folder_is_called(verdict: Verdict, tmp_path: Path) -> None:
    folder = tmp_path / "a b;touch d `touch e` $(touch f)"
    folder.mkdir()
    python = folder / "python"
    python.write_text('#!/bin/sh\necho "ran in" "$TORCH_COMPILE_BACKEND"\n')
    python.chmod(0o755)
    environment = {**os.environ, "TMPDIR": str(folder)}
    for _, line in commands(
        verdict, str(python), folder / "repro.py", ("-x",), BisectionBegan(True, (), CHANGES, True)
    ):
        ran = subprocess.run(["sh", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert ran.stdout.startswith("ran in"), (line, ran.stderr)
    assert sorted(path.name for path in tmp_path.iterdir()) == [folder.name]
