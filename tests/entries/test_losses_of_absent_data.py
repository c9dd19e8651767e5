"""A loss that a script calls with what its missing data would have given is no obstacle on the way to its model."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.script_runs import project, run

from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
LOSSES = """\
import torch


class Overlap(torch.nn.Module):
    def forward(self, logits, mask):
        return 1 - (logits.sigmoid() * mask).mean()
"""
SCRIPT = """\
import os
import torch
from losses import Overlap


def data_folder():
    for each in ("data/images", "../data/images"):
        if os.path.exists(each):
            return each
    raise FileNotFoundError("Could not locate the data set.")


def train():
    images = torch.load(os.path.join(data_folder(), "images.pt"))
    masks = torch.load(os.path.join(data_folder(), "masks.pt"))
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(8, 1, 1))
    loss_of = Overlap()
    for image, mask in zip(images, masks):
        loss_of(net(image), mask).backward()
    print(loss_of(net, masks))


if __name__ == "__main__":
    train()
"""


def test_the_model_is_called_with_made_up_inputs(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"losses.py": LOSSES, "train.py": SCRIPT})
    outcome = run(warm_host, tmp_path / "train.py", "model")
    assert [call.making for call in outcome.calls] == ["Sequential from line 16"]
    assert outcome.graphs
    # nothing shows how large its batches are
    assert any(f.message.startswith("With a batch of 3") for f in outcome.findings), [
        f.message for f in outcome.findings
    ]
