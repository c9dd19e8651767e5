"""Names of torch's in a real VS Code: hover, fix, complete, go to a lowering, hover in a dump."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from workbench import PYTHON, Workbench

from compile_lens.workers.extraction import extract_tables, find_torch

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("vscode")]

PROGRAM = """\
import os

import torch

os.environ["TORCH_LOGS"] = "graph_brakes,recompiles"
y = torch.ops.aten.relu.default(torch.ones(3))
"""
DUMP = """\
op0: SchedulerNode(ComputedBuffer)
op0.writes = [MemoryDep('buf0', c0, {c0: 64})]
SchedulerNode(name='op0'), Pointwise(['[8, 8]', 'origins=OrderedSet([mul, relu])'])
"""


@pytest.mark.nightly
def test_names_of_torch(workbench: Workbench, tmp_path: Path, shots: Path) -> None:
    torch = find_torch(PYTHON)
    assert torch is not None
    # what the server would extract some time after its first run, extracted before
    cache = os.environ.get("COMPILE_LENS_CACHE_DIR") or str(workbench.profile / "home" / ".cache" / "compile-lens")
    asyncio.run(extract_tables(torch, {**os.environ, "COMPILE_LENS_CACHE_DIR": cache}))
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "names.py").write_text(PROGRAM)
    (folder / "ir_pre_fusion.txt").write_text(DUMP)
    workbench.play("knowledge", folder, shots, {"file": "names.py", "dump": "ir_pre_fusion.txt"})
