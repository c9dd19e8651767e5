"""A copy of what a program passes lies behind what lay before the original: the first batch of a tensor differs from the next one."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")


@pytest.mark.parametrize(("begin", "offset"), [(0, 0), (4, 32), (1000, 4096 + 8000 % 4096)])
def test_slices_keep_their_values_strides_and_place(begin: int, offset: int) -> None:
    torch = pytest.importorskip("torch")
    data = torch.randn(2000, 8)
    ((batch, columns), named) = agent_module("inputs.recording.copies_of_inputs").copies_of(
        ((data[begin : begin + 4].requires_grad_(), data[begin : begin + 4].t()), {"rate": 0.1})
    )
    assert named == {"rate": 0.1}
    assert torch.equal(batch, data[begin : begin + 4])
    assert torch.equal(columns, data[begin : begin + 4].t())
    assert batch.requires_grad
    assert (batch.storage_offset(), batch.stride()) == (offset, (8, 1))
    assert (columns.storage_offset(), columns.stride()) == (offset, (1, 8))
