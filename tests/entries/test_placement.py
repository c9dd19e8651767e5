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


# eager takes the targets on the CPU: the emulated GPU compares no devices
LANGUAGE_MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, vocabulary=100, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim, device="cuda")
        self.head = nn.Linear(dim, vocabulary, device="cuda")

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor | None = None):
        logits = self.head(self.embed(tokens))
        if targets is None:
            return logits
        return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
"""


def test_optional_arguments_are_where_the_object_is(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, LANGUAGE_MODEL))
    assert [call.target for call in outcome.calls] == ["Model"]
    # and not that a call with the targets on the CPU would fail to compile
    assert {finding.code for finding in outcome.findings} == {"cpu-for-gpu", "would-recompile"}
    # the targets of tokens are tokens
    assert any("`targets=int64[2, 16] < 100`" in finding.message for finding in outcome.findings)


# eager computes with both devices on the emulated GPU, and no compiler does
OF_FUNCTIONS = """\
import torch
from torch import nn


def masked(x, lengths):
    mask = torch.arange(x.shape[1], device="cuda")[None] < lengths[:, None]
    return x * mask[..., None]


class Positions(nn.Module):
    def forward(self, x):
        return x + torch.arange(x.shape[1], device=torch.device("cuda"))[None, :, None]


class Streamed(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim, dim))

    def forward(self, x):
        return nn.functional.linear(x, self.weight.to("cuda"))


class Moving(nn.Module):
    def forward(self, x):
        return x.to("cuda") + torch.ones(1, device="cuda")
"""


def test_inputs_are_where_a_function_makes_its_tensors(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, OF_FUNCTIONS))
    on_gpu = {call.target: "on the GPU" in call.inputs for call in outcome.calls}
    assert on_gpu == {"masked": True, "Positions": True, "Streamed": True, "Moving": False}
    assert not [finding for finding in outcome.findings if finding.severity.name == "ERROR"]
    assert outcome.graphs >= 4


BOTH = """import torch

TABLE = torch.ones(16)


class Scaled(torch.nn.Module):
    def forward(self, x):
        return x.to("cuda") * TABLE
"""


def test_what_mixes_devices_by_itself_stays_an_error(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, BOTH))
    assert "fake-tensor-error" in [finding.code for finding in outcome.findings]
