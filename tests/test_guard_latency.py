"""Runs measure guards without filling memory first."""

from __future__ import annotations

from typing import Any

import pytest

from compile_lens.agent.instrument import guard_latency

pytestmark = pytest.mark.xdist_group("torch-in-this-process")


def test_guards_are_measured_once_and_torchs_own_measurement_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from torch._dynamo import guards, utils

    asked = []

    def flushes(*arguments: Any) -> float:
        asked.append(arguments)
        return 0.0

    monkeypatch.setattr(guards, "profile_guard_manager", flushes)  # is put back after the test
    guard_latency.install()
    torch.compiler.reset()
    utils.clear_compilation_metrics()
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
    assert guards.profile_guard_manager.__wrapped__ is flushes
    assert not asked
    (metrics,) = utils.get_compilation_metrics()
    assert metrics.guard_latency_us is not None and metrics.guard_count
