"""Files of definitions are called as a plain script would call them: with other sizes, other settings of a constructor, and all of their
classes, also those that an example leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.test_entry_runs import run, write

from compile_lens.analysis.finding import Finding, Kind, Severity
from compile_lens.analysis.outcome import Outcome
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
HEAD = "import torch\nfrom torch import nn\n\n\n"
SETTINGS = (
    HEAD
    + """\
class Attend(nn.Module):
    def __init__(self, dim=64, causal=False, norm="layer", bias=True, verbose=False):
        super().__init__()
        assert norm in ("layer", "batch")
        self.causal = causal
        self.norm = norm
        self.linear = nn.Linear(dim, dim, bias=bias)
        self.normalize = nn.LayerNorm(dim) if norm == "layer" else nn.BatchNorm1d(16)

    def forward(self, x):
        x = self.normalize(self.linear(x))
        if self.norm == "batch":
            return x + self.normalize(x)
        if self.causal:
            print("causal")
        return x
"""
)
GROWING = (
    HEAD
    + """\
class Rows(nn.Module):
    def forward(self, x, start_pos: int):
        return torch.stack([row * 2 for row in x]) + start_pos
"""
)
EXAMPLE = (
    HEAD
    + """\
class Main(nn.Module):
    def __init__(self, dim, depth):
        super().__init__()
        self.layers = nn.ModuleList(Part(dim) for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            y = layer(x)
            y = y.relu()
            x = x + y
        return x - x.mean()


class Part(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.linear = nn.Linear(dim, dim)

    def forward(self, x):
        return self.linear(x)


class Other(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x * 2
        return x
"""
)
README = """\
# Layers

```python
import torch
from model import Main

model = Main(dim=8, depth=2)
y = model(torch.randn(4, 8))
```
"""


def of_calls(outcome: Outcome) -> dict[str, Finding]:
    """What calls in other ways cause, by their beginnings."""
    return {f.message.partition(", `")[0]: f for f in outcome.findings if f.kind is Kind.VARIATION}


def test_settings_of_a_constructor_that_lead_to_other_code_are_tried(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, SETTINGS))
    found = {phrase: (f.code, f.place.line) for phrase, f in of_calls(outcome).items() if " of " not in phrase}
    # the mode of the layers in the other setting; what changes no line and no layer (`bias`, `verbose`) is not called
    assert found == {
        "With `causal=True`": ("would-break", 19),
        "With `norm='batch'` and the model in eval mode (`.eval()`)": ("would-recompile", 15),
    }
    assert outcome.coverage is not None
    assert outcome.coverage.is_whole


def test_whether_another_batch_and_another_length_recompile_once_or_each_time_is_told(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    outcome = run(warm_host, write(tmp_path, GROWING))
    found = of_calls(outcome)
    batch = next(f for phrase, f in found.items() if phrase.startswith("With a batch of 3"))
    number = next(f for phrase, f in found.items() if "start_pos=" in phrase)
    # the rows of a batch are counted, so each batch is compiled anew; a first other length costs all code one compilation
    assert (batch.severity, "would recompile once" in batch.message) == (Severity.INFORMATION, False)
    lengths = [f for phrase, f in found.items() if phrase.startswith("With a length of ")]
    assert {(f.severity, "would recompile once" in f.message) for f in lengths} == {(Severity.HINT, True)}
    assert "`start_pos` changed" in number.message
    assert not any("rank" in f.message or "dtype" in f.message for f in found.values())


def test_what_an_example_leaves_out_is_called_too(tmp_path: Path, warm_host: WarmHost) -> None:
    (tmp_path / "README.md").write_text(README)
    (tmp_path / "pyproject.toml").write_text("")
    outcome = run(warm_host, write(tmp_path, EXAMPLE), root=tmp_path)
    assert outcome.entry == "example:README.md"
    # a part of the example's model is called by way of it
    assert [call.target or call.text for call in outcome.calls] == ["Main", "Other"]
    assert [(f.code, f.place.line) for f in outcome.findings if f.kind is Kind.GRAPH_BREAK] == [("GB0170", 29)]
