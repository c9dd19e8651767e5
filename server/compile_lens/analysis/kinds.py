"""The table of finding kinds: one row says everything that differs between them outside of their finders.

CONTRIBUTING.md says what a new kind takes.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Severity(str, Enum):
    """How much a finding matters, from worst to least (the LSP's four levels)."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"

    @property
    def rank(self) -> int:
        """0 for ``error`` up to 3 for ``hint``: smaller is worse."""
        return list(Severity).index(self)


class KindRow(Struct, frozen=True):
    """``meaning`` and ``exceptions`` (to ``severity``) are Markdown for the index of docs/findings; ``page`` is a file there.

    ``codes`` are those of its findings; ``GB`` stands for torch's own numbers. ``logs`` is a value of TORCH_LOGS that shows more, and
    ``shows`` what it shows. ``has_debug_output``: TORCH_COMPILE_DEBUG writes more, too. ``may_crash``: a device error or signal
    may be behind it.

    ``repro`` is the criterion of a repro (``repro.contract.Criterion``), '' if a repro of it makes no sense.
    ``repro_order`` ranks kinds where a repro is asked for without naming a finding; 0 for those that are never chosen.
    ``is_neutral``: it is neither right nor wrong, so that its repro can only compare with eager.
    ``shows_compiling``: one such finding proves that the run reached the compiler.
    ``without_run`` says where it comes from, if not from a run of a program alone.
    """

    title: str
    meaning: str
    page: str
    codes: tuple[str, ...]
    severity: Severity
    exceptions: str = ""
    logs: str = "+dynamo"
    shows: str = "each step of Dynamo"
    has_debug_output: bool = False
    may_crash: bool = False
    repro: str = "any"
    repro_order: int = 0
    is_neutral: bool = False
    shows_compiling: bool = False
    without_run: str = ""


class Kind(str, Enum):
    """The family of a finding, part of the JSON contract, with its row."""

    _value_: str
    row: KindRow

    def __new__(cls, value: str, row: KindRow | None = None) -> Kind:
        """A member is its value; ``row`` is left out where a member is looked up by that."""
        member = str.__new__(cls, value)
        member._value_ = value
        if row is not None:
            member.row = row
        return member

    GRAPH_BREAK = (
        "graph-break",
        KindRow(
            title="Graph break",
            meaning="Dynamo stopped tracing here and fell back to Python",
            page="graph-break.md",
            codes=("GB", "graph-break"),
            severity=Severity.WARNING,
            exceptions="error where the call fails",
            logs="graph_breaks",
            shows="each break with its call path",
            repro="breaks",
            repro_order=2,
            shows_compiling=True,
        ),
    )
    RECOMPILE = (
        "recompile",
        KindRow(
            title="Recompile",
            meaning="a guard failed, and torch compiled the function again",
            page="recompile.md",
            codes=("recompile",),
            severity=Severity.INFORMATION,
            logs="recompiles,guards",
            shows="each recompile with the guard that failed, and all guards",
            repro="recompiles",
            repro_order=4,
            shows_compiling=True,
        ),
    )
    RECOMPILE_LIMIT = (
        "recompile-limit",
        KindRow(
            title="Recompile limit",
            meaning="torch stopped recompiling; the function falls back to eager",
            page="recompile-limit.md",
            codes=("recompile-limit",),
            severity=Severity.WARNING,
            exceptions="error where the call fails",
            logs="recompiles,guards",
            shows="each recompile with the guard that failed, and all guards",
            repro="recompiles",
            repro_order=3,
            shows_compiling=True,
        ),
    )
    COMPILE_ERROR = (
        "compile-error",
        KindRow(
            title="Compile error",
            meaning="a function, or an export, did not compile",
            page="compile-error.md",
            codes=(
                "fullgraph-break",
                "higher-order-op-error",
                "dynamo-internal-error",
                "fake-tensor-error",
                "data-dependent-error",
                "constraint-violation",
                "aot-error",
                "backend-error",
                "lowering-error",
                "inductor-error",
                "cpp-compile-error",
                "triton-compile-error",
                "export-error",
                "aoti-error",
            ),
            severity=Severity.ERROR,
            exceptions="warning for a problem that `draft_export` worked around",
            logs="+dynamo,+aot,+inductor",
            shows="everything up to the error",
            has_debug_output=True,
            repro="raises",
            repro_order=1,
            shows_compiling=True,
        ),
    )
    RUN_ERROR = (
        "run-error",
        KindRow(
            title="Run error",
            meaning="the program did not run to its end",
            page="run-error.md",
            codes=(
                "run-error",
                "missing-arguments",
                "missing-data",
                "crash",
                "device-error",
                "budget",
                "donated-buffer",
                "double-backward",
                "cudagraph-overwritten",
            ),
            severity=Severity.ERROR,
            exceptions="warning for a timeout and a budget",
            logs="graph_code,output_code",
            shows="the graphs, and the code that ran",
            has_debug_output=True,
            may_crash=True,
            repro_order=5,
        ),
    )
    NOT_COMPILED = (
        "not-compiled",
        KindRow(
            title="Not compiled",
            meaning="nothing of a region was compiled",
            page="not-compiled.md",
            codes=("not-compiled",),
            severity=Severity.WARNING,
            exceptions="information if the compiler was turned off, hint if it was not called",
            logs="+dynamo",
            shows="which functions Dynamo traces, and which fall back to eager",
            is_neutral=True,
        ),
    )
    SIDE_EFFECT = (
        "side-effect",
        KindRow(
            title="Side effect",
            meaning="a change to an object that Dynamo replays after the graph",
            page="side-effect.md",
            codes=("side-effect",),
            severity=Severity.HINT,
            logs="side_effects,bytecode",
            shows="the replayed side effects, and the bytecode that replays them",
            is_neutral=True,
            shows_compiling=True,
        ),
    )
    WRONG_NUMBERS = (
        "wrong-numbers",
        KindRow(
            title="Wrong numbers",
            meaning="compiled code computes different numbers than eager (`--compare`)",
            page="wrong-numbers.md",
            codes=("wrong-numbers", "not-compared"),
            severity=Severity.ERROR,
            exceptions="hint for `not-compared`",
            repro="differs",
        ),
    )
    VARIATION = (
        "variation",
        KindRow(
            title="Variation",
            meaning="what other inputs would do (`compile-lens vary`)",
            page="variation.md",
            codes=("would-recompile", "would-break", "would-fail", "varied"),
            severity=Severity.INFORMATION,
            exceptions="warning for `would-break` and `would-fail`, hint for `varied`",
        ),
    )
    PERFORMANCE = (
        "performance",
        KindRow(
            title="Performance",
            meaning="lost speed",
            page="performance.md",
            codes=(
                "cudagraph-skip",
                "cudagraph-partition",
                "cudagraph-rerecord",
                "device-sync",
                "tf32-off",
                "fallback-op",
                "float64",
                "input-copy",
                "small-graphs",
                "perf-hint",
                "compile-time",
                "slow-guards",
                "cache-bypass",
                "cache-miss",
                "cache-off",
            ),
            severity=Severity.INFORMATION,
            exceptions="warning or hint for some codes",
            logs="perf_hints,fusion,output_code",
            shows="missed optimizations, fusion decisions and the generated code",
            has_debug_output=True,
            is_neutral=True,
            shows_compiling=True,
        ),
    )
    SPECIALIZATION = (
        "specialization",
        KindRow(
            title="Specialization",
            meaning="a line fixes a size that was dynamic",
            page="specialization.md",
            codes=("specialized-size",),
            severity=Severity.HINT,
            logs="+dynamic",
            shows="each size: where it comes from, and what specializes it",
            is_neutral=True,
        ),
    )
    PREDICTION = (
        "prediction",
        KindRow(
            title="Prediction",
            meaning="a graph break that is predicted from the source, without a run (`compile-lens predict`)",
            page="prediction.md",
            codes=("GB",),
            severity=Severity.HINT,
            logs="graph_breaks",
            shows="each break with its call path",
            repro="",
            is_neutral=True,
            without_run="read from the source",
        ),
    )
    REFUSED = (
        "refused",
        KindRow(
            title="Refused",
            meaning="the sandbox blocked a call",
            page="refused.md",
            codes=("denied-write", "denied-read", "denied-network", "denied-process", "denied-gpu"),
            severity=Severity.INFORMATION,
            exceptions="error if it ended the program",
        ),
    )
    STAND_IN = (
        "stand-in",
        KindRow(
            title="Stand-in",
            meaning="an emulated GPU, one process instead of several, random weights or made-up data replaced something that is missing",
            page="stand-in.md",
            codes=(
                "cpu-for-gpu",
                "gpu-answer",
                "triton-kernel",
                "one-process",
                "no-stand-in",
                "no-terminal",
                "random-weights",
                "default-configuration",
                "byte-tokenizer",
                "missing-checkpoint",
                "made-up-data",
            ),
            severity=Severity.INFORMATION,
            exceptions="hint for an assumed value, warning for what could not run or has different sizes",
        ),
    )
    BISECT_VERDICT = (
        "bisect-verdict",
        KindRow(
            title="Bisect verdict",
            meaning="a bisection of a repro ended at this line (`compile-lens bisect`)",
            page="bisect-verdict.md",
            codes=("bisect-verdict",),
            severity=Severity.WARNING,
            without_run="made by a bisection",
        ),
    )
    DIVERGENCE = (
        "divergence",
        KindRow(
            title="Divergence",
            meaning="the ranks of a job compiled different things (`compile-lens trace`)",
            page="divergence.md",
            codes=("rank-divergence", "rank-graphs", "rank-guards", "rank-cache", "rank-collectives", "slow-rank"),
            severity=Severity.WARNING,
            exceptions="error for `rank-collectives`; information for `rank-guards`, `slow-rank` and most `rank-graphs`",
            logs="recompiles,guards",
            shows="each recompile with the guard that failed, and all guards",
            repro="",
            is_neutral=True,
            shows_compiling=True,
            without_run="found by comparing the traces of several ranks",
        ),
    )
    UNUSED_IGNORE = (
        "unused-ignore",
        KindRow(
            title="Unused ignore",
            meaning="an ignore comment that matches no finding",
            page="README.md#severities-and-ignoring",
            codes=("unused-ignore",),
            severity=Severity.INFORMATION,
            repro="",
            is_neutral=True,
            without_run="made from the comments of a file, when its findings are filtered",
        ),
    )
