"""For which device a graph's kernels were compiled, from the figures that Inductor writes into them.

``DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, …)`` (torch/_inductor/runtime/hints.py, torch 2.6 to 2.13).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from compile_lens.knowledge.devices import Device, devices_like
from compile_lens.stages.model import Graph, StageKind

_PROPERTIES = re.compile(
    r"DeviceProperties\(type='cuda'[^)]{0,999}?multi_processor_count=(\d{1,9})[^)]{0,999}?\bcc=(\d{1,9})\b"
)


def devices_of(graphs: Iterable[Graph]) -> tuple[Device, ...]:
    """The devices with the figures in the kernels of ``graphs``: several if they share them, none for a CPU and for unknown ones."""
    for graph in graphs:
        stage = graph.stage(StageKind.OUTPUT_CODE)
        found = _PROPERTIES.search(stage.text) if stage is not None else None
        if found is not None:
            major, minor = divmod(int(found[2]), 10)
            return devices_like(major=major, minor=minor, multi_processor_count=int(found[1]))
    return ()
