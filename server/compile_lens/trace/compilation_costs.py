"""What ``compilation_metrics`` says of the time that a compilation took (torch/_dynamo/utils.py, torch 2.6 to 2.13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compile_lens.trace.report import Costs

MICROSECOND = 1e-6


def costs_of(fields: Mapping[str, Any]) -> Costs:
    """The costs in the fields of one record; those of a backward pass have no frame, and the duration stands for it."""
    latency = fields.get("guard_latency_us")
    return Costs(
        frame=float(fields.get("entire_frame_compile_time_s") or (fields.get("duration_us") or 0) * MICROSECOND),
        backend=_seconds(fields, "backend_compile_time_s"),
        inductor=_seconds(fields, "inductor_compile_time_s"),
        code_generation=_seconds(fields, "code_gen_time_s"),
        triton=(fields["triton_compile_time_us"] * MICROSECOND) if fields.get("triton_compile_time_us") else None,
        guards=int(fields.get("guard_count") or 0),
        guard_latency_us=int(latency) if latency is not None else None,
        cuda_graph_skip=str(fields.get("cudagraph_skip_reason") or ""),
    )


def _seconds(fields: Mapping[str, Any], name: str) -> float | None:
    value = fields.get(name)
    return float(value) if value is not None else None
