"""Settings that are left open (`width: ???`) get a value by their name, so that the program comes to its model."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.entries.agent_package import agent_module
from tests.entries.script_runs import project, run

from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

TRAIN = """\
import torch

import no_such_library


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 3)

    def forward(self, x):
        return self.linear(x)


@no_such_library.main(config_path="conf", config_name="train")
def main(cfg):
    net = Net(cfg.model.in_features)
    for x in open(cfg.source):
        net(x)


if __name__ == "__main__":
    main()
"""


class Typed:
    """Settings of a library that says which are open, and refuses values of another type."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {"source": "???", "model.kind": "???", "steps": "???"}

    @staticmethod
    def is_config(value: object) -> bool:
        return isinstance(value, Typed)

    @staticmethod
    def missing_keys(settings: Typed) -> set[str]:
        return {name for name, value in settings.values.items() if value == "???"}

    @staticmethod
    def update(settings: Typed, path: str, value: Any) -> None:
        if path == "model.kind" and not isinstance(value, int):
            raise TypeError(path)
        settings.values[path] = value


def test_values_are_those_of_the_name() -> None:
    settings = {"data": {"source": "???", "num_layers": "???"}, "rates": [0.2, "???"], "dropout": "???", "kind": "flat"}
    names = agent_module("inputs.scripts.open_values").fill(settings)
    assert names == ("data.source", "data.num_layers", "rates.1", "dropout")
    assert settings["data"] == {"source": "source", "num_layers": 8}
    assert (settings["dropout"], settings["kind"]) == (0.1, "flat")


def test_a_library_refuses_values_of_another_type(monkeypatch: pytest.MonkeyPatch) -> None:
    library: Any = ModuleType("omegaconf")
    library.OmegaConf = Typed
    monkeypatch.setitem(sys.modules, "omegaconf", library)
    settings = Typed()
    assert agent_module("inputs.scripts.open_values").fill(settings) == ("model.kind", "source", "steps")
    assert settings.values == {"source": "source", "model.kind": 8, "steps": 8}


def test_settings_that_the_program_has_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    registered = agent_module("inputs.scripts.open_values").registered
    assert registered("train") is None
    cleared: list[str] = []
    library: Any = ModuleType("hydra")
    library.initialize = lambda **_: contextlib.nullcontext()
    library.compose = lambda config_name: {"train": {"width": 3}}[config_name]
    state: Any = ModuleType("hydra.core.global_hydra")
    state.GlobalHydra = SimpleNamespace(instance=lambda: SimpleNamespace(clear=lambda: cleared.append("cleared")))
    monkeypatch.setitem(sys.modules, "hydra", library)
    monkeypatch.setitem(sys.modules, "hydra.core", ModuleType("hydra.core"))
    monkeypatch.setitem(sys.modules, "hydra.core.global_hydra", state)
    assert registered("train") == {"width": 3} and cleared
    assert registered("other") is None


def test_a_program_comes_to_its_model(tmp_path: Path, warm_host: WarmHost) -> None:
    settings = "source: ???\nmodel:\n  in_features: ???\n"
    project(tmp_path, {"conf/train.yaml": settings, "train.py": TRAIN})
    outcome = run(warm_host, tmp_path / "train.py", "model")
    assert [call.target for call in outcome.calls] == ["Net"], outcome.failure
    assert "8]" in outcome.calls[0].inputs, outcome.calls[0]
    assert any("`source`" in note and "`model.in_features`" in note for note in outcome.notes), outcome.notes
