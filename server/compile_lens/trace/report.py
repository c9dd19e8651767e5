"""The model of a run: what torch compiled, and where it broke, recompiled or failed. Frozen data, made by ``ReportBuilder``.

Lines count from 1; columns from 1 in Unicode code points, ends exclusive.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import ClassVar

from msgspec import Struct, field

from compile_lens.trace.comparison import Comparison
from compile_lens.trace.option_values import NO_VALUES, OptionValues
from compile_lens.trace.partly_compared import PartlyCompared
from compile_lens.trace.recorded_inputs import CallInputs
from compile_lens.trace.records import Payload, TraceBytes
from compile_lens.trace.region_results import RegionResult
from compile_lens.trace.stack_frame import StackFrame as StackFrame
from compile_lens.trace.stand_ins import MissingResource, StandIn


class BreakReason(Struct, frozen=True):
    """What torch says of one graph break; parsed from its text.

    ``skipped_frame``: the whole frame runs eagerly. ``skips_rest``: what was traced before the break is compiled, the rest runs eagerly.
    ``is_forerunner``: it announces a break or an error that torch records next.
    """

    title: str
    explanation: str
    hints: tuple[str, ...]
    context: str
    code: str | None
    url: str | None
    skipped_frame: bool
    consequence: str
    skips_rest: bool = False
    is_forerunner: bool = False


class GraphBreak(Struct, frozen=True):
    """One graph break as it happened. ``stack`` is the user's stack, outermost first; its last entry is where it broke."""

    compile_id: str
    attempt: int
    reason: BreakReason
    file: str
    line: int
    stack: tuple[StackFrame, ...]
    text: str


class GuardFailure(Struct, frozen=True):
    """One guard that did not hold. ``against`` is the cache entry it belongs to; ``line`` and ``file_tail`` say where the guarded
    value was used, if known, and ``stack`` leads there (torch 2.12 and later)."""

    against: str
    guard: str
    source_text: str = ""
    file_tail: str = ""
    line: int | None = None
    hint: str = ""
    stack: tuple[StackFrame, ...] = ()


class Recompile(Struct, frozen=True):
    """A frame that was about to compile again, and the guards that failed (one per earlier entry, newest first)."""

    compile_id: str
    failures: tuple[GuardFailure, ...]


class CompileFailure(Struct, frozen=True):
    """A frame that did not compile. ``type`` is the exception's name; ``traceback`` is torch's own, whole."""

    type: str
    message: str
    file: str | None
    line: int | None
    stack: tuple[StackFrame, ...]
    traceback: str


class ResumeOf(Struct, frozen=True):
    """What a resume function resumes: the function's name and the line of the break."""

    name: str
    line: int


class Costs(Struct, frozen=True):
    """What the record that ends a compilation says it cost. Times are in seconds, each part of the one before it; None: not told.

    ``guard_latency_us`` is what checking the guards took, in microseconds; ``cuda_graph_skip`` is why there is no CUDA graph.
    """

    frame: float = 0.0
    backend: float | None = None
    inductor: float | None = None
    code_generation: float | None = None
    triton: float | None = None
    guards: int = 0
    guard_latency_us: int | None = None
    cuda_graph_skip: str = ""


NO_COSTS = Costs()


