"""The result of a bisection as plain data, with its JSON form (version 1, docs/bisect.md)."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from compile_lens.agent.runtime.message import Message, from_value
from compile_lens.agent.runtime.search_protocol import NamedPlace, UserLine

VERSION = 1
# the repr of an operator in torch's own debug info
OVERLOAD = re.compile(r"<OpOverload\(op='([^']+)', overload='([^']+)'\)>")


class BisectionStatus(str, Enum):
    """How a bisection ended."""

    FOUND = "found"
    NOT_REPRODUCED = "not-reproduced"  # no backend of torch's list fails
    UNFIT = "unfit"  # the repro cannot be bisected; the sentence says why
    STOPPED = "stopped"  # the search was stopped, or its process died


@dataclass(frozen=True)
class Verdict(Message):
    """torch's own answer (``BisectionResult`` of torch/_inductor/compiler_bisector.py).

    ``number`` is the application of ``subsystem`` that is needed for the problem, counted from 0.
    """

    backend: str
    subsystem: str | None = None
    number: int | None = None
    debug_info: str | None = None

    def __str__(self) -> str:
        parts = [self.backend, self.subsystem or ""]
        if self.subsystem and self.debug_info and self.debug_info != self.subsystem:
            name = OVERLOAD.sub(r"\1.\2", self.debug_info)
            parts.append(f"{name} (number {self.number})")
        return " / ".join(part for part in parts if part)


@dataclass(frozen=True)
class Step(Message):
    """One run of the repro. ``purpose`` is baseline, search, own, explain or ablate; ``state`` is the bisector's (torch's words).

    ``low`` and ``high`` are the range of a numeric search before the step. ``code`` is the exit code, ``signal`` what ended the process.
    """

    purpose: str
    backend: str
    good: bool
    code: int
    signal: int
    timeout: bool
    seconds: float
    subsystem: str | None = None
    state: str | None = None
    low: int | None = None
    high: int | None = None
    switch: str | None = None
    output: str = ""

    @property
    def ending(self) -> str:
        """How the process ended, in words."""
        if self.timeout:
            return "time limit"
        if self.signal:
            return f"signal {self.signal}"
        return f"exit {self.code}"


@dataclass(frozen=True)
class VerdictKernel(Message):
    """A generated kernel that contains the operation of the verdict, with its graph nodes and their lines."""

    name: str
    nodes: tuple[str, ...]
    lines: tuple[UserLine, ...]


@dataclass(frozen=True)
class Switch(Message):
    """An option that torch's search does not try, and whether it makes the problem go away."""

    name: str
    meaning: str
    options: Mapping[str, Any]
    helps: bool


@dataclass(frozen=True)
class Bisection(Message):
    """Everything that a bisection found. ``sentence`` is the outcome in one sentence; ``notes`` are what the user should know.

    ``commands`` are titles and shell lines that repeat the decisive steps. ``said`` is torch's own output.
    """

    repro: str
    python: str
    torch: str
    status: BisectionStatus
    sentence: str
    seconds: float
    verdict: Verdict | None = None
    steps: tuple[Step, ...] = ()
    operator: str | None = None
    source: tuple[UserLine, ...] = ()
    places: tuple[NamedPlace, ...] = ()
    kernels: tuple[VerdictKernel, ...] = ()
    switches: tuple[Switch, ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    forked: bool = False
    said: str = ""

    def to_json(self) -> str:
        """One JSON document."""
        return json.dumps({"version": VERSION, **dataclasses.asdict(self)}, indent=2)

    @property
    def helping(self) -> tuple[Switch, ...]:
        """The switches that make the problem go away."""
        return tuple(switch for switch in self.switches if switch.helps)


def from_json(text: str) -> Bisection:
    """Read what ``to_json`` wrote. Raises ValueError for anything else."""
    try:
        fields = json.loads(text)
    except RecursionError:
        raise ValueError("it nests too deeply") from None
    if not isinstance(fields, dict) or fields.get("version") != VERSION:
        raise ValueError("another version")
    found = from_value(Bisection, fields)
    if found is None:
        raise ValueError("not the result of a bisection.")
    return found


def differences(before: Bisection, after: Bisection) -> Iterator[str]:
    """What changed since the last bisection, in sentences; nothing if nothing changed."""
    if before.torch != after.torch:
        yield f"torch changed from {before.torch} to {after.torch}."
    if before.status is not after.status:
        yield f"The problem was {_STATUS[before.status]} and is now {_STATUS[after.status]}."
    if before.verdict != after.verdict and before.verdict is not None and after.verdict is not None:
        yield f"The verdict changed from {before.verdict} to {after.verdict}."
    was, now = {s.name for s in before.helping}, {s.name for s in after.helping}
    if was != now and before.verdict == after.verdict:
        yield f"Options that help: before {', '.join(sorted(was)) or 'none'}, now {', '.join(sorted(now)) or 'none'}."


_STATUS = {
    BisectionStatus.FOUND: "found in the compiler",
    BisectionStatus.NOT_REPRODUCED: "not reproduced",
    BisectionStatus.UNFIT: "not suitable for a bisection",
    BisectionStatus.STOPPED: "not found because the search stopped",
}
