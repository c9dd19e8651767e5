"""From a finding to its cause in a real VS Code: the code action, the command of the palette, the document with the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest
from workbench import Workbench

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("vscode")]

PROGRAM = """\
import torch


@torch.compile(fullgraph=True)
def f(x):
    torch._dynamo.graph_break()
    return x + 1


f(torch.ones(3))
"""


@pytest.mark.nightly
def test_a_repro_is_written_and_bisected(workbench: Workbench, tmp_path: Path, shots: Path) -> None:
    (tmp_path / "fails.py").write_text(PROGRAM)
    text = "torch._dynamo.graph_break()"
    line = 1 + PROGRAM[: PROGRAM.index(text)].count("\n")
    data = {"program": "fails.py", "line": line, "lineText": text}
    found = workbench.play("bisect", tmp_path, shots, data, limit=600)
    assert "The problem is in Dynamo (backend eager)" in found["verdict"]
    assert list(tmp_path.glob("repro_*.py"))
