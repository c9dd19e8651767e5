"""Settings that a library composes from files for the function that it decorates: read where it is not installed, or ends before."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.entries.agent_package import agent_module
from tests.entries.script_runs import project, run

from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

FILES = {
    "conf/train.yaml": """\
defaults:
  - model: small
  - data: ???
  - extra/clock: null
  - common
  - _self_
width: 6
name: ${model.kind}
model:
  depth: 2
""",
    "conf/common.yaml": "seed: 1\nwidth: 1\n",
    "conf/model/small.yaml": "kind: flat\ndepth: 1\nwidth: ${width}\n",
    "conf/model/large.yaml": "kind: deep\n",
    "conf/data/whole.yaml": "path: whole\n",
    "conf/data/base.yaml": "path: ???\n",
    "conf/data/tiny.yaml": "# @package _global_\npath: tiny\n",
    "conf/plain.json": '{"width": 3, "layers": [{"size": 4}]}',
}
TRAIN = """\
import dataclasses

import torch

import no_such_library


@dataclasses.dataclass
class Options:
    width: int = 7


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 3)

    def forward(self, x):
        return self.linear(x)


@no_such_library.main(config_path="conf", config_name="train")
def main(cfg):
    net = Net(cfg.model.width)
    torch.optim.SGD(net.parameters(), cfg.rate)
    for x in open(cfg.path):
        net(x)


if __name__ == "__main__":
    main()
"""


def test_groups_are_merged_in_their_order(tmp_path: Path) -> None:
    project(tmp_path, FILES)
    found = agent_module("inputs.scripts.composed_settings").composed(str(tmp_path / "conf"), "train")
    assert dict(found.model) == {"kind": "flat", "depth": 2, "width": 6}
    assert (found.width, found.seed, found.path, found.name) == (6, 1, "tiny", "flat")
    found.model.width = 8
    assert found["model"]["width"] == 8
    with pytest.raises(AttributeError):
        _ = found.rate


def test_settings_in_other_forms(tmp_path: Path) -> None:
    project(tmp_path, FILES)
    composed = agent_module("inputs.scripts.composed_settings").composed
    assert composed(str(tmp_path / "conf"), "plain").layers[0].size == 4
    assert composed(str(tmp_path / "conf"), "nowhere") is None


def test_functions_that_a_library_of_others_starts(tmp_path: Path) -> None:
    project(tmp_path, FILES)
    source = """\
@remote(memory=3)
def train(options: Options, steps): ...

@app.function()
def fit(cfg): ...

@app.register("x")
def build(cfg): ...

@functools.cache
def table(cfg): ...
"""
    file = str(tmp_path / "train.py")
    names: dict[str, Any] = {"__name__": "train", "Options": type("Options", (), {"__module__": "train"})}
    plain = {name: object() for name in ("remote", "app", "functools")}
    exec(compile("\n".join(line if line[:1] != "@" else "" for line in source.splitlines()), file, "exec"), names)
    train = names["train"]
    outside = type("Kept", (), {"__module__": "library.tasks"})
    names |= {name: outside() for name in plain} | {"functools": __import__("functools")}
    names["train"] = SimpleNamespace(_function=train)
    configured = agent_module("inputs.scripts.configured_functions")
    assert [name for name, _ in configured.decorated_functions(names, source, file)] == ["train", "fit"]
    assert list(configured.settings_for(train, source, file)) == ["options"]
    written = '@app.main("conf", name="train.yaml")\ndef fit(cfg): ...\n'
    assert configured.settings_for(names["fit"], written, file)["cfg"].seed == 1


def test_a_model_that_a_function_with_settings_makes(tmp_path: Path, warm_host: WarmHost) -> None:
    project(tmp_path, FILES | {"train.py": TRAIN})
    outcome = run(warm_host, tmp_path / "train.py")
    assert [call.target for call in outcome.calls] == ["Net"], outcome.failure
    assert "6]" in outcome.calls[0].inputs, outcome.calls[0]
