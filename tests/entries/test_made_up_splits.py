"""A made-up data set is shorter than the real one, and is split in the same proportions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")


class Rows:
    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> int:
        return index


@pytest.fixture
def splits() -> Iterator[Any]:
    import torch

    code = torch.utils.data.random_split.__code__
    module = agent_module("substitutes.data.splits")
    module.Splits().changes()["torch.utils.data.dataset"](torch.utils.data.dataset)
    yield module
    torch.utils.data.random_split.__code__ = code


def test_a_made_up_set_is_split_in_the_proportions_of_the_real_one(splits: Any) -> None:
    import torch

    rows: Any = Rows()
    splits.remember(rows)
    generator = torch.Generator().manual_seed(0)
    parts = torch.utils.data.random_split(rows, (55000, 5000), generator=generator)
    assert [len(part) for part in parts] == [59, 5]
    inner = torch.utils.data.random_split(dataset=parts[0], lengths=[54999, 1, 0])
    assert [len(part) for part in inner] == [58, 1, 0]
    assert len(torch.utils.data.random_split(rows, [0.5, 0.5])[0]) == 32


def test_the_programs_own_sets_raise_as_they_do(splits: Any) -> None:
    import torch

    rows: Any = Rows()
    with pytest.raises(ValueError, match="does not equal the length"):
        torch.utils.data.random_split(rows, [60, 5])
