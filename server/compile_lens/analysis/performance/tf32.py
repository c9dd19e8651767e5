"""Finds float32 matrix multiplications that do not use a GPU's tensor cores because TensorFloat32 is off."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind, Place, Related, Severity
from compile_lens.analysis.performance.compiled_graphs import CompiledGraph, compiled_graphs
from compile_lens.analysis.run_context import RunContext
from compile_lens.late_pattern import pattern
from compile_lens.trace.report import CompileReport

CODE = "tf32-off"
MULTIPLICATION = pattern(r"^torch\.ops\.aten\.(?:mm|addmm|bmm|baddbmm)\b")
# the first entry is `torch.backends.cuda.matmul.fp32_precision`, or whether TF32 is allowed in older versions: part of the key of
# Inductor's cache (torch/_inductor/codecache.py, ``FxGraphHashDetails``, torch 2.6 to 2.13)
SETTING = pattern(r"cuda_matmul_settings: \('?(?P<precision>\w+)'?,")
OFF = ("none", "ieee", "False")
CACHE_RECORDS = ("fx_graph_cache_miss", "fx_graph_cache_hit")
CAPABILITY = pattern(r"DeviceProperties\(type='cuda'.{0,999}?\bcc=(?P<capability>\d{1,9})")
AMPERE = 80


def find_tf32_off(context: RunContext) -> Iterator[Finding]:
    """One finding for a run, at the line of the user's with most such multiplications: one setting is for all of them."""
    report, sources = context.report, context.sources
    off = _off(report)
    groups: dict[Place, list[str]] = {}
    has_tensor_cores = bool(off) and any(_capability(graph) >= AMPERE for graph in compiled_graphs(report))
    for graph in compiled_graphs(report) if has_tensor_cores else ():
        if graph.compilation.compile_id not in off:
            continue
        for node in graph.nodes:
            if MULTIPLICATION.match(node.target) and node.dtype == "f32" and node.device.startswith("cuda"):
                place = graph.place_of(node, sources)
                if place is not None:
                    groups.setdefault(place, []).append(graph.compilation.compile_id)
    places = sorted(groups, key=lambda place: -len(groups[place]))
    for place in places[:1]:
        frames = [frame for found in groups.values() for frame in found]
        yield Finding(
            code=CODE,
            kind=Kind.PERFORMANCE,
            severity=Severity.INFORMATION,
            message="This float32 matrix multiplication does not use tensor cores: TensorFloat32 is off.",
            place=place,
            explanation=(
                "TensorFloat32 rounds the inputs to a 10-bit mantissa and is several times as fast. Most models are not affected; check"
                " yours."
            ),
            hints=("Call `torch.set_float32_matmul_precision('high')` at the start of the program.",),
            count=len(frames),
            frames=tuple(dict.fromkeys(frames)),
            related=tuple(Related(other, "This line does not use tensor cores, either.") for other in places[1:]),
        )


def _off(report: CompileReport) -> set[str]:
    """The compilations for which TF32 was off."""
    found: set[str] = set()
    for artifact in report.artifacts:
        if artifact.name in CACHE_RECORDS and artifact.compile_id is not None:
            match = SETTING.search(artifact.payload.text() or "")
            if match is not None and match["precision"] in OFF:
                found.add(artifact.compile_id)
    return found


def _capability(graph: CompiledGraph) -> int:
    match = CAPABILITY.search(graph.code)
    return int(match["capability"]) if match else 0
