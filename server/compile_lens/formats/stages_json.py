"""Stages and kernels as JSON (docs/json.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from compile_lens import __version__
from compile_lens.stages.collection import OpenedStages
from compile_lens.stages.gpu_preview import GpuPreview, LaunchConfiguration
from compile_lens.stages.model import Graph, GraphPass, Kernel, LineRange, PassPhase, SourceSpan, Stage
from compile_lens.stages.passes import changes_of

VERSION = 1


def document_of(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The whole document."""
    return {"version": VERSION, "tool": {"name": "compile-lens", "version": __version__}, "runs": runs}


def run_json(
    name: str, stages: OpenedStages, graphs: Iterable[dict[str, Any]], failure: str = "", notes: tuple[str, ...] = ()
) -> dict[str, Any]:
    """One file that was run, or one trace."""
    return {
        "file": name,
        "torch": stages.torch,
        "rank": stages.rank,
        "failure": failure,
        "notes": list(notes),
        "preview": preview_json(stages.preview) if stages.preview is not None else None,
        "graphs": list(graphs),
    }


def preview_json(preview: GpuPreview) -> dict[str, Any]:
    """For which GPU it was compiled, how certain each kernel is, and what was assumed."""
    return {
        "gpu": preview.device,
        "architecture": preview.architecture,
        "torch": preview.torch,
        "triton": preview.triton,
        "title": preview.title,
        "kernels": [
            {
                "name": kernel.name,
                "frame": kernel.compile_id,
                "certainty": kernel.certainty.value if kernel.certainty is not None else None,
                "why": kernel.why,
                "configurations": [_configuration_json(one) for one in kernel.configurations],
            }
            for kernel in preview.kernels
        ],
        "decisions": [
            {
                "what": decision.what,
                "taken": decision.taken,
                "others": list(decision.others),
                "why": decision.why,
                "at": span_json(decision.at) if decision.at is not None else None,
            }
            for decision in preview.decisions
        ],
    }


def _configuration_json(configuration: LaunchConfiguration) -> dict[str, Any]:
    return {
        "options": dict(configuration.options),
        "num_warps": configuration.num_warps,
        "num_stages": configuration.num_stages,
        "registers": configuration.registers,
        "shared": configuration.shared,
        "spills": configuration.spills,
        "error": configuration.error,
    }


def graph_json(graph: Graph) -> dict[str, Any]:
    """What names a graph."""
    return {
        "id": graph.id,
        "frame": graph.compile_id,
        "direction": graph.direction.value,
        "function": graph.function,
        "file": graph.file,
        "line": graph.line,
        "region": graph.region.name if graph.region is not None else "",
    }


def stage_json(stage: Stage, with_text: bool) -> dict[str, Any]:
    """One document; its text if it was asked for."""
    found: dict[str, Any] = {
        "id": stage.id,
        "kind": stage.kind.value,
        "title": stage.title,
        "language": stage.language,
        "kernel": stage.kernel,
    }
    return {**found, "text": stage.text} if with_text else found


def phase_json(phase: PassPhase, with_text: bool) -> dict[str, Any]:
    """One phase of passes; the diffs if they were asked for."""
    return {
        "phase": phase.kind.value,
        "seconds": phase.seconds,
        **_changes_json(phase, with_text),
        "passes": [
            {
                "name": one.name,
                "inner": one.inner,
                "depth": one.depth,
                "seconds": one.seconds,
                "changed": one.is_changed,
                **_changes_json(one, with_text),
            }
            for one in phase.passes
        ],
    }


def _changes_json(of: GraphPass | PassPhase, with_text: bool) -> dict[str, Any]:
    changes = changes_of(of)
    if changes is None:
        return {"nodes": None, **({"diff": None} if with_text else {})}
    nodes = {
        "added": list(changes.added),
        "removed": list(changes.removed),
        "changed": list(changes.changed),
        "reordered": changes.is_reordered,
    }
    return {"nodes": nodes, **({"diff": changes.text} if with_text else {})}


def kernel_json(kernel: Kernel) -> dict[str, Any]:
    """One call of one kernel."""
    return {
        "name": kernel.name,
        "call": kernel.call,
        "kind": kernel.kind.value,
        "operators": list(kernel.operators),
        "nodes": list(kernel.nodes),
        "sources": [span_json(span) for span in kernel.sources],
        "by_frame": kernel.is_by_frame,
        "code": [_range_json(lines) for lines in kernel.lines],
        "bytes_read": kernel.bytes_read,
        "bytes_written": kernel.bytes_written,
        "bytes_avoided": kernel.avoided,
    }


def span_json(span: SourceSpan) -> dict[str, Any]:
    """A place of the user's."""
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _range_json(lines: LineRange) -> dict[str, int]:
    return {"line": lines.first, "end_line": lines.last}


def not_fused_json(graph: Graph) -> list[dict[str, str]]:
    """Why kernels of a graph are apart."""
    return [{"one": found.one, "other": found.other, "reason": found.reason} for found in graph.not_fused]
