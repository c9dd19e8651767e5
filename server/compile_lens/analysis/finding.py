"""Findings and region summaries: plain data that the terminal, JSON and the editor render.

Lines and columns count from 1; columns are Unicode code points. ``end_column`` is exclusive.
"""

from __future__ import annotations

from msgspec import Struct

from compile_lens.analysis.kinds import Kind as Kind
from compile_lens.analysis.kinds import Severity as Severity

# the explanation of a finding at the line that ended the program
ENDED_HERE = "Nothing after this line was run or analyzed."
# the same where the file was then analyzed in another way
ENDED_AS_SCRIPT = "The script ended here. Other findings are from what was analyzed instead."
# of what raised without ending the program
SKIPPED = "This statement and those that need its result were skipped. The rest ran."
MENDED = "The rest ran without what failed here. What needs it raises this error."
MOVED = "The rest was analyzed with what takes its place in the installed version."
LACKING = "Nothing that needs this can be called with the installed version. The rest was analyzed."


class Place(Struct, frozen=True):
    """A range in a source file. ``file`` is an absolute path as the run saw it."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


class Related(Struct, frozen=True):
    """Another place that explains a finding: the library line behind a break, a call site with other shapes."""

    place: Place
    message: str


class CallSite(Struct, frozen=True):
    """One level of the call path to a finding, outermost first: ``text`` is the source line, stripped ('' if unknown)."""

    place: Place
    function: str
    text: str


class Recompiled(Struct, frozen=True):
    """One recompile of a finding: ``change`` says in a phrase what was new, ``guard`` is the one that failed, in torch's words.

    ``against`` is the version that it belongs to, ``place`` the user's call, if it is known.
    """

    compile_id: str
    change: str
    against: str
    guard: str
    place: Place | None = None


class Finding(Struct, frozen=True):
    """One thing to tell the user, at a range, with a stable code and what to do about it.

    ``message`` is one sentence; ``explanation`` is a paragraph; ``hints`` are torch's or ours, one action each.
    ``frames`` are compile ids such as ``"0/1"``; ``count`` is how often it happened in the run.
    ``cost`` says in a phrase what it costs; ``weight`` orders findings by it, 0 for none (see analysis/cost.py).
    ``detail`` is raw evidence that is folded away by default (a traceback, a guard list).
    ``stage`` is the part of the compiler that failed, for a compile error; '' for the rest.
    ``targets`` are what the sandbox blocked access to, as the program names it: paths, hosts; empty for the rest.
    ``ranks`` are those of a job that have it, in the view of the whole job; empty elsewhere.
    ``remedy`` says of a graph break whether a setting helps (see analysis/graph_breaks.py); '' for the rest.
    ``recompiles`` are those of a recompile or its limit, in their order; empty for the rest.
    """

    code: str
    kind: Kind
    severity: Severity
    message: str
    place: Place
    explanation: str = ""
    hints: tuple[str, ...] = ()
    count: int = 1
    frames: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    call_path: tuple[CallSite, ...] = ()
    url: str | None = None
    cost: str = ""
    weight: float = 0.0
    detail: str = ""
    stage: str = ""
    remedy: str = ""
    targets: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    recompiles: tuple[Recompiled, ...] = ()


class RegionSummary(Struct, frozen=True):
    """What happened in one compile region in a run. ``place`` is the decorator, or the ``torch.compile(…)`` call."""

    name: str
    place: Place
    graphs: int = 0
    breaks: int = 0
    recompiles: int = 0
    compile_time_s: float = 0.0
    frames: tuple[str, ...] = ()
