"""From a save to the last finding in scripts with tiny models of ``transformers``, and in a small GPT of plain torch that is trained."""

from __future__ import annotations

import asyncio
import importlib.util
import statistics
import tempfile
from pathlib import Path

from benchmarks.editing import analyzed, seconds_of_save, server, write_program
from benchmarks.model_scripts import MODELS, script_of
from benchmarks.plain_runs import plain_run
from benchmarks.table.figure import Figure

REPEATS = 2
# a standby that imports what the last run has imported is ready long before somebody has typed the next line
BETWEEN_SAVES_S = 4.0
# Mamba fails in torch 2.13: a failed call is no run to compare with
MEASURED = [model for model in MODELS if not model.fails]
GPT = """\
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.first(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.second(x))))


class GPT(nn.Module):
    def __init__(self, words=64, width=32, layers=4, heads=4, longest=32):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(longest, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens, targets):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())


model = GPT()
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    tokens = torch.randint(64, (4, 17))
    loss = compiled(tokens[:, :-1], tokens[:, 1:])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


async def measure() -> list[Figure]:
    """Each script in a standby that has run it before, some seconds ago; those that import transformers, where it is installed."""
    scripts = {"GPT in plain torch": GPT}
    if importlib.util.find_spec("transformers") is not None:
        scripts |= {model.name: script_of(model) for model in MEASURED}
    figures = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "models")
        folder.mkdir()
        async with server(folder, {"fixes": {"verify": False}}) as editor:
            for name, text in scripts.items():
                file = write_program(folder, f"{name.replace(' ', '_').lower()}.py", text)
                plain = plain_run(file, Path(scratch)).clock
                since = editor.mark()
                uri = await editor.open(file)
                await analyzed(editor, since)
                taken = []
                for _ in range(REPEATS):
                    await asyncio.sleep(BETWEEN_SAVES_S)
                    taken.append(await seconds_of_save(editor, uri))
                figures.append(Figure(name, statistics.median(taken), "s", plain, "plain, eager", 0.25))
                await editor.close(uri)
    if len(scripts) == 1:
        figures.append(Figure("(transformers is not installed: its ten models are not measured)", 0, ""))
    return figures
