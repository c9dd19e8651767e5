"""Where a constructor looks a pretrained model up by what it got, it gets a name that the file has, or a usual one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
size_of_model = agent_module("inputs.synthesis.making.size_of_model")
time_limit = agent_module("inputs.calling.time_limit")

# a library that knows two architectures, and raises as the real one does
LIBRARY = """\
import torch


class AutoModel(torch.nn.Linear):
    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path):
        if str(pretrained_model_name_or_path) not in ("bert-base-uncased", "company/roberta-small"):
            raise OSError("We couldn't connect to 'https://hub.example' to load the files")
        return cls(8, 8)
"""
CLASSIFIERS = """\
import torch
from torch import nn
from transformers import AutoModel


class Classifier(nn.Module):
    def __init__(self, kind: str, classes: int = 5):
        super().__init__()
        self.encoder, self.head = AutoModel.from_pretrained(kind), nn.Linear(8, classes)

    def forward(self, x):
        return self.head(self.encoder(x))


class Configured(nn.Module):
    def __init__(self, checkpoint):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(checkpoint)

    def forward(self, x):
        return self.encoder(x)
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The library in place of an installed one."""
    package = tmp_path / "transformers"
    package.mkdir()
    (package / "__init__.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "transformers"}
    for name in before:
        del sys.modules[name]
    yield
    sys.modules.pop("transformers", None)
    sys.modules.update(before)


def program(folder: Path, text: str) -> ModuleType:
    return imported(folder / "classifiers.py", text)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", ["Classifier", "Configured"])
def test_a_usual_name_where_the_file_has_none(tmp_path: Path, name: str) -> None:
    found = target.find_call(program(tmp_path, CLASSIFIERS), name, target.SearchBudget())
    assert "='bert-base-uncased')" in found.making


@pytest.mark.usefixtures("library")
def test_a_name_of_the_file_comes_first(tmp_path: Path) -> None:
    text = f"{CLASSIFIERS}\n\nTITLE, MODEL = 'a-title-of-three', 'company/roberta-small'\n"
    found = target.find_call(program(tmp_path, text), "Classifier", target.SearchBudget())
    assert found.making == "Classifier(kind='company/roberta-small')"


def test_the_end_of_a_trial_on_fake_tensors_may_be_handled_by_a_library(tmp_path: Path) -> None:
    text = """\
import time
import torch


class Slow(torch.nn.Linear):
    def __init__(self):
        super().__init__(4, 4)
        if type(self.weight.data).__name__ == "FakeTensor":
            try:
                end = time.process_time() + 5.0
                while time.process_time() < end:
                    pass
            except Exception:
                raise AttributeError("of the library")
"""
    module = imported(tmp_path / "slow_on_fakes.py", text)
    assert size_of_model.check_size(vars(module), "Slow()") == 20
