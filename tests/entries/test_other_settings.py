"""Which settings of a constructor are tried besides, and which sizes of a call, is read from the call itself."""

from __future__ import annotations

from types import ModuleType

import pytest
from tests.entries.agent_package import agent_module, imported

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.xdist_group("torch-in-this-process")

settings = agent_module("inputs.synthesis.making.other_settings")
sizes = agent_module("variations.usual_sizes")
snapshots = agent_module("variations.call_snapshot")

MODULES = """\
from __future__ import annotations

from typing import Literal, Optional

import torch
from torch import nn


class Pool(nn.Module):
    def __init__(
        self,
        dim: int,
        mode: str = "mean",
        side: Optional[Literal["left", "right"]] = "left",
        dropout=0.0,
        layers=1,
        bias=True,
        name="pool",
        pretrained=False,
        use_cuda=False,
    ):
        super().__init__()
        self.mode = mode

    def forward(self, x):
        if self.mode == "mean":
            return x.mean(1)
        return x.sum(1) if self.mode == "sum" else x


def make():
    return Pool(4)
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return imported(tmp_path_factory.mktemp("settings") / "program_of_settings.py", MODULES)


def phrases(module: ModuleType, text: str) -> list[str]:
    return [each.phrase for each in settings.other_settings(module, text)]


def test_flags_come_before_modes_and_numbers_that_switch_something_on(module: ModuleType) -> None:
    assert phrases(module, "Pool(dim=4)(x=float32[2, 3, 4])") == [
        "bias=False",
        "mode='sum'",
        "side='right'",
        "dropout=0.1",
        "layers=2",
    ]


def test_the_call_differs_in_that_argument_alone(module: ModuleType) -> None:
    found = settings.other_settings(module, "Pool(4, bias=False).forward(x=int64[2, 3] < 7)")
    assert next(iter(found)).expression == "Pool(4, bias=True).forward(x=int64[2, 3] < 7)"


def test_an_object_that_is_made_in_another_way_has_no_settings(module: ModuleType) -> None:
    assert phrases(module, "make()(x=float32[2, 3, 4])") == []
    assert phrases(module, "Pool(**{'dim': 4})(x=float32[2, 3, 4])") == []


def shapes(*tensors: object, function: object = lambda x, y=None: x) -> list[tuple[str, list[list[int]]]]:
    """Of each variation in size what it is of, and the shapes of its first call."""
    base = snapshots.take_snapshot(tensors, {})
    found = sizes.usual_sizes(base, snapshots.ArgumentNames(function))
    return [(each.choice, [list(value.shape) for _, value in each.calls[0].leaves()]) for each in found]


def test_a_batch_is_the_first_dimension_of_all_tensors_that_share_it() -> None:
    batch = [found for choice, found in shapes(torch.ones(4, 8), torch.ones(4)) if choice == "batch"]
    assert batch[0] == [[5, 8], [5]]
    # a state has it in the second one
    assert [[5, 8, 3], [2, 5, 3]] in [f for c, f in shapes(torch.ones(4, 8, 3), torch.ones(2, 4, 3)) if c == "batch"]


def test_a_mask_has_the_length_of_what_it_masks() -> None:
    lengths = [found for choice, found in shapes(torch.ones(2, 6, 4), torch.ones(2, 6)) if choice == "length"]
    assert lengths[0] == [[2, 7, 4], [2, 7]]
    # channels first, where eager refuses the other
    assert [[2, 6, 5], [2, 6]] in lengths


def test_an_image_grows_in_both_sides_and_no_rank_changes() -> None:
    found = shapes(torch.ones(2, 3, 8, 8), torch.ones(2, 8, 8, 8))
    assert ("sides", [[2, 3, 16, 16], [2, 8, 16, 16]]) in found
    assert "length" not in {choice for choice, _ in found}
    # keys of another length share one side with the queries
    queries = shapes(torch.ones(2, 4, 8, 8), torch.ones(2, 4, 6, 8))
    assert next(found for choice, found in queries if choice == "length") == [[2, 4, 9, 8], [2, 4, 6, 8]]
    assert shapes(torch.ones(5)) == []
