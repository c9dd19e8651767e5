"""Inputs that are made up are where the object is that gets them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.test_entry_runs import run, write

from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
# it has no parameters, and only a compiler compares the devices of what `where` gets
LOSS = """\
import torch


class Loss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.limit = torch.ones(1).cuda()

    def forward(self, input, target):
        return torch.where(self.limit > input, input, target).mean()
"""


def test_inputs_are_on_the_device_of_an_objects_tensors(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, LOSS))
    assert [call.target for call in outcome.calls] == ["Loss"]
    assert not [finding for finding in outcome.findings if finding.severity.name == "ERROR"]
    assert outcome.graphs
