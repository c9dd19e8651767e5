"""What torch made of a graph, stage by stage: read-only documents, kernels, and the user's source that each of them computes.

Lines and columns count from 1, columns in Unicode code points, ends exclusive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Protocol

from compile_lens.trace.report import RegionCall


class StageKind(str, Enum):
    """A form that a graph takes on its way to machine code; the names are those of ``--stage``."""

    DYNAMO = "dynamo"
    GUARDS = "guards"
    PRE_GRAD_BEFORE = "pre_grad_before"
    PRE_GRAD = "pre_grad"
    JOINT = "joint"
    FORWARD = "forward"
    BACKWARD = "backward"
    INFERENCE = "inference"
    POST_GRAD_BEFORE = "post_grad_before"
    POST_GRAD = "post_grad"
    IR_PRE_FUSION = "ir_pre_fusion"
    IR_POST_FUSION = "ir_post_fusion"
    OUTPUT_CODE = "output_code"
    PASS = "pass"
    KERNEL = "kernel"
    TTIR = "ttir"
    TTGIR = "ttgir"
    LLIR = "llir"
    PTX = "ptx"
    SASS = "sass"


class Direction(str, Enum):
    """What a graph computes. ``NOT_LOWERED``: Dynamo captured it, and the trace has nothing of what came after."""

    FORWARD = "forward"
    BACKWARD = "backward"
    INFERENCE = "inference"
    NOT_LOWERED = "not_lowered"


class KernelKind(str, Enum):
    """How a kernel is made: code that Inductor generates (``TRITON``, ``TEMPLATE``, ``CPP``, ``OTHER``), a library's function that it
    calls with memory of its own (``EXTERN``), or an operator of torch that runs as in eager (``FALLBACK``)."""

    TRITON = "triton"
    TEMPLATE = "template"
    CPP = "cpp"
    EXTERN = "extern"
    FALLBACK = "fallback"
    OTHER = "other"


class PhaseKind(str, Enum):
    """When Inductor runs passes over a graph: before autograd, on forward and backward together, and on each of them."""

    PRE_GRAD = "pre_grad"
    JOINT = "joint"
    POST_GRAD = "post_grad"


class TextSource(Protocol):
    """Where a document's text is read from, when it is needed: the payload of a record, or a file."""

    def text(self) -> str | None:
        """The text, or None if it is lost."""
        ...


@dataclass(frozen=True, slots=True, order=True)
class SourceSpan:
    """A place in the user's source. Columns are None if the trace does not have them; then the whole line is meant."""

    file: str
    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None

    def covers(self, file: str, line: int, column: int | None = None) -> bool:
        """Whether it contains a line, or a column of it."""
        if file != self.file or not self.line <= line <= (self.end_line or self.line):
            return False
        if column is None or self.column is None:
            return True
        begins = line > self.line or self.column <= column
        ends = line < (self.end_line or self.line) or self.end_column is None or column < self.end_column
        return begins and ends


@dataclass(frozen=True, slots=True)
class LineRange:
    """Lines ``first`` to ``last`` of a document, both included."""

    first: int
    last: int

    def __contains__(self, line: int) -> bool:
        return self.first <= line <= self.last


@dataclass(frozen=True, slots=True)
class Stage:
    """One read-only document. ``id`` is stable for a trace and safe in file names: ``0_0/forward/output_code``.

    ``language`` is an editor's language id. ``part`` are the lines of the source that are meant, None for all. ``kernel`` names the
    kernel that the document is of, '' if it is of the whole graph.
    """

    id: str
    kind: StageKind
    graph: str
    title: str
    language: str
    source: TextSource = field(compare=False, repr=False)
    part: LineRange | None = None
    kernel: str = ""

    @property
    def text(self) -> str:
        """The text, read anew each time, so that a large trace is not kept in memory; '' if it is lost."""
        text = self.source.text() or ""
        if self.part is None:
            return text
        return "".join(f"{line}\n" for line in text.split("\n")[self.part.first - 1 : self.part.last])


