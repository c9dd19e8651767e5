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
from dataclasses import dataclass, replace
from pathlib import Path

from compile_lens.agent.runtime.protocol import AbilityLost, ProgramDone
from compile_lens.agent.runtime.search_protocol import (
    BisectionBegan,
    BisectRequest,
    SearchUnfit,
    StepBegan,
    StepEnded,
    StepsUnforked,
    UserLine,
    VerdictExplained,
    VerdictReached,
)
from compile_lens.repro.bisect_commands import commands
from compile_lens.repro.bisect_document import describe_step
from compile_lens.repro.contract import BISECT_STATE
from compile_lens.repro.scratch import scratch_folder
from compile_lens.repro.verdict import Bisection, BisectionStatus, Step, Switch, Verdict, VerdictKernel
from compile_lens.workers.access import Access
from compile_lens.workers.host import Host
from compile_lens.workers.job import EndKind, Job
from compile_lens.workers.wire import Frame

UNFIT = {
    "eager-fails": "The repro already fails in eager, so there is nothing to find in the compiler.",
    "baseline-fails": "The repro fails without torch.compile, too: the problem is not in the compiler, or the repro's own check is wrong.",
    "baseline-crash": "The repro crashes without torch.compile, too: the problem is not in the compiler.",
    "baseline-timeout": "Without torch.compile, the repro exceeded the time limit of a step. Raise it with --step-timeout.",
    "flaky": "The repro is flaky: it fails and passes with the same settings. Make it deterministic (seeds, inputs), then bisect again.",
    "unreadable": "The repro is not valid Python.",
    "own-backend": "The repro fails only with its own backend{detail}, which torch's search does not try: the fault is there.",
    "no-bisector": "This torch has no compiler bisector. It needs torch 2.6 or later.",
}
CANNOT_JUDGE = 125


@dataclass(frozen=True, slots=True)
class BisectOptions:
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
    host: Host, repro: Path, options: BisectOptions = BisectOptions(), on_progress: Progress | None = None
) -> Bisection:
    """Bisect ``repro`` with the interpreter of ``host``.

    ``on_progress`` gets each finished step, and a line that says what runs next. Canceling the task ends the search and all of its
    processes. Raises HostError if the interpreter cannot be used.
    """
    started = time.monotonic()
    hello = await host.start()
    search = _BisectionEvents(repro, host.python, hello.torch, options, on_progress)
    with scratch_folder() as scratch:
        request = BisectRequest(
            file=str(repro),
            cwd=str(repro.parent),
            argv=options.arguments,
            scratch=str(scratch / "search"),
            step_limit_s=options.step_limit_s,
            ablate=options.ablate,
            at_once=options.at_once,
        )
        job = Job(str(repro), timeout_s=options.limit_s, search=request, access=Access.FULL)
        end = await host.run(job, search.take)
    return search.result(end.kind, end.output, time.monotonic() - started)


