"""Turns the recorded arguments of the user's functions into text that calls them again."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.outcome_parts import RecordedCall as RecordedCall
from compile_lens.analysis.sources import Sources
from compile_lens.syntax.definitions import definition_at
from compile_lens.trace.recorded_inputs import CallInputs, TensorInput
from compile_lens.trace.report import Compilation, CompileReport

# a tensor larger than this is not made again
LARGEST_ELEMENTS = 1 << 28


def find_recorded_calls(report: CompileReport, sources: Sources) -> Iterator[RecordedCall]:
    """The first call of each function of the user's that was compiled by itself, if anything is known of its arguments."""
    known = {inputs.compile_id: inputs for inputs in report.inputs}
    calls: dict[tuple[str, str], dict[str, str]] = {}
    for compilation in report.compilations:
        inputs = known.get(compilation.compile_id)
        name = _name(compilation, sources) if inputs is not None else None
        if inputs is None or name is None:
            continue
        key = compilation.file, name
        if compilation.resume_of is None:
            if key not in calls:
                calls[key] = dict(_texts(inputs))
        elif key in calls:
            # what was not used before a break is described after it, under the same name
            calls[key] = {**dict(_texts(inputs)), **calls[key]}
    for (file, name), texts in calls.items():
        if texts:
            yield RecordedCall(file, name, tuple(texts.items()))


def _name(compilation: Compilation, sources: Sources) -> str | None:
    """The function of the user's that ``compilation`` is of, or goes on in; None where it cannot be called from outside."""
    tree = sources.tree_of(compilation.file) if sources.is_own(compilation.file) else None
    definition = definition_at(tree, compilation.line) if tree is not None else None
    if definition is None or definition.kind != "function" or "<locals>" in definition.qualified_name:
        return None
    return definition.qualified_name


def _texts(inputs: CallInputs) -> Iterator[tuple[str, str]]:
    for name, tensor in inputs.tensors:
        if _elements(tensor) <= LARGEST_ELEMENTS:
            yield name, _text(tensor)
    taken = {name for name, _ in inputs.tensors}
    for name, value in inputs.values:
        if name not in taken:
            yield name, value


def _text(tensor: TensorInput) -> str:
    gradient = ".requires_grad_()" if tensor.requires_grad else ""
    if tensor.stride == _contiguous(tensor.size) or not tensor.stride:
        return f"{tensor.dtype}[{', '.join(map(str, tensor.size)) or '()'}]{gradient}"
    return f"{tensor.dtype}[{_elements(tensor)}].as_strided({tensor.size}, {tensor.stride}){gradient}"


def _contiguous(size: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for side in reversed(size):
        strides.append(step)
        step *= max(side, 1)
    return tuple(reversed(strides))


def _elements(tensor: TensorInput) -> int:
    """How many elements lie between its first and its last."""
    if 0 in tensor.size:
        return 0
    return 1 + sum(
        (side - 1) * step for side, step in zip(tensor.size, tensor.stride or _contiguous(tensor.size), strict=True)
    )
