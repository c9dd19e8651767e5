"""Puts the records of a trace in order: which graph, in which direction, each document belongs to.

torch names the frame in each record, and nothing more. Within a frame, what AOTAutograd writes comes before what Inductor writes, and the
backward graph is compiled later, when it is first needed (torch/_functorch/_aot_autograd/, torch/_inductor/compile_fx.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from compile_lens.stages.fusion import NOTE as FUSION
from compile_lens.stages.model import Direction, PhaseKind, StageKind, TextSource
from compile_lens.stages.output_code import AOT_ID
from compile_lens.stages.provenance import ARTIFACTS as PROVENANCE
from compile_lens.trace.records import Payload
from compile_lens.trace.report import Artifact

# what one frame has
FRAME = {"dynamo_output_graph": StageKind.DYNAMO, "dynamo_cpp_guards_str": StageKind.GUARDS}
# what the compiler is given for one graph; with DistributedDataParallel a frame has several
LOWERING = {
    "before_pre_grad_graph": StageKind.PRE_GRAD_BEFORE,
    "after_pre_grad_graph": StageKind.PRE_GRAD,
    "inductor_pre_grad_graph": StageKind.PRE_GRAD,
    "aot_joint_graph": StageKind.JOINT,
    "aot_forward_graph": StageKind.FORWARD,
    "aot_backward_graph": StageKind.BACKWARD,
    "aot_inference_graph": StageKind.INFERENCE,
}
# what Inductor makes of one direction
COMPILED = {
    "before_post_grad_graph": StageKind.POST_GRAD_BEFORE,
    "after_post_grad_graph": StageKind.POST_GRAD,
    "inductor_post_grad_graph": StageKind.POST_GRAD,
    "compile_lens_ir_pre_fusion": StageKind.IR_PRE_FUSION,
    "compile_lens_ir_post_fusion": StageKind.IR_POST_FUSION,
    "inductor_output_code": StageKind.OUTPUT_CODE,
}
# the graph around the passes on forward and backward together; no stages, since only graphs without a backward have them
AROUND_JOINT = ("before_joint_graph", "after_joint_graph")
# what the agent notes of passes; a graph inside of the graph may have notes of its own
OF_LOWERING = frozenset({"compile_lens_pre_grad_passes", "compile_lens_joint_passes"})
OF_COMPILED = frozenset({"compile_lens_post_grad_passes"})
# it begins what Inductor makes, and is no stage
RUNNABLE = "fx_graph_runnable"
CODE = "inductor_output_code"
# written after the code
# before it, and no stage either
BEFORE_CODE = frozenset({FUSION, RUNNABLE})
AFTER_CODE = frozenset({*PROVENANCE, "triton_kernel_info"})
# how much of the code is read for its first line
HEAD = 200


@dataclass(frozen=True, slots=True)
class JoinedTexts:
    """Several records as one text."""

    parts: tuple[TextSource, ...]

    def text(self) -> str | None:
        """What is left of them; None if all are lost."""
        texts = [text for part in self.parts if (text := part.text()) is not None]
        return "\n\n\n".join(texts) if texts else None


@dataclass(slots=True)
class Compiled:
    """What Inductor wrote of one direction of a graph, by the records' names; ``inner`` are those of graphs inside of it."""

    artifacts: dict[str, Artifact] = field(default_factory=dict)
    passes: list[Payload] = field(default_factory=list)
    inner: dict[str, list[Payload]] = field(default_factory=dict)

    def text_of(self, name: str) -> TextSource | None:
        """A record; with those of the graphs inside of the graph, where they have records of their own."""
        own = self.artifacts.get(name)
        if own is None or name not in self.inner:
            return own.payload if own is not None else None
        return JoinedTexts((own.payload, *self.inner[name]))

    @property
    def aot_id(self) -> tuple[str, str]:
        """The number and the direction that the code begins with; '' if there is no code or it does not tell."""
        code = self.artifacts.get(CODE)
        found = AOT_ID.match(_head(code)) if code is not None else None
        return (found["number"], found["direction"]) if found is not None else ("", "")


