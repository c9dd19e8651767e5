"""The logs that are recommended exist in torch, for every kind and stage."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from compile_lens.analysis.finding import Kind
from compile_lens.knowledge.entry import KnowledgeKind
from compile_lens.knowledge.lookup import Knowledge
from compile_lens.repro.logs import document, known_stages, log_runs

CASES = [(kind, "") for kind in Kind] + [(Kind.COMPILE_ERROR, stage) for stage in known_stages()]


@pytest.mark.parametrize(("kind", "stage"), CASES)
def test_every_name_is_one_of_torchs(kind: Kind, stage: str) -> None:
    knowledge = Knowledge()
    runs = log_runs(kind, stage=stage)
    assert runs[0].title == "Run with logs"
    for run in runs:
        for name, value in run.environment:
            if name == "TORCH_LOGS":
                unknown = [log for log in value.split(",") if not knowledge.knows(KnowledgeKind.LOG, log.lstrip("+"))]
                assert not unknown
            elif name.startswith("TORCH"):
                assert knowledge.knows(KnowledgeKind.ENVIRONMENT, name), name


def test_a_line_is_one_for_a_shell() -> None:
    run = log_runs(Kind.COMPILE_ERROR, stage="c++")[0]
    assert run.line(["python", "a file.py"]) == "TORCH_LOGS=output_code python 'a file.py'"
    assert "```sh\nTORCH_LOGS=output_code" in document("Logs", [run], ["python", "x.py"])


def test_the_terminal_says_the_lines_for_a_file(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text("import torch\n")
    command = [sys.executable, "-m", "compile_lens", "logs", str(file), "--kind", "graph-break", "--", "--epochs", "1"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "TORCH_LOGS=graph_breaks" in ended.stdout
    assert f"{file} --epochs 1" in ended.stdout
