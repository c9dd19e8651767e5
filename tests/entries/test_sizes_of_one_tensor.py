"""Sizes that tensors share for their names alone and that one of them has otherwise: predictions beside targets with more channels."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")
unpacked_items = agent_module("inputs.synthesis.errors.unpacked_items")
messages = agent_module("inputs.synthesis.errors.messages")
other_shapes = agent_module("inputs.synthesis.changes.other_shapes")
arguments = agent_module("inputs.synthesis.terms.arguments")
candidates = agent_module("inputs.synthesis.terms.candidate")
dimensions = agent_module("inputs.synthesis.terms.dimensions")

MODULES = """\
import torch
import torch.nn.functional as F
from torch import nn


class PixelLoss(nn.Module):
    def forward(self, output, target):
        scores, places = target["map"].split([1, 6], dim=1)
        weights = torch.ones_like(output["scores"].reshape(-1))
        weights[scores.reshape(-1) == 1] = 2.0
        loss = F.binary_cross_entropy_with_logits(output["scores"], scores)
        return loss * weights.mean() + F.smooth_l1_loss(scores * output["places"], scores * places)


class Columns(nn.Module):
    def forward(self, pred, gt):
        score, offset = pred.chunk(2, dim=1)
        first, second, third = gt.unbind(dim=1)
        return ((score.squeeze(1) - first) ** 2).mean() + (offset[:, 0] * (second - third)).mean()


class Sampled(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(16, 8)

    def forward(self, chosen, others):
        return torch.bmm(self.table(others[:, :, 0]), self.table(chosen[:, 0]).unsqueeze(2))
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> object:
    file = tmp_path_factory.mktemp("own") / "sizes_of_one_tensor.py"
    return imported(file, MODULES)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (
            "PixelLoss",
            '(output={"scores": float32[2, 1, 16], "places": float32[2, 6, 16]}, target={"map": float32[2, 7, 16]})',
        ),
        ("Columns", "gt=int64[8, 3, 8]"),
        ("Sampled", "Sampled()(chosen=int64[2, 16] < 16, others=int64[2, 16, 16] < 16)"),
    ],
)
def test_one_of_several_tensors_gets_a_size_of_its_own(modules: object, name: str, shown: str) -> None:
    assert shown in target.find_call(modules, name, target.SearchBudget()).expression


def _unpacking(tensor: object, width: int) -> None:
    _one, _two, _three = tensor.split(width, dim=1)  # type: ignore[attr-defined]


def test_what_is_unpacked_tells_its_size_however_many_parts_there_are() -> None:
    import torch

    for columns in (4, 12):
        with pytest.raises(ValueError, match="values to unpack") as caught:
            _unpacking(torch.zeros(2, columns), 2)
        assert unpacked_items.columns_unpacked(caught.value) == (columns, 6)


def test_a_mask_for_less_than_what_it_indexes_asks_for_nothing_larger() -> None:
    text = "The shape of the mask [{}] at index 0 does not match the shape of the indexed tensor [{}] at index 0"
    kinds = [
        [each.kind for each in messages.requirements(IndexError(text.format(*sizes)))] for sizes in ((4, 8), (8, 4))
    ]
    assert "larger" not in kinds[0]
    assert "larger" in kinds[1]


def test_larger_inputs_keep_what_an_earlier_failure_required() -> None:
    unknowns = dimensions.Unknowns()
    tensor = arguments.Tensor("float32", tuple(unknowns.get(*each).name for each in (("B", 2), ("C", 7), ("T", 16))))
    split = dimensions.SizeCondition("s0 == 7", (("s0", "C"),), False)
    candidate = candidates.Candidate(arguments.Arguments((("x", tensor),)), unknowns, (split,))
    found = [each.unknowns.values for each in other_shapes.larger(candidate)]
    assert found[0] == {"B": 2, "C": 7, "T": 64}
    free = candidates.Candidate(candidate.arguments, unknowns, ())
    sizes = [each.unknowns.values["T"] for each in other_shapes.larger(free)]
    assert max(sizes) == 2048  # of both sides at once: more would be gigabytes
