"""Arguments of a constructor that its project passes, and what may be there instead of None, are tried besides those that are required."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.xdist_group("torch-in-this-process")

settings = agent_module("inputs.synthesis.making.other_settings")
written = agent_module("inputs.synthesis.project.written_settings")

BLOCK = """\
import torch
from torch import nn


class Scale(nn.Module):
    def forward(self, x):
        return x * 2


class Block(nn.Module):
    def __init__(self, width, depth=2, norm=None, hook=None, table: torch.Tensor = None, limit=None, device=None):
        super().__init__()
        self.line, self.norm, self.hook = nn.Linear(width, width), norm, hook

    def forward(self, x):
        x = self.line(x)
        if self.norm is not None:
            x = self.norm(x)
        return x if self.hook is None else self.hook(x)
"""
USE = """\
from torch import nn
from {package}.block import Block, Scale


def test_blocks(width):
    Block(8, depth=4, norm=nn.LayerNorm(8), limit=3, device="cpu")
    Block(width, norm=Scale(), hook=nn.ReLU())
    Block(8, 2, None)
"""
PAGE = """\
# Blocks

```python
from {package} import Block
block = Block(16, hook=lambda x: x.relu())
```
"""


@pytest.fixture(scope="module")
def block(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    root = tmp_path_factory.mktemp("written")
    package = "package_of_written_settings"
    (root / package).mkdir()
    (root / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (root / package / "__init__.py").write_text("from .block import Block\n")
    (root / package / "block.py").write_text(BLOCK)
    (root / "test_blocks.py").write_text(USE.format(package=package))
    (root / "README.md").write_text(PAGE.format(package=package))
    sys.path.insert(0, str(root))
    try:
        return importlib.import_module(f"{package}.block")
    finally:
        sys.path.remove(str(root))


def test_each_argument_that_the_project_passes_comes_alone_then_with_those_of_its_call(block: ModuleType) -> None:
    found = list(written.written_settings(block, block.Block))
    assert (
        {"norm": "Scale()"} in found
        and {"hook": "torch.nn.ReLU()"} in found
        and {"hook": "lambda x: x.relu()"} in found
    )
    assert found.index({"norm": "Scale()"}) < found.index({"norm": "Scale()", "hook": "torch.nn.ReLU()"})
    assert not any("width" in each or "None" in each.values() for each in found)


def test_they_come_before_what_is_made_up_and_no_size_is_changed(block: ModuleType) -> None:
    found = [each.phrase for each in settings.other_settings(block, "Block(8)(x=float32[2, 8])")]
    assert "norm=torch.nn.LayerNorm(8)" in found and "norm=Scale(), hook=torch.nn.ReLU()" in found
    assert not any(each.startswith(("depth=", "device=")) for each in found)
    made_up = [each for each in found if each.startswith("table=")]
    assert made_up == found[-1:] and "float32" in made_up[0]


def test_what_the_call_passes_already_is_no_other_setting(block: ModuleType) -> None:
    found = settings.other_settings(block, "Block(8, norm=Scale())(x=float32[2, 8])")
    assert "norm=Scale()" not in [each.phrase for each in found]


def test_the_call_with_them_is_one_expression(block: ModuleType) -> None:
    found = settings.other_settings(block, "Block(8)(x=float32[2, 8])")
    texts = {each.phrase: each.expression for each in found}
    assert texts["norm=Scale()"] == "Block(8, norm=Scale())(x=float32[2, 8])"