@dataclass(slots=True)
class Lowering:
    """What became of one graph that Dynamo handed to the compiler."""

    artifacts: dict[str, Artifact] = field(default_factory=dict)
    compiled: dict[Direction, Compiled] = field(default_factory=dict)
    passes: list[Payload] = field(default_factory=list)

    @property
    def is_training(self) -> bool:
        """Whether it has a backward graph."""
        return any(name in self.artifacts for name in ("aot_joint_graph", "aot_forward_graph", "aot_backward_graph"))

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The graphs that it has."""
        if self.is_training or Direction.BACKWARD in self.compiled:
            backward = Direction.BACKWARD in self.compiled or "aot_backward_graph" in self.artifacts
            return (Direction.FORWARD, Direction.BACKWARD) if backward else (Direction.FORWARD,)
        if self.compiled or "aot_inference_graph" in self.artifacts:
            return tuple(self.compiled) or (Direction.INFERENCE,)
        return (Direction.NOT_LOWERED,)


@dataclass(slots=True)
class Frame:
    """One entry of one frame: what Dynamo wrote, and what was made of its graph."""

    compile_id: str
    attempt: int
    artifacts: dict[str, Artifact] = field(default_factory=dict)
    lowerings: list[Lowering] = field(default_factory=list)
    current: Compiled | None = None


def group(artifacts: Iterable[Artifact]) -> list[Frame]:
    """The frames with a graph, in the order in which Dynamo captured them; attempts that were given up are left out."""
    frames: list[Frame] = []
    newest: dict[str, Frame] = {}
    for artifact in artifacts:
        if artifact.compile_id is None or artifact.name not in _KNOWN:
            continue
        frame = newest.get(artifact.compile_id)
        if frame is None or _begins_anew(frame, artifact):
            if frame is not None and frame.attempt < artifact.attempt and not _has_code(frame):
                frames.remove(frame)
            frame = newest[artifact.compile_id] = Frame(artifact.compile_id, artifact.attempt)
            frames.append(frame)
        _add(frame, artifact)
    for frame in frames:
        _finish(frame)
    return [frame for frame in frames if frame.lowerings or "dynamo_output_graph" in frame.artifacts]


_KNOWN = frozenset({*FRAME, *LOWERING, *AROUND_JOINT, *COMPILED, *AFTER_CODE, *BEFORE_CODE, *OF_LOWERING, *OF_COMPILED})
# of a graph inside of the graph (a branch of `torch.cond`), what is written again before the code
REPEATED = frozenset({"compile_lens_ir_pre_fusion", "compile_lens_ir_post_fusion", FUSION})


def _begins_anew(frame: Frame, artifact: Artifact) -> bool:
    return artifact.name == "dynamo_output_graph" and bool(frame.artifacts or frame.lowerings)


def _has_code(frame: Frame) -> bool:
    return any(lowering.compiled for lowering in frame.lowerings) or frame.current is not None


def _add(frame: Frame, artifact: Artifact) -> None:
    name = artifact.name
    if name in FRAME:
        frame.artifacts[name] = artifact
    elif name in LOWERING:
        _finish(frame)
        if not frame.lowerings or _is_next(frame.lowerings[-1], name):
            frame.lowerings.append(Lowering())
        frame.lowerings[-1].artifacts[name] = artifact
    elif name in OF_LOWERING or name in AROUND_JOINT:
        if not frame.lowerings:
            frame.lowerings.append(Lowering())
        if name in OF_LOWERING:
            frame.lowerings[-1].passes.append(artifact.payload)
        else:
            frame.lowerings[-1].artifacts.setdefault(name, artifact)
    elif name in OF_COMPILED:
        if frame.current is None or CODE in frame.current.artifacts:
            _finish(frame)
            frame.current = Compiled()
        frame.current.passes.append(artifact.payload)
    elif name in AFTER_CODE:
        if frame.current is not None:
            frame.current.artifacts[name] = artifact
    else:
        if frame.current is not None and CODE not in frame.current.artifacts and name in REPEATED:
            if name in frame.current.artifacts:
                frame.current.inner.setdefault(name, []).append(artifact.payload)
            else:
                frame.current.artifacts[name] = artifact
            return
        if frame.current is not None and (name in frame.current.artifacts or CODE in frame.current.artifacts):
            _finish(frame)
        if frame.current is None:
            frame.current = Compiled()
        frame.current.artifacts[name] = artifact


def _is_next(lowering: Lowering, name: str) -> bool:
    """Whether a record belongs to a graph after ``lowering``: it has that record already, or Inductor has begun with it."""
    return name in lowering.artifacts or bool(lowering.compiled and name != "aot_backward_graph")


def _finish(frame: Frame) -> None:
    """Give what Inductor wrote to the graph it was made of."""
    compiled, frame.current = frame.current, None
    if compiled is None or not set(compiled.artifacts) - {RUNNABLE}:
        return
    if not frame.lowerings:
        frame.lowerings.append(Lowering())
    number, named = compiled.aot_id
    if named in {"forward", "backward", "inference"}:
        direction = Direction(named)
        lowering = _lowering_of(frame.lowerings, number, direction)
        lowering.compiled[direction] = compiled
        return
    # the code does not tell, or there is none: the forward graph is compiled first
    lowering = frame.lowerings[-1]
    order = (Direction.FORWARD, Direction.BACKWARD) if lowering.is_training else (Direction.INFERENCE,)
    direction = next((one for one in order if one not in lowering.compiled), order[-1])
    lowering.compiled[direction] = compiled


def _lowering_of(lowerings: list[Lowering], number: str, direction: Direction) -> Lowering:
    """The graph that code with this number is of: a backward graph has the number of its forward graph, unless one was cached."""
    free = [lowering for lowering in lowerings if direction not in lowering.compiled] or lowerings
    if direction is Direction.BACKWARD:
        for lowering in free:
            forward = lowering.compiled.get(Direction.FORWARD)
            if forward is not None and forward.aot_id[0] == number:
                return lowering
        return free[0]
    return free[-1]


def documents(frame: Frame, lowering: Lowering, direction: Direction) -> Iterator[tuple[StageKind, TextSource]]:
    """The documents of one graph in the order in which torch makes them. What a frame has once goes with its first forward graph."""
    of_frame = frame.artifacts if lowering is (frame.lowerings or [lowering])[0] else {}
    compiled = lowering.compiled.get(direction)
    if direction is Direction.BACKWARD:
        tables = [(LOWERING, _only(lowering.artifacts, "aot_backward_graph"))]
    else:
        others = {name: found for name, found in lowering.artifacts.items() if name != "aot_backward_graph"}
        tables = [(FRAME, of_frame), (LOWERING, others)]
    seen: set[StageKind] = set()
    for table, found in (*tables, (COMPILED, compiled.artifacts if compiled is not None else {})):
        for name, kind in table.items():
            if name in found and kind not in seen:
                seen.add(kind)
                inner = compiled.text_of(name) if compiled is not None and table is COMPILED else None
                yield kind, inner or found[name].payload


def around_phases(lowering: Lowering, direction: Direction) -> Iterator[tuple[PhaseKind, Payload, Payload]]:
    """The graph before and after each phase of passes that has both."""
    compiled = lowering.compiled.get(direction)
    of_lowering = lowering.artifacts if direction is not Direction.BACKWARD else {}
    for kind, found, before, *after in (
        (PhaseKind.PRE_GRAD, of_lowering, "before_pre_grad_graph", "after_pre_grad_graph", "inductor_pre_grad_graph"),
        (PhaseKind.JOINT, of_lowering, *AROUND_JOINT),
        (
            PhaseKind.POST_GRAD,
            compiled.artifacts if compiled is not None else {},
            "before_post_grad_graph",
            "after_post_grad_graph",
            "inductor_post_grad_graph",
        ),
    ):
        end = next((name for name in after if name in found), None)
        if before in found and end is not None:
            yield kind, found[before].payload, found[end].payload


def first_record(frame: Frame, lowering: Lowering, direction: Direction) -> int | None:
    """Where in the trace a graph begins: with the first record of its own; None if it has none."""
    compiled = lowering.compiled.get(direction)
    if direction is Direction.BACKWARD:
        found = [*(compiled.artifacts.values() if compiled is not None else ())]
    else:
        of_frame = frame.artifacts if lowering is (frame.lowerings or [lowering])[0] else {}
        found = [*of_frame.values(), *lowering.artifacts.values()]
        found += compiled.artifacts.values() if compiled is not None and not found else ()
    return min((artifact.payload.start for artifact in found), default=None)


def _only(artifacts: dict[str, Artifact], name: str) -> dict[str, Artifact]:
    return {name: artifacts[name]} if name in artifacts else {}


def _head(artifact: Artifact) -> str:
    payload = artifact.payload
    return payload.data[payload.start : min(payload.start + HEAD, payload.end)].lstrip(b"\t").decode("utf-8", "replace")