@dataclass(frozen=True, slots=True)
class Kernel:
    """One call of one kernel. ``call`` is torch's name for it: the kernel and its number in the graph (``cpp_fused_add_0:2``).

    ``lines`` are where the output code defines and calls it, ``definition`` the first and ``source`` the lines of that which are the
    kernel's own code, None if the code is not the graph's. ``nodes`` are post-grad nodes, ``operators`` what they call, ``sources`` the
    user's places that it computes, innermost, and ``stacks`` the same with those that lead there, outermost first.

    ``is_by_frame``: torch has no line for it, and ``sources`` is where the frame that it belongs to is called, or begins.
    ``operations`` are what the scheduler fused, by its names; empty if the trace does not tell. ``bytes_read`` and ``bytes_written`` are of
    memory outside of the kernel, None if a size is not known. ``avoided`` is the size of what fusion keeps out of memory, None without
    the scheduler's decisions. ``reads`` and ``writes`` are the buffers.
    """

    name: str
    call: str
    kind: KernelKind
    graph: str
    lines: tuple[LineRange, ...] = ()
    definition: LineRange | None = None
    source: LineRange | None = None
    called_at: LineRange | None = None
    nodes: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    sources: tuple[SourceSpan, ...] = ()
    stacks: tuple[tuple[SourceSpan, ...], ...] = ()
    is_by_frame: bool = False
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    bytes_read: int | None = None
    bytes_written: int | None = None
    avoided: int | None = None


@dataclass(frozen=True, slots=True)
class NotFused:
    """Two kernels, by their calls, that the scheduler considered for fusion and left apart, and its reason."""

    one: str
    other: str
    reason: str


@dataclass(frozen=True, slots=True)
class GraphPass:
    """One pass over a graph. ``name`` is torch's, '' for what a phase changes between its passes; ``number`` counts those of the phase.

    ``inner`` is the graph inside of the graph (a branch of ``torch.cond``) that it went over, '' for the graph itself. ``depth`` counts the
    passes that it is part of. ``is_changed`` and ``seconds`` are None if the trace does not tell. ``before`` and ``after`` are the printed
    graph, None if it changed nothing or they were not kept.
    """

    phase: PhaseKind
    name: str
    number: int
    seconds: float | None = None
    is_changed: bool | None = None
    inner: str = ""
    depth: int = 0
    before: TextSource | None = field(default=None, compare=False, repr=False)
    after: TextSource | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PassPhase:
    """The passes of one phase in the order in which they ran, and the graph around them, None where the trace does not have it."""

    kind: PhaseKind
    passes: tuple[GraphPass, ...] = ()
    seconds: float | None = None
    before: TextSource | None = field(default=None, compare=False, repr=False)
    after: TextSource | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Graph:
    """One graph in one direction. ``id`` is safe in file names: ``0_0/forward``.

    ``function``, ``file`` and ``line`` are the frame's that Dynamo compiled; ``region`` is the call of ``torch.compile`` that led there.
    ``documents`` are its stages without those of single kernels and passes.
    """

    id: str
    compile_id: str
    direction: Direction
    function: str
    file: str
    line: int
    region: RegionCall | None
    documents: tuple[Stage, ...]
    read_kernels: Callable[[], tuple[Kernel, ...]] = field(compare=False, repr=False)
    read_kernel_stages: Callable[[], tuple[Stage, ...]] = field(compare=False, repr=False)
    read_not_fused: Callable[[tuple[Kernel, ...]], tuple[NotFused, ...]] = field(compare=False, repr=False)
    read_times: Callable[[], Mapping[str, float]] = field(compare=False, repr=False)
    read_phases: Callable[[], tuple[PassPhase, ...]] = field(compare=False, repr=False)
    read_pass_stages: Callable[[], tuple[Stage, ...]] = field(compare=False, repr=False)

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """Its kernels in the order in which they run; read when they are first asked for."""
        return self.read_kernels()

    @cached_property
    def not_fused(self) -> tuple[NotFused, ...]:
        """Why neighbors among its kernels were not fused; empty if the trace does not tell."""
        return self.read_not_fused(self.kernels)

    @cached_property
    def times(self) -> Mapping[str, float]:
        """Seconds by torch's name of the event, a part of an event included in it; empty if the trace has no events."""
        return self.read_times()

    @cached_property
    def phases(self) -> tuple[PassPhase, ...]:
        """The phases of passes that the trace tells of."""
        return self.read_phases()

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """Its documents, one for each pass that changed it, and one for each kernel of its code; for these, texts are read."""
        return (*self.documents, *self.read_pass_stages(), *self.read_kernel_stages())

    def stage(self, kind: StageKind) -> Stage | None:
        """Its first document of ``kind``."""
        stages = self.documents if kind not in (StageKind.KERNEL, StageKind.PASS) else self.stages
        return next((stage for stage in stages if stage.kind is kind), None)
