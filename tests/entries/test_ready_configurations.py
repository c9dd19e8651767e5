"""What a package has ready is passed where a constructor takes a configuration that nothing else can make up."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

target = agent_module("inputs.synthesis.target")

MODEL = """\
from dataclasses import dataclass

from torch import nn


@dataclass
class LayerConfig:
    width: int
    heads: int

    def build(self):
        assert self.width % self.heads == 0
        return nn.Linear(self.width, self.width)


class Stack(nn.Module):
    @dataclass
    class Config:
        width: int
        layers: list

    def __init__(self, config: Config):
        super().__init__()
        self.table = nn.Embedding(10, config.width)
        self.layers = nn.ModuleList([layer.build() for layer in config.layers])

    def forward(self, tokens):
        states = self.table(tokens)
        for layer in self.layers:
            states = layer(states)
        return states


class Parts(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.parts = nn.ModuleDict({kind: config.make(config.width) for kind in config.kinds})

    def forward(self, x):
        return sum(part(x) for part in self.parts.values())


class OfOptions(nn.Module):
    def __init__(self, args):
        super().__init__()
        assert args.odd_number % 2 == 1 and args.kind.startswith("k-")
        self.layer = nn.Linear(args.model_dim * args.odd_number, 4)

    def forward(self, x):
        return self.layer(x)


class Documented(nn.Module):
    '''
    params = {
        "side": 5,
        "places": 3,
    }
    '''

    def __init__(self, params):
        super().__init__()
        assert params["side"] == params["places"] + 2
        self.layer = nn.Linear(params["side"], params["out_features"])

    def forward(self, x):
        return self.layer(x)
"""
PROGRAM = """\
import argparse


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--odd-number", type=int, default=7)
    parser.add_argument("--kind", default="k-one")
    parser.add_argument("--model_dim", type=int, default=512)
    print(parser.parse_args())
"""
REGISTRY = """\
from .model import LayerConfig, Stack


def _less(kind):
    return Stack.Config(width=24, layers=[LayerConfig(24, {"exact": 3}[kind])])


def _more(kind):
    return Stack.Config(width=96, layers=[LayerConfig(96, {"exact": 4}[kind])])


def stack_of(name, kind="exact"):
    return SIZES[name](kind)


SIZES = {"7b": _more, "debugmodel": _less}
"""
CONFIGS = """\
from types import SimpleNamespace

from torch import nn


def get_tiny():
    return SimpleNamespace(width=48, kinds=["a", "b"], make=lambda width: nn.Linear(width, width))


def of_another_model():
    return SimpleNamespace(width=48)
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder = tmp_path_factory.mktemp("ready")
    package = folder / "with_ready_configurations"
    package.mkdir()
    for name, text in (
        ("__init__", ""),
        ("model", MODEL),
        ("registry", REGISTRY),
        ("configs", CONFIGS),
        ("train", PROGRAM),
    ):
        Path(package, f"{name}.py").write_text(text)
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(folder))
        return importlib.import_module("with_ready_configurations.model")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (
            "Stack",
            "Stack(config=with_ready_configurations.registry.SIZES['debugmodel'](kind='exact'))(tokens=int64[2, 16] < 10)",
        ),
        (
            "OfOptions",
            "OfOptions(args=types.SimpleNamespace(odd_number=7, kind='k-one', model_dim=64))(x=float32[2, 16, 448])",
        ),
        ("Documented", 'Documented(params={"side": 5, "places": 3, "out_features": 64})(x=float32[2, 16, 5])'),
        ("Parts", "Parts(config=with_ready_configurations.configs.get_tiny())(x=float32["),
    ],
)
def test_a_configuration_of_the_package_is_passed(
    model: ModuleType, name: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(str(model.__file__)).parent.parent))
    assert shown in target.find_call(model, name, target.SearchBudget()).expression


def test_no_stub_is_a_configuration() -> None:
    absent = agent_module("inputs.importing.absent")
    library = absent.StubModule("library", ModuleNotFoundError("No module named 'library'"))
    module = ModuleType("uses_a_library")
    vars(module).update(library=library, options=library.options, own={"layers": 2})
    ready = agent_module("inputs.synthesis.project.ready_configurations")
    assert ready.configurations_with(("layers",), module) == ["uses_a_library.own"]
