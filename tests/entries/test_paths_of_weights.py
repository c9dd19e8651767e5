"""A constructor that loads its weights from a path gets the name of a file, and not a number, which is a file of the process."""

from __future__ import annotations

from pathlib import Path

import pytest
from agent_package import agent_module

from compile_lens.pipeline.entry_choice import choose
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

LOADED = """\
import torch
from torch import nn


class Loaded(nn.Module):
    def __init__(self, weights_path):
        super().__init__()
        state = torch.load(weights_path, map_location="cpu")
        self.layer = nn.Linear(8, 4)
        self.layer.load_state_dict(state["model"])

    def forward(self, x):
        return self.layer(x)
"""


def test_what_it_loads_keeps_its_initial_values(tmp_path: Path, warm_host: WarmHost) -> None:
    file = tmp_path / "loaded.py"
    file.write_text(LOADED)
    outcome = warm_host.run_choice(str(file), choose(str(file), LOADED, None, ""))
    assert [call.text for call in outcome.calls] == ["Loaded(weights_path='model.pt')(x=float32[2, 16, 8])"]
    assert [(finding.code, finding.place.line) for finding in outcome.findings][:1] == [("missing-checkpoint", 8)]


def test_only_names_of_files_are() -> None:
    guesses = agent_module("inputs.synthesis.source.guesses")
    words = {
        name: guesses.by_name(guesses.WORDS, name)
        for name in ("ckpt_path", "filename", "checkpoint_file", "pathway", "graph")
    }
    assert words == {
        "ckpt_path": "model.pt",
        "filename": "model.pt",
        "checkpoint_file": "model.pt",
        "pathway": None,
        "graph": None,
    }
