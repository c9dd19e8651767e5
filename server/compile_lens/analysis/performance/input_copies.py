"""Finds inputs whose in-place change cannot be part of the graph, so that each call copies the new value back."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.analysis.functions import function_place
from compile_lens.analysis.run_context import RunContext
from compile_lens.late_pattern import pattern

CODE = "input-copy"
METADATA = "aot_forward_graph_fw_metadata"
INPUT = pattern(r"InputAliasInfo\((?P<fields>[^()]*)\)")
FIELD = pattern(r"(?<!\w)(?P<name>\w+)=(?P<value>\w+)")


def find_input_copies(context: RunContext) -> Iterator[Finding]:
    """One finding per function, with the inputs by number."""
    report, sources = context.report, context.sources
    compilations = {compilation.compile_id: compilation for compilation in report.compilations}
    groups: dict[tuple[Place, int], list[str]] = {}
    # the backends of smaller depths keep no mutation in their graphs
    by_inductor = {artifact.compile_id for artifact in report.artifacts if artifact.name == "inductor_output_code"}
    for artifact in report.artifacts:
        compilation = compilations.get(artifact.compile_id or "")
        if artifact.compile_id not in by_inductor:
            continue
        if artifact.name != METADATA or compilation is None or not sources.is_own(compilation.file):
            continue
        number = sum(_is_copied_back(match["fields"]) for match in INPUT.finditer(artifact.payload.text() or ""))
        if number:
            key = function_place(compilation.file, compilation.line, sources), number
            groups.setdefault(key, []).append(compilation.compile_id)
    for (place, number), frames in groups.items():
        what = "an input" if number == 1 else f"{number} inputs"
        yield Finding(
            code=CODE,
            kind=Kind.PERFORMANCE,
            severity=Severity.INFORMATION,
            message=f"This function changes {what} in place outside the graph: each call copies the new value back.",
            place=place,
            explanation=(
                "A change that autograd must see, or of a tensor's shape or memory, is not part of the graph: the graph returns the new"
                " value, and torch copies it into the input."
            ),
            hints=("Return the new value and assign it at the call, or make the change under `torch.no_grad()`.",),
            count=len(frames),
            frames=tuple(dict.fromkeys(frames)),
        )


def _is_copied_back(fields: str) -> bool:
    """Whether a mutation is outside the graph.

    ``InputAliasInfo.mutation_type`` and ``_check_if_mutation_can_be_in_graph`` (torch/_functorch/_aot_autograd, torch 2.6 to 2.13).
    """
    is_true = {match["name"]: match["value"] == "True" for match in FIELD.finditer(fields)}
    if not is_true.get("mutates_data"):
        return False
    is_hidden = (
        is_true.get("mutations_hidden_from_autograd")
        or is_true.get("mutations_under_no_grad_or_inference_mode")
        or not (is_true.get("mutates_metadata") or is_true.get("requires_grad"))
    )
    return not (is_true.get("keep_input_mutations") and is_hidden)