class Compilation(PartlyCompared, frozen=True, eq=False):
    """One compile id: one entry of one frame, over all its attempts.

    ``call_stack`` leads to the frame, outermost first, without it. ``hit_limit``: torch refused to compile, and runs the frame
    eagerly from then on. ``fails_call``: the error was seen to reach the user's call.
    ``graphs`` is 1 if a graph was handed to the backend, else 0. ``guards`` are those of this version, as text.
    """

    NOT_COMPARED: ClassVar[frozenset[str]] = frozenset({"guards"})

    compile_id: str
    name: str
    file: str
    line: int
    resume_of: ResumeOf | None = None
    region: int | None = None
    call_stack: tuple[StackFrame, ...] = ()
    attempts: int = 1
    graphs: int = 0
    ops: int | None = None
    seconds: float = 0.0
    breaks: tuple[GraphBreak, ...] = ()
    recompile: Recompile | None = None
    failure: CompileFailure | None = None
    hit_limit: str | None = None
    fails_call: bool = False
    restart_reasons: tuple[str, ...] = ()
    costs: Costs = NO_COSTS
    backward: Costs = NO_COSTS
    guards: Payload | None = None

    @property
    def function(self) -> str:
        """The user's name for what was compiled: that of the function which a resume function resumes."""
        return self.resume_of.name if self.resume_of else self.name


class RegionCall(Struct, frozen=True):
    """A call of ``torch.compile`` as it happened: where, and the code that it wraps, if that is Python.

    ``fullgraph`` is its argument, and ``column`` where the call begins; None if that is not known. ``inlined``: what it wraps was
    compiled as part of another region. ``stances`` are those under which it was called. ``disabled`` says what made torch.compile
    return what it was given: ``disable``, its argument, or the name of a variable.
    """

    region: int
    file: str
    line: int
    name: str
    target_file: str | None = None
    target_line: int | None = None
    fullgraph: bool | None = None
    column: int | None = None
    inlined: bool = False
    stances: tuple[str, ...] = ()
    disabled: str = ""


class Skip(Struct, frozen=True):
    """A frame that Dynamo met and did not compile, with its reason. ``region`` as in Compilation."""

    region: int | None
    file: str
    line: int
    name: str
    reason: str


class SideEffect(Struct, frozen=True):
    """A change of an object that outlives the graph, which Dynamo replays after it. ``stack`` leads to the line that made it.

    ``type`` is the object's class, ``source`` where Dynamo got it from (``L['self']``, or words such as ``no source``).
    """

    compile_id: str
    type: str
    source: str
    stack: tuple[StackFrame, ...]


class Symbol(Struct, frozen=True):
    """A size or number that a compilation made dynamic. ``source`` is where it comes from: ``L['x'].size()[0]``, ``L['n']``."""

    compile_id: str
    source: str


class FailedCall(Struct, frozen=True):
    """A call that raised and has no compilation: of ``torch.export.export``, or of a frame that Dynamo refuses (``call`` is '' then, and
    ``region`` as in Compilation). ``stack`` leads to where it raised."""

    call: str
    type: str
    message: str
    stack: tuple[StackFrame, ...]
    traceback: str
    region: int | None = None


class ExportProblemKind(str, Enum):
    """The four of draft export (torch/export/_draft_export.py, ``FailureType``), by the records that they are made of."""

    MISSING_FAKE_KERNEL = "missing_fake_kernel"
    MISMATCHED_FAKE_KERNEL = "mismatched_fake_kernel"
    DATA_DEPENDENT = "propagate_real_tensors_provenance"
    GUARD_ADDED = "guard_added"


class ExportProblem(Struct, frozen=True):
    """What ``draft_export`` went around. ``subject`` is the operator or the expression; ``reason``, a mismatch or the value taken.

    ``sources`` are the inputs that the expression's symbols stand for: ``L['x'].size()[0]``.
    """

    kind: ExportProblemKind
    subject: str
    reason: str
    sources: tuple[str, ...]
    stack: tuple[StackFrame, ...]


class Specialization(Struct, frozen=True):
    """A symbolic size that became a number. ``sources`` are the expressions it stood for (``L['x'].size()[0]``), ``stack`` the user's.

    ``is_checked``: torch requires this value, which a parameter or another tensor has; another one is an error.
    """

    compile_id: str
    sources: tuple[str, ...]
    value: str
    stack: tuple[StackFrame, ...]
    is_checked: bool = False


