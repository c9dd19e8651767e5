"""Inputs and constructor arguments that are no tensors and numbers: what is read of them says what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.analysis.finding import Kind
from compile_lens.analysis.outcome import Outcome
from compile_lens.entries.keep_inputs import as_functions
from compile_lens.pipeline.entry_choice import choose
from compile_lens.syntax.tree import parse
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

MODULES = """\
import torch
from torch import nn


class Wrapper(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(5, 7)

    def forward(self, *args, **kwargs):
        return self.inner(*args, **kwargs)


class OfObject(nn.Module):
    def offset(self, data):
        return data.pos.sum() + data.batch.float().mean()

    def forward(self, data):
        return data.x + self.offset(data)


class OfDictionary(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 7)

    def forward(self, batch):
        return self.inner(batch["pixels"]) * batch["scale"].mean()


class OfList(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Conv2d(3, 7, 1)

    def forward(self, images):
        images.append(images[0])
        return torch.cat([self.inner(image).flatten(1) for image in images], 1)


class Configured(nn.Module):
    def __init__(self, categories, opt, table):
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(opt.hidden_size, each) for each in categories])
        self.last = nn.Linear(table["in_features"], 2)

    def forward(self, x):
        return [part(x) for part in self.parts]
"""


def run(host: WarmHost, file: Path, root: Path | None = None) -> Outcome:
    return host.run_choice(str(file), choose(str(file), file.read_text(), root))


def test_what_is_read_of_an_argument_says_what_it_is(tmp_path: Path, warm_host: WarmHost) -> None:
    (tmp_path / "net.py").write_text(MODULES)
    outcome = run(warm_host, tmp_path / "net.py")
    calls = {call.target: call.text for call in outcome.calls}
    assert calls.keys() == {"Wrapper", "OfObject", "OfDictionary", "OfList", "Configured"}
    assert "(input=float32[2, 16, 5])" in calls["Wrapper"]
    assert "types.SimpleNamespace(" in calls["OfObject"] and "pos=" in calls["OfObject"]
    assert '"pixels": float32[' in calls["OfDictionary"] and '"scale": ' in calls["OfDictionary"]
    assert "images=[" in calls["OfList"]
    assert "opt=types.SimpleNamespace(hidden_size=" in calls["Configured"]
    assert 'table={"in_features": ' in calls["Configured"]


LAZY = """\
import torch

TABLES = {}


class Net(torch.nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.layer = torch.nn.Linear(width, width)
        self.table = None

    def forward(self, x: torch.Tensor):
        if self.table is None:
            self.table = torch.ones(self.layer.in_features)
        if "seen" not in TABLES:
            TABLES["seen"] = 1
        return self.layer(x) * self.table * TABLES["seen"]
"""
SCRIPT = """

if __name__ == "__main__":
    net = Net(6)
    for size in (4, 4, 5):
        net(torch.ones(size, 6)).sum().backward()
"""


@pytest.mark.parametrize("script", [SCRIPT, ""])
def test_trials_leave_nothing_behind_that_a_recompile_depends_on(
    tmp_path: Path, warm_host: WarmHost, script: str
) -> None:
    (tmp_path / "net.py").write_text(LAZY + script)
    outcome = run(warm_host, tmp_path / "net.py")
    assert outcome.entry == ("model" if script else "synthesized")
    # a cache of the module `TABLES` that a trial has filled would be no cache miss of the first call
    found = [f.message for f in outcome.findings if f.kind in (Kind.RECOMPILE, Kind.VARIATION)]
    assert any("TABLES" in message or "self.table" in message for message in found), found


README = """\
# Parts

```python
import torch
from parts import Net

net = Net(stages=[(3, 6), (6, 2)])
net(torch.ones(2, 3), mode="fast")
```
"""
STAGED = """\
import torch


def double(x: torch.Tensor):
    \"\"\"Doubles.

    >>> double(torch.ones(3)).sum().item()
    6.0
    \"\"\"
    return x * 2


class Net(torch.nn.Module):
    def __init__(self, stages):
        super().__init__()
        self.layers = torch.nn.Sequential(*[torch.nn.Linear(*stage) for stage in stages])

    def forward(self, x, mode):
        if mode != "fast":
            raise KeyError(mode)
        return double(self.layers(x))
"""


def test_an_example_of_the_documentation_is_an_entry_and_a_part_is_not_the_end(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "README.md").write_text(README)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("from .net import Net\n")
    file = tmp_path / "parts" / "net.py"
    file.write_text(STAGED)
    outcome = run(warm_host, file, tmp_path)
    assert (outcome.entry, [call.target for call in outcome.calls]) == ("example:README.md", ["Net"])
    assert outcome.entry_title == "the example in `README.md`"
    assert [way.reason for way in outcome.passed_over if way.entry.startswith("doctest")] == ["It did not reach `Net`."]
    assert outcome.graphs == 1 and not [f for f in outcome.findings if f.kind is Kind.RUN_ERROR]


def test_objects_are_kept_as_python() -> None:
    tree = parse("class Net: ...\n")
    kept = as_functions(tree, 'Net(opt=types.SimpleNamespace(width=4))(batch={"x": float32[2, 3]})')
    assert kept is not None
    names: dict[str, object] = {}
    exec(f"import torch\n{kept.text}", names)
    assert names["get_inputs"]()["batch"]["x"].shape == (2, 3)  # type: ignore[operator]
    assert names["get_init_inputs"]()["opt"].width == 4  # type: ignore[operator]
