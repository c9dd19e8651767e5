"""Calls of a model are told apart by their tensors, also by those that do not say their sizes."""

from __future__ import annotations

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_tensor_without_sizes_is_a_kind_of_its_own() -> None:
    torch = pytest.importorskip("torch")
    kinds = agent_module("inputs.recording.kinds_of_calls")
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)])
    plain = torch.ones(2, 3)
    assert kinds.sizes_of_call(((nested, 1), {})) != kinds.sizes_of_call(((plain, 1), {}))
    assert kinds.types_of_call(((nested,), {})) != kinds.types_of_call(((plain,), {}))
    assert kinds.sizes_of_call(((plain,), {})) != kinds.sizes_of_call(((torch.ones(2, 4),), {}))
