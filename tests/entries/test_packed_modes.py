"""The function modes around a call of a model are packed where that call is kept: one may hold a large model."""

from __future__ import annotations

from typing import Any

import pytest
from tests.entries.agent_package import agent_module
from torch.overrides import TorchFunctionMode

pytestmark = pytest.mark.xdist_group("torch-in-this-process")

PACKED: list[object] = []


class Counted(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))

    def __reduce__(self) -> Any:
        PACKED.append(self)
        return Counted, ()


def test_modes_are_told_apart_without_packing_them() -> None:
    modes = agent_module("inputs.calling.call_modes")
    with Counted():
        now = modes.modes_now()
        assert (now.functions, len(now.classes), PACKED) == (b"", 1, [])
        kept = modes.packed(now)
    assert (kept.kind, len(PACKED)) == (now.kind, 1)
    with modes.in_modes(kept):
        assert modes.modes_now().kind == now.kind
    assert modes.packed(modes.modes_now()) == modes.PLAIN
