"""A program may write any artifact into its own trace. What is no note costs itself alone: all else is made of the rest."""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compile_lens.pipeline.loaded_trace import read_recorded
from compile_lens.repro.capture import read_capture
from compile_lens.stages.opened import OpenedStages, report_of, stages_of
from compile_lens.trace.records import opened

TRACE = Path(__file__).parent.parent / "data" / "stages" / "dedicated_log_torch_trace_block_2.13.log.gz"
KERNEL = {
    "kernel": "triton_poi_fused_0",
    "class": "exact",
    "why": "w",
    "configurations": [
        {"options": {"XBLOCK": 1}, "num_warps": 4, "num_stages": 1, "registers": 3, "assembly": {"ptx": "x"}}
    ],
}
PASS = {"name": "p", "seconds": 1.0, "changed": True, "graph": "", "depth": 0, "before": 0, "after": 1}
PART = {"name": "op0", "buffers": ["buf0"], "origin": "", "origins": ["x"]}
NODE = {"name": "op0", "type": "SchedulerNode", "parts": [PART], "reads": {"a": 1}, "writes": {}, "avoided": {}}
CALL = {"region": 1, "needed": None, "args": [], "kwargs": {}, "globals": {}, "attributes": {}, "unsupported": []}
REGION = {"region": 1, "files": [], "target": "t", "options": {}, "config": [], "state": None, "left_out": []}
NOTES: dict[str, Any] = {
    "compile_lens_gpu_preview": {
        "gpu": "H100", "name": "x", "architecture": "sm_90", "torch": "2.13", "triton": "3", "wanted_triton": "3", "retargeted": False,
    },
    "compile_lens_gpu_kernel": KERNEL,
    "compile_lens_gpu_decision": {
        "what": "value", "taken": "t", "others": ["o"], "why": "w", "stack": [{"file": "/x.py", "line": 5, "name": "f"}],
    },
    "compile_lens_post_grad_passes": {"phase": "post_grad", "seconds": 1.0, "passes": [PASS], "graphs": ["a", "b"]},
    "compile_lens_fusion": {"not_fused": [["a", "b", "c"]], "nodes": [NODE]},
    "compile_lens_capture_region": REGION,
    "compile_lens_capture_call": CALL,
    "compile_lens_frame": {"region": 1},
    "inductor_collective_schedule": ["torch.ops._c10d_functional.all_reduce_.default(x)"],
    "fx_graph_cache_bypass": {"cache_bypass_reason": "r"},
    "inductor_provenance_tracking_node_mappings": {"postToPre": {"a": ["b"]}},
}  # fmt: skip
ODD: tuple[Any, ...] = (None, True, -1, 10**30, 1e308, "\ud83d", "x", [], {}, [None], {"x": None}, [[[1]]])
# in one trace
AT_ONCE = 12
NO_JSON = ("", "{no", "[" * 100_000, '{"a": ' * 50_000, "1e999")


def record(name: str, text: str) -> bytes:
    digest = hashlib.md5(text.encode("utf-8", "surrogatepass")).hexdigest()
    artifact = {"name": name, "encoding": "json"}
    head = {"artifact": artifact, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": digest}
    return f"V1122 12:00:00.000000 1 torch/x.py:1] {json.dumps(head)}\n\t{text}\n".encode("utf-8", "surrogatepass")


def forged(note: Any) -> Iterator[str]:
    """Texts like that of ``note``, each with something else in one place."""
    yield from NO_JSON
    for odd in ODD:
        yield json.dumps(odd)
    for place in _places(note):
        for odd in ODD:
            other = copy.deepcopy(note)
            around = other
            for key in place[:-1]:
                around = around[key]
            around[place[-1]] = odd
            yield json.dumps(other)
        del around[place[-1]]
        yield json.dumps(other)


def _places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield (*above, key)
        yield from _places(value[key], (*above, key))


def told(stages: OpenedStages) -> list[str]:
    """What an editor shows of stages."""
    preview = stages.preview
    said = [preview.title, preview.triton_problem, *map(str, preview.decisions)] if preview is not None else []
    for kernel in preview.kernels if preview is not None else ():
        said += [kernel.label, *map(str, kernel.configurations)]
        said += [text.text() or "" for one in kernel.configurations for text in one.assembly.values()]
    for graph in stages.graphs:
        said += [stage.text or "" for stage in graph.stages]
        said += [str(phase) for phase in (*graph.phases, *graph.kernels, *graph.not_fused, *graph.times)]
    return said


@pytest.mark.parametrize("name", NOTES)
def test_a_forged_note_costs_itself_alone(name: str, tmp_path: Path) -> None:
    real = gzip.decompress(TRACE.read_bytes())
    others = b"".join(record(other, json.dumps(note)) for other, note in NOTES.items() if other != name)
    file = tmp_path / "t.log"
    file.write_bytes(real)
    graphs, codes = len(stages_of(opened(file)).graphs), {one.code for one in read_recorded(file).outcome.findings}
    texts = list(forged(NOTES[name]))
    for first in range(0, len(texts), AT_ONCE):
        file.write_bytes(real + b"".join(record(name, text) for text in texts[first : first + AT_ONCE]) + others)
        trace = opened(file)
        stages = stages_of(trace)
        assert len(told(stages)) > graphs == len(stages.graphs)
        read_capture(report_of(trace))
        assert codes <= {one.code for one in read_recorded(file).outcome.findings}
