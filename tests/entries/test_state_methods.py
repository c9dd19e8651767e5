"""Methods that do nothing but set what `forward` reads are called between two calls; what does more is not."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported
from tests.entries.test_entry_runs import codes, run, write
from tests.entries.test_usual_calls import HEAD, of_variations

from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

state = agent_module("variations.state_methods")

NET = (
    HEAD
    + """\
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.frozen = False
        self.causal = False

    def freeze_(self, frozen=True):
        self.frozen = frozen

    def set_causal(self, causal):
        self.causal = causal

    def forward(self, x):
        if self.frozen:
            x = x.detach()
        return self.linear(x) if not self.causal else self.linear(x.tril())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(Layer(), nn.ReLU(), Layer())
        self.bank = {}
        self.calls = 0
        self.scale = 1.0

    def freeze(self):
        \"\"\"Use it as it is.\"\"\"
        for _, module in self.layers.named_modules():
            if isinstance(module, Layer):
                module.freeze_()
        return self

    def unfreeze(self):
        for layer in self.layers[::2]:
            layer.freeze_(False)

    def freeze_first(self):
        for parameter in self.layers[0].parameters():
            parameter.requires_grad = False

    def set_scale(self, scale: float):
        if scale < 0:
            raise ValueError(scale)
        self.scale = scale

    def count(self):
        self.calls += 1

    def keep(self):
        self.bank["kept"] = True

    def told(self):
        print("frozen")
        self.scale = 2.0

    def merge(self):
        self.layers[0].linear.weight.data = self.layers[2].linear.weight
        self.scale = 2.0

    def load(self, path):
        self.scale = open(path).read()

    def inference(self):
        self.eval()

    def of_others(self):
        nn.functional.scale = self.scale

    def forward(self, x):
        return self.layers(x) * self.scale
"""
)


@pytest.fixture
def net_of(tmp_path: Path) -> ModuleType:
    return imported(tmp_path / "nets_with_state.py", NET)


def test_what_does_more_than_to_set_attributes_is_not_called(net_of: ModuleType) -> None:
    phrases = [method.phrase for method in state.state_methods(net_of.Net())]
    # another mode of the whole model is a variation already
    assert phrases == [
        "the model after `.freeze()`",
        "the model after `.freeze_first()`",
        "the model after `.set_scale(0.5)`, then `.set_scale(0.25)`",
    ]
    assert [method.phrase for method in state.state_methods(net_of.Layer())] == [
        "the model after `.freeze_()`",
        "the model after `.set_causal(True)`",
    ]


def test_the_state_is_as_before(net_of: ModuleType) -> None:
    net = net_of.Net()
    before = [dict(vars(module)) for module in net.modules()]
    for name, arguments in (("freeze", ()), ("freeze_first", ()), ("set_scale", (3.0,)), ("inference", ())):
        with state.after(net, name, arguments):
            pass
    assert [vars(module) for module in net.modules()] == before
    assert all(parameter.requires_grad for parameter in net.parameters())
    with pytest.raises(ValueError, match="-1"), state.after(net, "set_scale", (-1,)):
        pass
    assert net.scale == 1.0


def test_a_method_that_costs_a_compilation_is_named(tmp_path: Path, warm_host: WarmHost) -> None:
    text = NET.replace("(Layer(), nn.ReLU(), Layer())", "(Layer())")
    outcome = run(warm_host, write(tmp_path, text))
    assert codes(outcome) == []
    found = of_variations(outcome)
    assert found["With the model after `.freeze()`"] == ("would-recompile", 19)
    assert found["With the model after `.freeze_first()`"][0] == "would-recompile"
    assert found["With the model after `.set_scale(0.5)`, then `.set_scale(0.25)`"] == ("would-recompile", 76)


REACHING = """\
import torch
from torch import nn


class Described:
    def __set__(self, owner, value):
        print("set")

    def __get__(self, owner, kind=None):
        return 0


class Text:
    def __str__(self):
        return "printed"

    def __lshift__(self, other):
        return 3

    def __getitem__(self, at):
        return 3


TEXT, LIMIT = Text(), 4


def float(value):
    print("made")
    return 3


class Net(nn.Module):
    mode = Described()

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.flag = 1
        self.shown = TEXT

    @property
    def saved(self):
        print("read")
        return 5

    def by_assert(self):
        assert print("told")

    def by_error(self):
        raise ValueError(print("told"))

    def by_descriptor(self):
        self.mode = 1

    def by_text(self):
        self.flag = f"{TEXT}"

    def by_shift(self):
        self.flag = TEXT << 2

    def by_item(self):
        self.flag = self.shown[2]

    def by_property(self):
        self.flag = self.saved

    def by_own_float(self):
        self.flag = float(2)

    def by_default(self, text=TEXT):
        self.flag = f"{text}"

    def plainly(self, flag=True):
        if not isinstance(flag, bool):
            raise ValueError(f"no flag: {flag}")
        self.flag = min(LIMIT, self.flag + 1)
        self.linear.weight.requires_grad = flag

    def forward(self, x):
        return self.linear(x) * self.flag
"""


def test_what_runs_code_of_the_program_by_the_way_is_not_plain(tmp_path: Path) -> None:
    module = imported(tmp_path / "reaching_net.py", REACHING)
    methods = agent_module("variations.plain_methods").PlainMethods(list(module.Net().modules()))
    ways = [name for name in vars(module.Net) if name.startswith("by_")]
    assert len(ways) == 9
    assert [name for name in ways if methods.is_plain(name)] == []
    assert methods.is_plain("plainly")


def test_a_module_with_operators_of_its_own_has_no_plain_methods(tmp_path: Path) -> None:
    source = REACHING.replace(
        "    def forward", "    def __len__(self):\n        return print('asked')\n\n    def forward"
    )
    module = imported(tmp_path / "counted_net.py", source)
    methods = agent_module("variations.plain_methods").PlainMethods(list(module.Net().modules()))
    assert not methods.is_plain("plainly")
