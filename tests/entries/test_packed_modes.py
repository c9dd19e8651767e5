"""The function modes around a call of a model are packed where that call is kept: one may hold a large model."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from tests.entries.agent_package import agent_module

pytestmark = pytest.mark.xdist_group("torch-in-this-process")


def test_modes_are_told_apart_without_packing_them() -> None:
    overrides = pytest.importorskip("torch.overrides")
    modes = agent_module("inputs.calling.call_modes")
    packed: list[object] = []

    class Counted(overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        def __reduce__(self) -> Any:
            packed.append(self)
            return contextlib.nullcontext, ()

    with Counted():
        now = modes.modes_now()
        assert (now.functions, len(now.classes), packed) == (b"", 1, [])
        kept = modes.packed(now)
    assert (kept.kind, len(packed)) == (now.kind, 1)
    assert kept.functions
    assert modes.packed(modes.modes_now()) == modes.PLAIN
