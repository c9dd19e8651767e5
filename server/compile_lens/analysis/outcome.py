"""The result of one analysis of one file."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from compile_lens.analysis.finding import Finding, RegionSummary
from compile_lens.analysis.finding_counts import FindingCounts
from compile_lens.analysis.outcome_parts import (
    ComparedGraphs,
    CompiledFunction,
    Coverage,
    DynamicParameter,
    NotCalled,
    RecordedCall,
)
from compile_lens.trace.option_values import NO_VALUES, OptionValues
from compile_lens.trace.region_results import RegionResult

# the entry of an outcome that was read from a recorded trace
TRACE_ENTRY = "trace"
# … and of one that was read from the source, without a run
PREDICTION_ENTRY = "prediction"
NO_COUNTS = FindingCounts()


class Status(str, Enum):
    """How the run of a file ended; part of the JSON contract."""

    OK = "ok"
    RAISED = "raised"
    TIMEOUT = "timeout"
    KILLED = "killed"
    IDLE = "idle"
    FAILED = "failed"


class EntryCall(Struct, frozen=True):
    """A call that an entry made. ``text`` is all of it; ``making`` and ``inputs`` are its halves as shown, '' for the program's own."""

    text: str
    making: str = ""
    inputs: str = ""
    target: str = ""


class PassedOver(Struct, frozen=True):
    """An entry that was tried and compiled nothing, and why, in a sentence."""

    entry: str
    title: str
    reason: str


class RankSummary(Struct, frozen=True):
    """What happened on one rank of a job. ``compile_time_s`` is that of all its frames."""

    rank: int
    graphs: int = 0
    breaks: int = 0
    recompiles: int = 0
    cache_hits: int = 0
    cache_misses: int = 0
    compile_time_s: float = 0.0


class Outcome(Struct, frozen=True):
    """Findings and facts of one run of ``file``. While the run goes on, partial outcomes have ``final=False``.

    ``functions`` are those of the user's that were compiled as frames of their own.
    ``counts`` are of all findings, before any was hidden.
    ``failure`` is set when ``status`` is FAILED: one sentence that says why nothing could be analyzed.
    ``hidden`` counts findings that the cap per file left out, ``known`` those that a baseline or an earlier revision has, too.
    ``options`` are the values that config options had while the program compiled.
    ``compared`` says how many graphs were compared with eager, if that was asked for.
    ``notes`` are sentences about the run itself: that it ended early, what was discarded, what the sandbox does not isolate.
    ``sandbox`` is the kind that was in force (``overlay``, ``landlock``, ``python``), '' for none.
    ``lost``: the process of the run is gone.
    ``output`` is what the program printed (head and tail, bounded), for the log.
    ``calls`` are those that the entry made, if it makes calls; ``not_called`` says of targets why no inputs were found.
    ``coverage`` says how much of the file these calls are about.
    ``recorded`` are calls that can be made again without the program (state/call_memory.py).
    ``unfiltered`` are the findings before severities, ignore comments and the cap, for other filters without another run.
    ``discarded`` are files that it wrote and the sandbox discarded, a few of them if there are many.
    ``ranks`` is what happened on the rank that a trace is of; on each of them, in the view of a whole job.
    ``compiled`` are the functions with their graphs and kernels; None while that is not known.
    ``waited_s`` of ``duration_s`` it waited for a process that has imported torch.
    ``ran_s`` is how long the program ran, without what it waited for processors that other programs had; 0 where that is not known.
    ``results`` are those of its regions, of a run that was asked for them.
    ``is_unusable``: it FAILED because this entry cannot be used, and another may.
    """

    file: str
    python: str
    torch: str
    depth: str
    entry: str
    status: Status
    duration_s: float
    regions: tuple[RegionSummary, ...] = ()
    findings: tuple[Finding, ...] = ()
    hidden: int = 0
    known: int = 0
    graphs: int = 0
    compile_time_s: float = 0.0
    output: str = ""
    failure: str = ""
    final: bool = True
    functions: tuple[RegionSummary, ...] = ()
    dynamic: tuple[DynamicParameter, ...] = ()
    counts: FindingCounts = NO_COUNTS
    compared: ComparedGraphs | None = None
    notes: tuple[str, ...] = ()
    sandbox: str = ""
    lost: bool = False
    options: OptionValues = NO_VALUES
    entry_title: str = ""
    calls: tuple[EntryCall, ...] = ()
    not_called: tuple[NotCalled, ...] = ()
    passed_over: tuple[PassedOver, ...] = ()
    is_unusable: bool = False
    recorded: tuple[RecordedCall, ...] = ()
    unfiltered: tuple[Finding, ...] = ()
    coverage: Coverage | None = None
    discarded: tuple[str, ...] = ()
    ranks: tuple[RankSummary, ...] = ()
    compiled: tuple[CompiledFunction, ...] | None = None
    results: tuple[RegionResult, ...] = ()
    waited_s: float = 0.0
    ran_s: float = 0.0
