"""Losses get inputs that belong together: of one shape, or scores and the numbers of classes, or signs, by what they do with them."""

from __future__ import annotations

import re

import pytest
from tests.entries.agent_package import agent_module, imported

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

LOSSES = """\
import torch
import torch.nn.functional as F
from torch import nn


class Overlap(nn.Module):
    def forward(self, input, target):
        error = F.binary_cross_entropy_with_logits(input, target)
        input, target = torch.sigmoid(input).view(2, -1), target.view(2, -1)
        return error + 1 - (input * target).sum() / (input.sum() + target.sum())


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.error = nn.BCEWithLogitsLoss()

    def forward(self, x, y):
        return self.error(x / 410, torch.sigmoid(y / 410))


class TruncatedLoss(nn.Module):
    def __init__(self, samples=50):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(samples, 1))

    def forward(self, logits, targets, indexes):
        chosen = torch.gather(F.softmax(logits, dim=1), 1, torch.unsqueeze(targets, 1))
        return ((1 - chosen) * self.weight[indexes]).mean()


class HardPixels(nn.Module):
    def __init__(self):
        super().__init__()
        self.criteria = nn.CrossEntropyLoss(ignore_index=255, reduction="none")

    def forward(self, logits, labels):
        n, c, h, w = logits.size()
        return self.criteria(logits, labels).view(-1).sort(descending=True)[0][: h * w].mean()


class Smoothing(nn.Module):
    def __init__(self, size, padding_idx):
        super().__init__()
        self.criterion, self.size, self.padding_idx = nn.KLDivLoss(reduction="sum"), size, padding_idx

    def forward(self, x, target):
        assert x.size(1) == self.size
        wanted = torch.full_like(x, 0.1).scatter_(1, target.unsqueeze(1), 0.9)
        wanted[:, self.padding_idx] = 0
        return self.criterion(x, wanted)


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.CosineEmbeddingLoss()

    def forward(self, x1, x2, y):
        return self.loss(x1, x2, y)


class Speech(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.CTCLoss()

    def forward(self, log_probs, targets, input_lengths, target_lengths):
        return self.loss(log_probs, targets, input_lengths, target_lengths)


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 3)

    def forward(self, x, y):
        return F.cross_entropy(self.layer(x), y)


def squared_loss(pred, gt):
    assert pred.shape == gt.shape, f"{pred.shape} and {gt.shape}"
    return ((pred.flatten() - gt.flatten()) ** 2).mean()
"""


@pytest.fixture(scope="module")
def losses(tmp_path_factory: pytest.TempPathFactory) -> object:
    file = tmp_path_factory.mktemp("losses") / "made_up_losses.py"
    return imported(file, LOSSES)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Overlap", "(input=float32[2, 4], target=float32[2, 4] < 1)"),
        ("Scaled", "(x=float32[2, 4], y=float32[2, 4] < 1)"),
        ("TruncatedLoss", "(logits=float32[2, 4], targets=int64[2] < 2, indexes=int64[2])"),
        ("HardPixels", "labels=int64[2, 32, 32] < 2)"),
        ("Smoothing", "Smoothing(size=64, padding_idx=0)(x=float32[2, 64], target=int64[2] < 2)"),
        ("Pairs", "(x1=float32[2, 4], x2=float32[2, 4], y=float32[2] == 1)"),
        (
            "Speech",
            "(log_probs=float32[16, 2, 4], targets=int64[2, 4] < 4, input_lengths=int64[2] == 16, target_lengths=",
        ),
        ("squared_loss", "(pred=float32[2, 4], gt=float32[2, 4])"),
    ],
)
def test_inputs_of_a_loss_belong_together(losses: object, name: str, shown: str) -> None:
    assert shown in target.find_call(losses, name, target.SearchBudget()).expression


def test_a_model_that_computes_its_loss_is_no_loss(losses: object) -> None:
    expression = target.find_call(losses, "Scorer", target.SearchBudget()).expression
    assert re.search(r"x=float32\[[\d, ]*6\], y=int64\[", expression) is not None


def test_the_shapes_of_an_error_make_one_tensor_like_the_other() -> None:
    messages = agent_module("inputs.synthesis.errors.messages")
    error = ValueError("Target size (torch.Size([2, 8])) must be the same as input size (torch.Size([2, 1, 4]))")
    wanted = [each.value for each in messages.requirements(error) if each.kind == "alike"]
    assert wanted == ["2, 8|2, 1, 4"]
