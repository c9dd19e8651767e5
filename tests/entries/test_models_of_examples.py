"""An example of a page shows how each of the models that it makes is constructed and called, not only the one that it is about."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.test_entry_runs import run, write

from compile_lens.analysis.finding import Kind
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
MODELS = """\
import torch
from torch import nn


class Tokens(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.line = nn.Linear(dim, dim * heads)
        self.more = nn.Sequential(nn.Linear(dim * heads, dim), nn.ReLU(), nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.dim = dim

    def forward(self, x):
        return self.more(self.line(x))


class Sampler(nn.Module):
    def __init__(self, mode="plain", width=4):
        super().__init__()
        self.mode = mode
        self.line = nn.Linear(width, width)

    def forward(self, x, steps=None):
        x = self.line(x)
        if self.mode == "loud":
            print("loud")
        return x


class Late(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = {"slow": 2}[kind]
        self.line = nn.Linear(4, 4)

    def forward(self, x):
        return self.line(x) * self.kind
"""
PAGE = """\
# Page

```python
import torch
from model import Tokens, Sampler, Late

sampler = Sampler(mode="loud", width=6)
tokens = Tokens(8, heads=3)
y = tokens(torch.randn(3, 5, 8))
z = sampler(torch.randn(7, 6))
late = Late("slow")
late(torch.randn(2, 4))
```
"""


def test_each_model_of_the_example_is_called_as_it_makes_it(tmp_path: Path, warm_host: WarmHost) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "README.md").write_text(PAGE)
    outcome = run(warm_host, write(tmp_path, MODELS), root=tmp_path)
    assert outcome.entry == "example:README.md"
    assert {(call.target or call.text): call.inputs for call in outcome.calls} == {
        "Tokens": "float32[3, 5, 8]",
        "Sampler": "float32[7, 6]",
        # made only after the first call of the main model
        "Late": "float32[2, 4]",
    }
    assert [f.place.line for f in outcome.findings if f.kind is Kind.GRAPH_BREAK] == [25]