class _BisectionEvents:
    """Collects the events of one search."""

    def __init__(
        self, repro: Path, python: str, torch: str, options: BisectOptions, on_progress: Progress | None
    ) -> None:
        self._repro, self._python, self._torch, self._options = repro, python, torch, options
        self._on_progress = on_progress
        self._steps: list[Step] = []
        self._switches: list[Switch] = []
        self._began = BisectionBegan(forks=False)
        self._unforked = ""
        self._verdict: VerdictReached | None = None
        self._explained = VerdictExplained()
        self._unfit, self._detail = "", ""
        self._unavailable: list[str] = []
        self._done = False

    def take(self, frame: Frame) -> None:
        if isinstance(frame, BisectionBegan):
            self._began = frame
        elif isinstance(frame, StepBegan):
            if self._on_progress is not None:
                self._on_progress(None, describe_step(_step(frame)))
        elif isinstance(frame, StepEnded):
            self._take_step(frame)
        elif isinstance(frame, VerdictReached):
            self._verdict = frame
        elif isinstance(frame, VerdictExplained):
            self._explained = frame
        elif isinstance(frame, StepsUnforked):
            self._unforked = frame.reason
        elif isinstance(frame, SearchUnfit):
            self._unfit, self._detail = frame.reason, frame.detail
        elif isinstance(frame, AbilityLost):
            self._unavailable.append(f"Unavailable: {frame.what} ({frame.why}).")
        elif isinstance(frame, ProgramDone):
            self._done = True

    def _take_step(self, ended: StepEnded) -> None:
        switch, step = ended.switch, _step(ended)
        self._steps.append(step)
        if switch is not None:
            self._switches.append(Switch(switch.name, switch.meaning, dict(switch.options), step.good))
        if self._on_progress is not None:
            self._on_progress(step, describe_step(step))

    def result(self, end: EndKind, output: str, seconds: float) -> Bisection:
        verdict = self._read_verdict()
        status, sentence = self._status(end, verdict, output)
        explained = self._explained
        return Bisection(
            repro=str(self._repro),
            python=self._python,
            torch=self._torch,
            status=status,
            sentence=sentence,
            seconds=round(seconds, 3),
            verdict=verdict,
            steps=tuple(self._steps),
            operator=explained.operator or explained.pass_name,
            source=explained.source,
            places=explained.places,
            kernels=tuple(_kernels(explained)),
            switches=tuple(self._switches),
            commands=commands(verdict, self._python, self._repro, self._options.arguments, self._began),
            notes=tuple(self._notes()),
            forked=self._began.forks and not self._unforked,
            said=self._verdict.torch_output if self._verdict is not None else "",
        )

    def _read_verdict(self) -> Verdict | None:
        found = self._verdict
        if found is None or found.backend is None:
            return None
        # torch 2.6 and 2.7 keep this in the process that compiled; the explaining run sees the same
        info = found.debug_info or self._explained.debug_info
        return Verdict(found.backend, found.subsystem, found.number, info)

    def _status(self, end: EndKind, verdict: Verdict | None, output: str) -> tuple[BisectionStatus, str]:
        if self._unfit:
            sentence = UNFIT.get(self._unfit, f"The repro cannot be bisected: {self._unfit}.")
            return BisectionStatus.UNFIT, sentence.replace("{detail}", self._detail)
        if verdict is not None:
            where = "Dynamo (backend eager)" if verdict.backend == "eager" else str(verdict)
            return BisectionStatus.FOUND, f"The problem is in {where}{self._closer()}."
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
        return BisectionStatus.STOPPED, f"The bisection ended without a verdict{': ' + last if last else ''}."

    def _closer(self) -> str:
        """What this search adds to torch's verdict: the pattern of a pass, an operator, an option that helps."""
        named = next((place for place in self._explained.places if place.label == "pattern"), None)
        if named is not None:
            return f": pattern `{named.name}` ({Path(named.file).name}:{named.line})"
        if self._verdict is None or self._verdict.subsystem:
            return ""
        operator = f": operator `{self._explained.operator}`" if self._explained.operator else ""
        helping = next((switch for switch in self._switches if switch.helps), None)
        return operator + (f"; it goes away with {helping.meaning}" if helping is not None else "")

    def _notes(self) -> list[str]:
        notes = list(self._unavailable)
        if stripped := self._began.stripped:
            notes.append(f"Ignored environment variables: {', '.join(stripped)}.")
        if stale := stale_state(os.environ):
            notes.append(
                f"Another bisection left {stale}: every torch.compile with that cache directory uses the backend that it names. "
                "Remove its folder if no bisection is running."
            )
        if reason := self._unforked:
            notes.append(f"Each step ran in a new process, which is slower: {reason}.")
        searched = [step for step in self._steps if step.purpose == "search"]
        if any(step.timeout for step in searched):
            notes.append("A step that exceeded its time limit counts as bad.")
        if any(step.signal for step in searched):
            notes.append("A step whose process crashed counts as bad.")
        if any(step.code == CANNOT_JUDGE for step in searched):
            notes.append(
                "A step that the repro could not judge (exit code 125) counts as bad, as in torch's own search."
            )
        return notes


def _step(event: StepBegan | StepEnded) -> Step:
    """The step of an event; one that only begins has no end yet."""
    step = Step(
        event.purpose,
        event.backend,
        good=False,
        code=0,
        signal=0,
        timeout=False,
        seconds=0.0,
        subsystem=event.subsystem,
        state=event.state,
        low=event.low,
        high=event.high,
    )
    if isinstance(event, StepBegan):
        return step
    return replace(
        step,
        good=event.good,
        code=event.code,
        signal=event.signal,
        timeout=event.timeout,
        seconds=event.seconds,
        switch=event.switch.name if event.switch is not None else None,
        output=event.output,
    )


def _kernels(explained: VerdictExplained) -> list[VerdictKernel]:
    """The kernels that contain the node of the verdict, or all of them if it names no node."""
    wanted = {explained.node} if explained.node else set(explained.changed)
    found = []
    for name, members in explained.kernels.items():
        if wanted and not wanted & set(members):
            continue
        own = (node for node in explained.nodes if node.name in members)
        lines = dict.fromkeys(UserLine(node.file, node.line, node.function, node.text) for node in own)
        found.append(VerdictKernel(name.partition(":")[0], members, tuple(lines)))
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
    file = folder / BISECT_STATE
    return file if file.is_file() else None
