"""Runs torch's compiler bisector on a repro in a process of the user's interpreter, and reports its steps.

The user's files are not touched: the state is in a private folder, the caches are those of Compile Lens, and ``TORCH_BISECT_*``
variables are removed.
"""

from __future__ import annotations

import getpass
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compile_lens.repro.bisect_commands import commands
from compile_lens.repro.bisect_document import describe_step
from compile_lens.repro.scratch import scratch_folder
from compile_lens.repro.verdict import Bisection, BisectionStatus, CodePlace, Kernel, SourceLine, Step, Switch, Verdict
from compile_lens.workers.host import Host
from compile_lens.workers.job import EndKind, Job
from compile_lens.workers.level import Level
from compile_lens.workers.wire import AgentEvent, Frame

UNFIT = {
    "eager-fails": "The repro already fails in eager, so there is nothing to find in the compiler.",
    "baseline-fails": "The repro fails without torch.compile, too: the problem is not in the compiler, or the repro's own check is wrong.",
    "baseline-crash": "The repro crashes without torch.compile, too: the problem is not in the compiler.",
    "baseline-timeout": "Without torch.compile, the repro exceeded the time limit of a step. Raise it with --step-timeout.",
    "flaky": "The repro is flaky: with the same settings it fails and passes. Make it deterministic (seeds, inputs), then bisect again.",
    "unreadable": "The repro is not valid Python.",
    "no-bisector": "This torch has no compiler bisector. It needs torch 2.6 or later.",
}
CANNOT_JUDGE = 125
UNENDED = {"good": False, "code": 0, "signal": 0, "timeout": False, "seconds": 0.0}


@dataclass(frozen=True, slots=True)
class Options:
    """``step_limit_s`` limits one run of the repro, ``limit_s`` all of them. ``ablate`` also tries options after torch's search.

    ``at_once`` is the number of parallel runs, None for as many as the machine has room for.
    """

    step_limit_s: float = 120.0
    limit_s: float = 3600.0
    ablate: bool = True
    arguments: tuple[str, ...] = ()
    at_once: int | None = None


Progress = Callable[[Step | None, str], None]


async def bisect(
    host: Host, repro: Path, options: Options = Options(), on_progress: Progress | None = None
) -> Bisection:
    """Bisect ``repro`` with the interpreter of ``host``.

    ``on_progress`` gets each finished step, and a line that says what runs next. Canceling the task ends the search and all of its
    processes. Raises HostError if the interpreter cannot be used.
    """
    started = time.monotonic()
    hello = await host.start()
    search = _BisectionEvents(repro, host.python, hello.torch, options, on_progress)
    with scratch_folder() as scratch:
        task = {
            "tool": "bisect",
            "file": str(repro),
            "cwd": str(repro.parent),
            "argv": list(options.arguments),
            "scratch": str(scratch / "search"),
            "step_limit_s": options.step_limit_s,
            "ablate": options.ablate,
            "at_once": options.at_once,
        }
        end = await host.run(Job(str(repro), timeout_s=options.limit_s, task=task, level=Level.FULL), search.take)
    return search.result(end.kind, end.output, time.monotonic() - started)


