"""An optional argument without annotation, and with a name that says nothing, is a tensor where the body uses it as one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module, imported

recorded_options = agent_module("inputs.recorded_options")
expressions = agent_module("inputs.calling.expressions")

DRIFTING = """\
import torch
from torch import nn


class Drifting(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, x, drift=None, slope=None, remark=None):
        if drift is not None:
            x = x + self.layer(drift)
        if slope is not None:
            x = x * slope.shape[0]
        if remark is not None:
            x = x * len(remark.split())
        return x
"""


@pytest.mark.xdist_group("torch-in-this-process")
def test_what_a_layer_gets_or_whose_shape_is_read_is_offered(tmp_path: Path) -> None:
    module = imported(tmp_path / "drifting.py", DRIFTING)
    call = expressions.evaluate("Drifting()(float32[5, 4])", vars(module))
    assert dict(recorded_options.optional_arguments_of(call, 5.0)).keys() == {"drift", "slope"}
