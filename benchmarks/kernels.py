"""From a save in an editor, after an edit of one function, to the kernels of the new text: beside a plain compiled run of the same text.

Both keep their caches from one edit to the next, and no text is compiled twice.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from tests.lsp.editor import Editor, capabilities

from benchmarks.editing import analyzed, server, write_program
from benchmarks.plain_runs import plain_run
from benchmarks.table.figure import Figure

TRANSFORMER = Path(__file__).parent.parent / "examples" / "transformer_block.py"
# the factor is what each edit changes
TRAINING = """\
import torch
import torch.nn.functional as F
from torch import nn

FACTOR = 1.0


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)

    def forward(self, images):
        return self.norm(self.second(F.relu(self.first(images)))).mean((2, 3))


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.norm = nn.Linear(16, 64), nn.Linear(64, 10), nn.LayerNorm(16)

    def forward(self, x):
        return self.down(F.gelu(self.up(self.norm(x)) * FACTOR))


@torch.compile
def smoothed_loss(scores, labels):
    likely = F.log_softmax(scores, -1)
    return -(0.9 * likely.gather(1, labels[:, None]).mean() + 0.1 * likely.mean())


features, head = torch.compile(Features()), torch.compile(Head())
optimizer = torch.optim.SGD([*features.parameters(), *head.parameters()], lr=0.1)
for step in range(3):
    images, labels = torch.randn(4, 3, 16, 16), torch.randint(0, 10, (4,))
    optimizer.zero_grad()
    smoothed_loss(head(features(images)), labels).backward()
    optimizer.step()
"""
REPEATS = 3
PLAIN = "plain, compiled"
GOAL = 0.5
CASES = (
    ("transformer_block.py", TRANSFORMER.read_text(encoding="utf-8"), "* self.up(x))", "* self.up(x) * {})"),
    ("training.py", TRAINING, "FACTOR = 1.0", "FACTOR = {}"),
)


async def measure() -> list[Figure]:
    """Medians, after one run of each program that is not counted."""
    return [await _of_program(*case) for case in CASES]


async def _of_program(name: str, text: str, old: str, new: str) -> Figure:
    assert old in text
    said = capabilities(
        workspace={"textDocumentContent": {"dynamicRegistration": True}},
        experimental={"compileLensStages": True, "compileLensCommandLinks": True},
    )
    with tempfile.TemporaryDirectory() as scratch:
        file = write_program(Path(scratch, "folder"), name, text)
        options = {"fixes": {"verify": False}}
        ours, plain = [], []
        async with server(file.parent, options, capabilities=said) as editor:
            since = editor.mark()
            uri = await editor.open(file)
            await analyzed(editor, since)
            await editor.command("compileLens.stages", uri)
            plain_run(file, Path(scratch), eager=False)
            for number in range(REPEATS + 1):
                edited = text.replace(old, new.format(1.5 + number / 8))
                await editor.change(uri, number + 2, {"text": edited})
                file.write_text(edited, encoding="utf-8")
                ours.append(await _seconds_to_kernels(editor, uri))
                plain.append(plain_run(file, Path(scratch), eager=False).clock)
    return Figure(f"`{name}`", statistics.median(ours[1:]), "s", statistics.median(plain[1:]), PLAIN, GOAL)


async def _seconds_to_kernels(editor: Editor, uri: str) -> float:
    began = time.perf_counter()
    await editor.save(uri)
    answer = await editor.command("compileLens.stages", uri, "again")
    taken = time.perf_counter() - began
    if not answer or answer["sources"][0]["stale"]:
        raise RuntimeError("there are no kernels of the new text")
    return taken