class _BisectionEvents:
    """Collects the events of one search."""

    def __init__(self, repro: Path, python: str, torch: str, options: Options, on_progress: Progress | None) -> None:
        self._repro, self._python, self._torch, self._options = repro, python, torch, options
        self._on_progress = on_progress
        self._steps: list[Step] = []
        self._switches: list[Switch] = []
        self._search: dict[str, Any] = {}
        self._verdict: dict[str, Any] | None = None
        self._explained: dict[str, Any] = {}
        self._unfit = ""
        self._done = False

    def take(self, frame: Frame) -> None:
        if not isinstance(frame, AgentEvent):
            return
        fields = frame.fields
        if frame.name == "search":
            self._search = fields
        elif frame.name == "step-begins" and self._on_progress is not None:
            self._on_progress(None, describe_step(_step(fields)))
        elif frame.name == "step":
            self._take_step(fields)
        elif frame.name == "verdict":
            self._verdict = fields
        elif frame.name == "explained":
            self._explained = fields
        elif frame.name == "unforked":
            self._search = {**self._search, "forks": False, "unforked": fields["reason"]}
        elif frame.name == "unfit":
            self._unfit = fields["reason"]
        elif frame.name == "done":
            self._done = True

    def _take_step(self, fields: dict[str, Any]) -> None:
        switch, step = fields.get("switch"), _step(fields)
        self._steps.append(step)
        if switch:
            self._switches.append(Switch(switch["name"], switch["meaning"], switch["options"], step.good))
        if self._on_progress is not None:
            self._on_progress(step, describe_step(step))

    def result(self, end: EndKind, output: str, seconds: float) -> Bisection:
        verdict = self._read_verdict()
        status, sentence = self._status(end, verdict, output)
        explained = self._explained
        lines = tuple(SourceLine(**line) for line in explained.get("source") or ())
        return Bisection(
            repro=str(self._repro),
            python=self._python,
            torch=self._torch,
            status=status,
            sentence=sentence,
            seconds=round(seconds, 3),
            verdict=verdict,
            steps=tuple(self._steps),
            operator=explained.get("operator") or explained.get("pass"),
            source=lines,
            places=tuple(CodePlace(**place) for place in explained.get("places") or ()),
            kernels=tuple(_kernels(explained)),
            switches=tuple(self._switches),
            commands=commands(verdict, self._python, self._repro, self._options.arguments, self._search),
            notes=tuple(self._notes()),
            forked=bool(self._search.get("forks")),
            said=(self._verdict or {}).get("said", ""),
        )

    def _read_verdict(self) -> Verdict | None:
        found = self._verdict
        if found is None or found["backend"] is None:
            return None
        # torch 2.6 and 2.7 keep this in the process that compiled; the explaining run sees the same
        info = found["debug_info"] or self._explained.get("debug_info")
        return Verdict(found["backend"], found["subsystem"], found["number"], info)

    def _status(self, end: EndKind, verdict: Verdict | None, output: str) -> tuple[BisectionStatus, str]:
        if self._unfit:
            return BisectionStatus.UNFIT, UNFIT[self._unfit]
        if verdict is not None:
            where = "Dynamo (backend eager)" if verdict.backend == "eager" else str(verdict)
            return BisectionStatus.FOUND, f"The problem is in {where}."
        if self._verdict is not None:
            return (
                BisectionStatus.NOT_REPRODUCED,
                "No backend fails: the problem does not occur with this torch.",
            )
        if end is EndKind.CANCELLED:
            return BisectionStatus.STOPPED, "The bisection was canceled."
        if end is EndKind.TIMEOUT:
            return BisectionStatus.STOPPED, f"The bisection stopped after {self._options.limit_s:.0f} s (--timeout)."
        last = output.strip().rpartition("\n")[2]
        return BisectionStatus.STOPPED, f"The bisection ended before its verdict{': ' + last if last else ''}."

    def _notes(self) -> list[str]:
        notes = []
        if stripped := self._search.get("stripped"):
            notes.append(f"Ignored from the environment: {', '.join(stripped)}.")
        if stale := stale_state(os.environ):
            notes.append(
                f"Another bisection left {stale}: every torch.compile with that cache directory uses the backend that it names. "
                "Remove its folder if no bisection is running."
            )
        if reason := self._search.get("unforked"):
            notes.append(f"Each step ran in a new process, which is slower: {reason}.")
        searched = [step for step in self._steps if step.purpose == "search"]
        if any(step.timeout for step in searched):
            notes.append("A step that exceeded its time limit counts as bad.")
        if any(step.signal for step in searched):
            notes.append("A step whose process crashed counts as bad.")
        if any(step.code == CANNOT_JUDGE for step in searched):
            notes.append("A step that the repro could not judge (exit 125) counts as bad, as it does for torch.")
        return notes


def _step(fields: Mapping[str, Any]) -> Step:
    """The step of an event; a step that only begins has no end yet."""
    known = {name: fields[name] for name in Step.__dataclass_fields__ if name in fields}
    switch = fields.get("switch")
    return Step(**{**UNENDED, **known, "switch": switch and switch["name"]})


def _kernels(explained: dict[str, Any]) -> list[Kernel]:
    """The kernels that contain the node of the verdict, or all of them if it names no node."""
    node, nodes = explained.get("node"), explained.get("nodes", ())
    wanted = {node} if node else set(explained.get("changed", ()))
    found = []
    for name, members in explained.get("kernels", {}).items():
        if wanted and not wanted & set(members):
            continue
        lines = dict.fromkeys(
            SourceLine(entry["file"], entry["line"], entry["function"], entry["text"])
            for entry in nodes
            if entry["name"] in members
        )
        found.append(Kernel(name.partition(":")[0], tuple(members), tuple(lines)))
    return found


def stale_state(environment: Mapping[str, str]) -> Path | None:
    """The state of another bisection in the user's own cache directory, if there is one."""
    chosen = environment.get("TORCHINDUCTOR_CACHE_DIR")
    if chosen:
        folder = Path(chosen)
    else:
        try:
            user = getpass.getuser()
        except (KeyError, ImportError, OSError):
            return None
        folder = Path(tempfile.gettempdir()) / f"torchinductor_{user}"
    file = folder / "bisect" / "bisect_status.txt"
    return file if file.is_file() else None
