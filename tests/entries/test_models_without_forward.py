"""A script ends before it calls its model, which has no ``forward``: the method that does its work is called."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.script_runs import graph_breaks, project, run

from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

ESTIMATOR = """\
import torch
from torch import nn


class Estimator(nn.Module):
    def __init__(self, parts=2):
        super().__init__()
        self.nets = nn.ModuleList(nn.Linear(16, 16) for _ in range(parts))

    def scale(self, wav):
        return wav / 2

    def separate(self, wav):
        wav = self.scale(wav)
        found = [net(wav) for net in self.nets]
        if found[0].sum() > 0:  # the break
            found.reverse()
        return torch.stack(found)
"""
SCRIPT = """\
import numpy as np
import torch
from estimator import Estimator


def separate(path):
    wav = np.load(path)
    if wav.ndim > 2:
        raise SystemExit(2)
    return run(wav)


def run(wav):
    model = Estimator(parts=3)
    return model.separate(torch.from_numpy(wav))


if __name__ == "__main__":
    raise SystemExit("usage: separate.py FILE")
"""


def test_its_work_is_called_as_a_method(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, {"estimator.py": ESTIMATOR, "separate.py": SCRIPT})
    outcome = run(warm_host, tmp_path / "separate.py")
    assert outcome.entry == "model"
    assert [call.target for call in outcome.calls] == ["Estimator"]
    assert "Estimator(parts=3).separate" in outcome.calls[0].text
    assert graph_breaks(outcome) == [("estimator.py", 16)]


def test_an_object_that_the_script_has_made_is_called_so_too(tmp_path: Path, warm_host: WarmHost) -> None:
    script = """\
from estimator import Estimator

model = Estimator(parts=4)
for line in open("missing/sounds.txt"):
    print(model.separate(line))
"""
    project(tmp_path, {"estimator.py": ESTIMATOR, "separate.py": script})
    outcome = run(warm_host, tmp_path / "separate.py")
    assert outcome.entry == "model"
    assert [call.making for call in outcome.calls] == ["Estimator.separate from line 3"]
    assert graph_breaks(outcome) == [("estimator.py", 16)]