class LogLine(Struct, frozen=True):
    """What torch said in one of its logs (``cudagraphs``, ``perf_hints``). ``origin`` leads to the line that the node which was being
    compiled comes from, ``stack`` to the call of the moment."""

    log: str
    compile_id: str | None
    text: str
    origin: tuple[StackFrame, ...] = ()
    stack: tuple[StackFrame, ...] = ()


class Artifact(Struct, frozen=True):
    """A payload by reference: a graph, generated code, a cache event."""

    name: str
    compile_id: str | None
    attempt: int
    payload: Payload


class VariationEffect(str, Enum):
    """The result of a variation. ``rejected``: eager fails with these inputs, too; ``left``: there was no time; ``skipped``: the
    region's own call failed, so that nothing was varied."""

    CALLED = "called"
    REJECTED = "rejected"
    LEFT = "left"
    SKIPPED = "skipped"


class VariedCall(Struct, frozen=True):
    """One call with other inputs. ``report`` has what was compiled for it, ``before`` what was compiled for the call as it was.

    ``error`` and ``message`` are those of what it raised, '' if nothing; in eager it raises nothing.
    """

    report: CompileReport
    before: CompileReport
    error: str = ""
    message: str = ""


class Variation(Struct, frozen=True):
    """A call of ``region`` as the program made it, with something else: ``phrase`` completes "with …".

    ``calls`` were made one after the other, such as with a batch of 3 and then of 4. ``error`` and ``message`` say why there are none.
    ``is_usual``: nobody asked for it, and most programs make such a call.
    """

    region: int
    name: str
    kind: str
    phrase: str
    effect: VariationEffect
    error: str = ""
    message: str = ""
    calls: tuple[VariedCall, ...] = ()
    is_usual: bool = False


class CompileReport(PartlyCompared, frozen=True, eq=False):
    """Everything that one trace says. ``unknown`` counts records of unknown kinds; ``corrupt``, those that could not be read.

    ``lasted`` is the time between the first and the last record in seconds, 0 if it is not known. ``data`` is the file that payloads
    are read from, None for a run that is followed.
    """

    NOT_COMPARED: ClassVar[frozenset[str]] = frozenset({"lasted", "data"})

    torch: str = ""
    rank: int | None = None
    compilations: tuple[Compilation, ...] = ()
    regions: tuple[RegionCall, ...] = ()
    skips: tuple[Skip, ...] = ()
    side_effects: tuple[SideEffect, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    specializations: tuple[Specialization, ...] = ()
    failed_calls: tuple[FailedCall, ...] = ()
    export_problems: tuple[ExportProblem, ...] = ()
    options: OptionValues = NO_VALUES
    artifacts: tuple[Artifact, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    log_lines: tuple[LogLine, ...] = ()
    stand_ins: tuple[StandIn, ...] = ()
    missing_resources: tuple[MissingResource, ...] = ()
    variations: tuple[Variation, ...] = ()
    inputs: tuple[CallInputs, ...] = ()
    results: tuple[RegionResult, ...] = ()
    records: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    corrupt: int = 0
    lasted: float = 0.0
    data: TraceBytes | None = None

    @property
    def damaged_payloads(self) -> int:
        """How many payloads were found damaged when findings needed them; records that were corrupt at once are counted there."""
        return len(self.data.damaged) if self.data is not None else 0

    @property
    def breaks(self) -> tuple[GraphBreak, ...]:
        """Every graph break, in the order of the compilations."""
        return tuple(found for compilation in self.compilations for found in compilation.breaks)

    @property
    def recompiles(self) -> tuple[Recompile, ...]:
        """Every recompile, those that hit the limit included."""
        return tuple(c.recompile for c in self.compilations if c.recompile is not None)

    @property
    def graphs(self) -> int:
        """How many graphs were handed to a backend."""
        return sum(compilation.graphs for compilation in self.compilations)

    @property
    def seconds(self) -> float:
        """Time spent compiling, summed over frames."""
        return sum(compilation.seconds for compilation in self.compilations)
