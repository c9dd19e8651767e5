"""A script whose statements are in other files: what they make before and after what fails there is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.script_runs import project, run
from tests.entries.test_find import specs

from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

NETS = """\
import torch


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 3)

    def forward(self, x):
        print("step")
        return self.linear(x)
"""
TRAINER = """\
import json

from shop.nets import Net


class Trainer:
    def __init__(self, width):
        self.width = width

    def fit(self):
        self.data = json.load(open("no/data.json"))
        self.net = Net(self.width)
        for batch in self.data:
            self.net(batch).sum().backward()


def main(width=5):
    names = open("no/names.txt").read().split()
    trainer = Trainer(width)
    trainer.fit()
"""
PACKAGE = {"pyproject.toml": "", "shop/__init__.py": "", "shop/nets.py": NETS, "shop/trainer.py": TRAINER}


def test_a_file_that_only_calls_what_it_imports_is_a_script() -> None:
    assert specs("from shop.trainer import main\nmain()\n") == ["model", "script"]
    assert specs("import shop.trainer as t\nnet = t.Trainer(4).net\n") == ["model", "script"]
    for text in (
        "from shop.trainer import main\nVERSION = '1'",
        "import os\nos.getpid()",
        "import torch\ntorch.ones(3)",
        "print(1)",
    ):
        assert specs(text) == ["script"], text


def test_the_functions_that_lead_to_the_model_go_on_after_what_fails(tmp_path: Path, warm_host: WarmHost) -> None:
    text = "from shop import trainer\n\nwidth = int(open('settings/width.txt').read())\ntrainer.main(width)\n"
    project(tmp_path, PACKAGE | {"tools/train.py": text, "settings/width.txt": "6"})
    outcome = run(warm_host, tmp_path / "tools" / "train.py")
    assert [(call.target, call.making) for call in outcome.calls] == [("Net", "Net from line 4")], outcome.failure
    assert "6]" in outcome.calls[0].inputs
    # what failed first is told, and what followed is no error of the program
    assert [f.code for f in outcome.findings if f.kind.value in ("run-error", "missing-data")] == ["missing-data"]
    assert any(f"Ran in the folder `{tmp_path}`, where `settings/width.txt` is." in note for note in outcome.notes)
