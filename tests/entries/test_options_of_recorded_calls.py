"""A call that a test, an example or a script makes is also made with the optional tensors that it leaves out, as large as its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module, imported
from tests.entries.script_runs import project
from tests.entries.test_entry_runs import run

from compile_lens.analysis.finding import Kind
from warm_host import WarmHost

recorded_options = agent_module("inputs.recorded_options")
expressions = agent_module("inputs.calling.expressions")

CODER = """\
import torch
from torch import nn


class Coder(nn.Module):
    def __init__(self, vocabulary, dim):
        super().__init__()
        self.table, self.head = nn.Embedding(vocabulary, dim), nn.Linear(dim, vocabulary)

    def forward(self, codes, attention_mask=None, labels=None, memory=None, path=None):
        x = self.table(codes)
        if attention_mask is not None:
            x = x * attention_mask.sum(-1).max().item()
        if memory is not None:
            x = x + torch.cat([memory, memory], -1)
        if path is not None:
            raise ValueError("nothing is read from there")
        logits = self.head(x)
        if labels is not None:
            return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return logits


class Pictures(nn.Module):
    def forward(self, picture, mask=None, other_images=None):
        assert picture.shape[-1] == 20
        if mask is not None:
            picture = picture.masked_fill(~mask, 0.0)
        return picture if other_images is None else picture - other_images


def scaled(values, rows, weights=None):
    return values * rows if weights is None else values * rows * weights[:, None]


def of_any(*values, mask=None):
    return sum(values)
"""
TEST = """\
import torch
from coder import Coder


def test_coder():
    assert Coder(30, 12)(torch.randint(0, 30, (3, 7))).shape == (3, 7, 30)
"""


@pytest.mark.xdist_group("entries")
def test_the_call_of_a_test_is_made_again_with_masks_and_labels_of_its_sizes(
    tmp_path: Path, warm_host: WarmHost
) -> None:
    project(tmp_path, {"pyproject.toml": "", "coder.py": CODER, "tests/test_coder.py": TEST})
    outcome = run(warm_host, tmp_path / "coder.py", "tests/test_coder.py::test_coder", tmp_path)
    assert [call.inputs.partition(" <")[0] for call in outcome.calls] == ["int64[3, 7]"]
    varied = [(f.code, f.message.partition(",")[0], f.place.line) for f in outcome.findings if f.kind is Kind.VARIATION]
    (said,) = {phrase for code, phrase, _ in varied if code == "would-break"}
    assert said.startswith("With `attention_mask=int64[3")
    assert [line for code, _, line in varied if code == "would-break"] == [13]
    # of the labels, below the largest token of the call, and of what is half as wide as the table
    phrases = " ".join(f.message for f in outcome.findings if f.kind is Kind.VARIATION)
    assert "`labels=int64[3, 7] < " in phrases
    assert "`memory=float32[3, 7, 6]`" in phrases
    assert "`path=" not in phrases


@pytest.mark.xdist_group("torch-in-this-process")
def test_optional_tensors_follow_the_sizes_of_the_call(tmp_path: Path) -> None:
    module = imported(tmp_path / "optional_of_calls.py", CODER)

    def options(text: str) -> dict[str, str]:
        call = expressions.evaluate(text, vars(module))
        return dict(recorded_options.optional_arguments_of(call, 5.0))

    assert options("Pictures()(float32[5, 3, 12, 20])") == {
        "mask": "bool[5, 3, 12, 20]",
        "other_images": "float32[5, 3, 12, 20]",
    }
    # what is passed as None is left out, and what is passed is not replaced
    assert options("Pictures()(float32[5, 3, 12, 20], None, float32[5, 3, 12, 20])").keys() == {"mask"}
    # a call that no other one like it returns from, and one of any number of values
    assert options("of_any(float32[2], float32[2])").keys() <= {"mask"}
    assert options("scaled(float32[6, 4], float32[6, 4])") == {}
