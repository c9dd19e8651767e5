"""The first analysis after a folder is opened: server, standby, import of torch and the run; and a program on a GPU."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.editing import analyzed, seconds_of_save, server, write_program
from benchmarks.plain_runs import plain_run
from benchmarks.saves import EXAMPLES
from benchmarks.table.figure import Absent, Figure

REPEATS = 3
ON_GPU = """\
import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda")
model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.LayerNorm(256), nn.Linear(256, 8)).to(device)
optimizer = torch.optim.AdamW(model.parameters())


@torch.compile
def loss_of(batch, target):
    predicted = model(batch)
    if predicted.max() > 100:
        predicted = predicted.clamp(max=100)
    return nn.functional.cross_entropy(predicted, target)


for size in (32, 48, 64):
    loss = loss_of(torch.randn(size, 64, device=device), torch.randint(8, (size,), device=device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(size, loss.item())
"""


async def measure() -> list[Figure]:
    """An example, beside the same file as it is written and with the backend ``eager``."""
    (example,) = (file for file in EXAMPLES if file.name == "training_step.py")
    with tempfile.TemporaryDirectory() as scratch:
        file = write_program(Path(scratch, "folder"), example.name, example.read_text(encoding="utf-8"))
        opened = statistics.median(
            [await _seconds_of_opening(Path(scratch, str(number)), file) for number in range(REPEATS)]
        )
        written = plain_run(file, Path(scratch), eager=False).clock
        eager = statistics.median(plain_run(file, Path(scratch)).clock for _ in range(REPEATS))
    return [
        Figure("`training_step.py`", opened, "s", written, "python FILE", 1.5),
        Figure("the same, beside the backend `eager`", opened, "s", eager, "plain, eager", 1.5),
    ]


async def measure_gpu() -> list[Figure]:
    """A program that trains on a GPU: opened, and saved."""
    asked = [sys.executable, "-c", "import torch; raise SystemExit(not torch.cuda.is_available())"]
    if subprocess.run(asked, check=False, stderr=subprocess.DEVNULL).returncode:
        raise Absent("this machine has no GPU that torch can use")
    with tempfile.TemporaryDirectory() as scratch:
        file = write_program(Path(scratch, "folder"), "on_gpu.py", ON_GPU)
        plain = statistics.median(plain_run(file, Path(scratch)).clock for _ in range(REPEATS))
        figures = []
        for case, allowed in (("on the GPU", True), ("on the emulated device", False)):
            workspace = Path(scratch, f"workspace-{allowed}")
            workspace.mkdir()
            async with server(workspace, {"sandbox": {"gpu": allowed}}) as editor:
                began, since = time.perf_counter(), editor.mark()
                uri = await editor.open(Path(shutil.copy(file, workspace)))
                opened = await analyzed(editor, since) - began
                saved = statistics.median([await seconds_of_save(editor, uri) for _ in range(REPEATS)])
            figures.append(Figure(f"saved, {case}", saved, "s", plain, "plain, eager", 0.25))
            figures.append(Figure(f"opened, {case}", opened, "s", plain, "plain, eager", 1.5))
    return figures


async def _seconds_of_opening(workspace: Path, file: Path) -> float:
    workspace.mkdir()
    copied = Path(shutil.copy(file, workspace))
    began = time.perf_counter()
    async with server(workspace) as editor:
        since = editor.mark()
        await editor.open(copied)
        return await analyzed(editor, since) - began
