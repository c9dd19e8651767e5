"""Defines the messages between server and agent about searches: bisection and minification of a repro.

A part of ``protocol``, under the same rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .message import AgentEvent, Message


@dataclass(frozen=True)
class BisectRequest(Message):
    """Search for what breaks the repro ``file``. ``scratch`` does not exist yet, and is gone afterwards.

    ``explain`` looks at the lines and kernels of the verdict, ``ablate`` tries switches that torch's search does not know.
    """

    file: str
    cwd: str
    argv: tuple[str, ...]
    scratch: str
    step_limit_s: float
    explain: bool = True
    ablate: bool = True
    at_once: int | None = None


@dataclass(frozen=True)
class MinifyRequest(Message):
    """Make the repro ``file`` smaller. ``saved`` is where inputs go that no formula can make.

    ``torch``: try torch's own minifier first, for at most ``torch_limit_s``. ``differs``: the problem is one of accuracy.
    """

    file: str
    cwd: str
    argv: tuple[str, ...]
    scratch: str
    saved: str
    step_limit_s: float
    limit_s: float
    most_runs: int
    torch_limit_s: float
    torch: bool = True
    differs: bool = False


@dataclass(frozen=True)
class SearchUnfit(AgentEvent):
    """The repro cannot be searched. ``reason`` is a word for which the server has the sentence; ``detail`` is a part of it."""

    name: ClassVar[str] = "unfit"
    reason: str
    detail: str = ""


@dataclass(frozen=True)
class OptionChange(Message):
    """A subsystem of torch's bisector that is an option: ``value`` is Python text."""

    module: str
    field: str
    value: str


@dataclass(frozen=True)
class BisectionBegan(AgentEvent):
    """``stripped`` are variables that were taken out of the environment; the rest says what torch's bisector has."""

    name: ClassVar[str] = "search"
    forks: bool
    stripped: tuple[str, ...] = ()
    changes: Mapping[str, OptionChange] = field(default_factory=dict)
    has_run: bool = False


@dataclass(frozen=True)
class StepsUnforked(AgentEvent):
    """From now on each step is a new process, which takes longer."""

    name: ClassVar[str] = "unforked"
    reason: str


@dataclass(frozen=True)
class SwitchTried(Message):
    """An option that makes the compiler do less."""

    name: str
    meaning: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class StepBegan(AgentEvent):
    """One run of the repro. ``purpose`` is baseline, search, own, explain or ablate; ``state`` is the bisector's (torch's words)."""

    name: ClassVar[str] = "step-begins"
    purpose: str
    backend: str
    subsystem: str | None = None
    state: str | None = None
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class StepEnded(AgentEvent):
    """How a run of the repro ended: exit code or signal; ``timeout`` if it was ended."""

    name: ClassVar[str] = "step"
    purpose: str
    backend: str
    good: bool
    code: int
    signal: int
    timeout: bool
    seconds: float
    output: str
    crash_stack: str
    subsystem: str | None = None
    state: str | None = None
    low: int | None = None
    high: int | None = None
    switch: SwitchTried | None = None


@dataclass(frozen=True)
class VerdictReached(AgentEvent):
    """torch's answer; ``backend`` is None where no backend fails. ``torch_output`` is torch's own narration."""

    name: ClassVar[str] = "verdict"
    backend: str | None
    subsystem: str | None = None
    number: int | None = None
    debug_info: str | None = None
    torch_output: str = ""


@dataclass(frozen=True)
class UserLine(Message):
    """A line of the user's."""

    file: str
    line: int
    function: str = ""
    text: str = ""


@dataclass(frozen=True)
class NamedPlace(Message):
    """Where the thing that was found is written."""

    label: str
    name: str
    file: str
    line: int


@dataclass(frozen=True)
class NodeOfVerdict(Message):
    """A node of a printed graph, and the user's line that it is from."""

    name: str
    file: str
    line: int
    function: str
    text: str


@dataclass(frozen=True)
class VerdictExplained(AgentEvent):
    """What the application of the verdict is: a node with its operator, or a pass with the nodes that it changed; kernels by name."""

    name: ClassVar[str] = "explained"
    debug_info: str | None = None
    node: str | None = None
    operator: str | None = None
    pass_name: str | None = None
    changed: tuple[str, ...] = ()
    source: tuple[UserLine, ...] = ()
    places: tuple[NamedPlace, ...] = ()
    kernels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    nodes: tuple[NodeOfVerdict, ...] = ()
    unavailable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PhaseBegan(AgentEvent):
    """A minification goes on to something else."""

    name: ClassVar[str] = "phase"
    phase: str


@dataclass(frozen=True)
class SearchNote(AgentEvent):
    """A sentence for the user."""

    name: ClassVar[str] = "note"
    text: str


@dataclass(frozen=True)
class TorchMinified(AgentEvent):
    """What torch's own minifier gave: ``nothing``, ``invalid``, ``other`` or ``taken``."""

    name: ClassVar[str] = "torch"
    result: str
    why: str


@dataclass(frozen=True)
class SmallerFound(AgentEvent):
    """The smallest repro so far."""

    name: ClassVar[str] = "smaller"
    text: str
    runs: int
    nodes: int | None = None
    inputs: tuple[str, ...] = ()
    saved: bool = False


@dataclass(frozen=True)
class SmallestChecked(AgentEvent):
    """Whether the smallest repro fails in the same way in a process that shares nothing with the search.

    ``error`` is what compiled code raised there, in one line, and ``wanted`` what it raised in the repro that was given.
    """

    name: ClassVar[str] = "checked"
    same: bool
    code: int
    signal: int
    output: str
    runs: int
    error: str = ""
    wanted: str = ""
