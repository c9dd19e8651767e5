"""Reads torch's provenance artifacts: the nodes of each kernel, and the stacks of the user's code that it computes.

Written with ``INDUCTOR_PROVENANCE=1`` (``dump_inductor_provenance_info`` in torch/_inductor/debug.py, torch 2.8 to 2.13; under other names
before).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from compile_lens.stages.model import SourceSpan, TextSource
from compile_lens.trace.records import read_json
from compile_lens.trace.stack_frame import StackFrame
from compile_lens.trace.stack_text import parse_stack

MAPPINGS = "inductor_provenance_tracking_node_mappings"
STACKS = "inductor_provenance_tracking_kernel_stack_traces"
# torch 2.7 wrote the part that says which nodes a kernel has alone
OLDER_NODES = "inductor_triton_kernel_to_post_grad_nodes"
ARTIFACTS = frozenset({MAPPINGS, STACKS, OLDER_NODES})
KERNEL_TO_NODES = ("cppCodeToPost", "tritonCodeToPost")

# functions of torch's that are written in Python, as `F.rms_norm` is, are traced like the user's
OF_TORCH = re.compile(r"[/\\](?:site|dist)-packages[/\\]torch[/\\]")

Lines = Callable[[str], Sequence[str] | None]


def no_lines(_file: str) -> Sequence[str] | None:
    """Where no file of the user's can be read."""
    return None


@dataclass(frozen=True, slots=True)
class Provenance:
    """By torch's name of a call of a kernel (``cpp_fused_add_0:2``; before torch 2.9 the kernel alone)."""

    nodes: Mapping[str, tuple[str, ...]]
    stacks: Mapping[str, tuple[str, ...]]
    pre_grad: Mapping[str, tuple[str, ...]]

    def nodes_of(self, call: str, name: str) -> tuple[str, ...]:
        """The post-grad nodes that a call computes."""
        return self.nodes.get(call) or self.nodes.get(name) or ()

    def stacks_of(self, call: str, name: str) -> tuple[str, ...]:
        """The stacks, as torch printed them, of what a call computes."""
        return self.stacks.get(call) or self.stacks.get(name) or ()


def read_provenance(artifacts: Mapping[str, TextSource]) -> Provenance:
    """What the artifacts of one graph tell; nothing of those that are not there or damaged."""
    mappings = _read(artifacts, MAPPINGS)
    nodes = next((table for key in KERNEL_TO_NODES if (table := _table(mappings.get(key)))), None)
    return Provenance(
        nodes if nodes is not None else _table(_read(artifacts, OLDER_NODES)),
        _table(_read(artifacts, STACKS)),
        _table(mappings.get("postToPre")),
    )


def _read(artifacts: Mapping[str, TextSource], name: str) -> Mapping[str, object]:
    source = artifacts.get(name)
    text = source.text() if source is not None else None
    found = read_json(text)
    return found if isinstance(found, dict) else {}


def _table(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        return {}
    return {str(key): tuple(map(str, found)) for key, found in value.items() if isinstance(found, list)}


def spans_of_stack(text: str, lines_of: Lines) -> tuple[SourceSpan, ...]:
    """The places that a printed stack names, outermost first."""
    return tuple(span_of_frame(frame, lines_of) for frame in parse_stack(text))


def own_place(stack: Sequence[SourceSpan]) -> SourceSpan:
    """The innermost place of a stack that is not in torch; the innermost of all if torch calls torch."""
    return next((span for span in reversed(stack) if not OF_TORCH.search(span.file)), stack[-1])


def span_of_frame(frame: StackFrame, lines_of: Lines) -> SourceSpan:
    """The place of one frame. A traceback prints lines without their indentation, so columns need the file's own line.

    torch does not keep the last line of an expression, and a traceback underlines the rest of the line then: its end is not known.
    """
    if frame.caret is not None:
        lines = lines_of(frame.file)
        if lines is not None and frame.line <= len(lines):
            line = lines[frame.line - 1].rstrip()
            if line.strip() == frame.text:
                indent = len(line) - len(line.lstrip())
                start, end = frame.caret
                if end >= len(frame.text):
                    return SourceSpan(frame.file, frame.line, indent + start + 1)
                return SourceSpan(frame.file, frame.line, indent + start + 1, frame.line, indent + end + 1)
    return SourceSpan(frame.file, frame.line)
