"""Classes that their own file cannot construct: other files of the package do, and know the sizes that fit one another."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.test_entry_runs import run, write

from compile_lens.agent.inputs.importing.module import package_of
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")
HEAD = "import torch\nfrom torch import nn\n\n\n"
DECODER = (
    HEAD
    + """\
class Decoder(nn.Module):
    def __init__(self, mixer, plan):
        super().__init__()
        assert plan.key[::-1] == "redliub eht ot ylno nwonk"
        self.mixer, self.plan = mixer, plan

    def forward(self, x, *, offset):
        if x.sum() > 0:
            x = x + offset
        return self.mixer(x, self.plan)
"""
)
BUILD = '''\
"""Builds the model. A package that exports `build` hides this module."""

from types import SimpleNamespace

import torch
from torch import nn

from .parts.decoder import Decoder


class Mixer(nn.Module):
    def forward(self, x, plan):
        return x.cos()


class Whole(nn.Module):
    def __init__(self, decoder):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(12, 24), decoder

    def forward(self, x):
        return self.decoder(self.encoder(x), offset=torch.ones(24))


def build(checkpoint=None):
    return Whole(Decoder(Mixer(), SimpleNamespace(key="known only to the builder")))
'''
CONSTRUCTED = (
    HEAD
    + """\
from typing import Callable


class Bins(nn.Module):
    def __init__(self, borders: torch.Tensor):
        super().__init__()
        assert (borders[1:] > borders[:-1]).all() and borders.dim() == 1
        self.register_buffer("borders", borders)

    def forward(self, x):
        return torch.bucketize(x, self.borders)


class Heads(nn.Module):
    def __init__(self, width: int, sizes: dict[str, int], link: Callable[..., torch.Tensor]):
        super().__init__()
        self.heads = nn.ModuleList(nn.Linear(width, size) for size in sizes.values())
        self.link = link

    def forward(self, x):
        return self.link(scale=2.0, x=self.heads[0](x))


class Flow(nn.Module):
    def __init__(self, dims_in):
        super().__init__()
        self.conv = nn.Conv2d(dims_in[0][0], 8, 3)

    def forward(self, x):
        return self.conv(x).tanh()


class Wave(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.InstanceNorm1d(1, affine=True)
        self.conv = nn.Conv1d(1, 8, 500, stride=10)

    def forward(self, waveforms):
        return self.conv(self.norm(waveforms))


class Wrapper(nn.Module):
    def __init__(self, net):
        super().__init__()
        assert isinstance(net, Fitted), "nothing else is wrapped"
        self.net = net

    def forward(self, x):
        return self.net(x)


class Features(nn.Module):
    def __init__(self, model: nn.Module):
        super().__init__()
        self.model, self.kind = model, next(model.parameters()).dtype

    def forward(self, x):
        return self.model(x).to(self.kind)


class Fitted(nn.Module):
    def __init__(self):
        super().__init__()
        try:
            scale = float(torch.ones(1))
        except RuntimeError:
            print("what fake tensors have no value for")
        self.scale = scale

    def forward(self, x):
        return x * self.scale
"""
)


def test_a_part_of_a_model_that_another_file_builds(tmp_path: Path, warm_host: WarmHost) -> None:
    write(tmp_path, "from .build import build\n", "shop/__init__.py")
    write(tmp_path, "", "shop/parts/__init__.py")
    write(tmp_path, BUILD, "shop/build.py")
    outcome = run(warm_host, write(tmp_path, DECODER, "shop/parts/decoder.py"))
    (call,) = outcome.calls
    assert (call.target, call.making) == ("Decoder", "shop.build().get_submodule('decoder')")
    assert "GB0170" in {finding.code for finding in outcome.findings}
    # what is shown can be run
    again = run(warm_host, tmp_path / "shop/parts/decoder.py", call.text)
    assert again.entry == call.text and "GB0170" in {finding.code for finding in again.findings}


def test_arguments_of_constructors_that_are_no_numbers(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, write(tmp_path, CONSTRUCTED))
    called = {call.target: call.making for call in outcome.calls}
    assert called.keys() >= {"Bins", "Heads", "Flow", "Wave", "Wrapper", "Features"}
    assert called["Wrapper"] == "Wrapper(net=Fitted())"


def test_a_file_that_imports_its_own_package_by_name_is_a_module_of_it(tmp_path: Path) -> None:
    write(tmp_path, "", "shop/__init__.py")
    file = write(tmp_path, "", "shop/parts/deep/net.py")
    assert package_of(str(file), "from shop.base import Base\n") == (str(tmp_path), "shop.parts.deep.net")
    assert package_of(str(file), "from torch import nn\n") == (str(file.parent), "net")
