"""Measures guards as they are: torch fills 32 MB of memory before each measurement, so that the processor's caches are empty.

That takes a tenth of a run that stops after Dynamo, and a third on a busy machine (``profile_guard_manager`` in
torch/csrc/dynamo/guards.cpp). An analysis needs no exact figure: how long guards take is a finding in recorded runs alone.
"""

from __future__ import annotations

import time
from typing import Any

from ..torch_internals.dynamo import PROFILE_GUARDS


def install() -> None:
    """Measure without clearing caches from now on."""
    PROFILE_GUARDS.wrap(lambda _: _one_check)


def _one_check(root: Any, f_locals: Any, n_iters: int = 1) -> float:
    """Microseconds for the guards below ``root``, in one check."""
    began = time.perf_counter()
    root.check(f_locals)
    return (time.perf_counter() - began) * 1e6
