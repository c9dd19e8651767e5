"""Drives torch's own search: ``CompilerBisector.do_bisect`` asks, and each question is one step in a process of its own.

What torch decides, it decides by its own code and its own files, in a folder of ours; so the verdict is torch's. Around the search:
the program without compile first, then what torch cannot tell: which lines and kernels the verdict is about, and which switches help.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from ..runtime import gpu_presence, processes
from ..runtime.fork_check import why_not_fork
from ..runtime.message import from_json
from ..runtime.search_protocol import (
    BisectionBegan,
    BisectRequest,
    OptionChange,
    StepBegan,
    StepEnded,
    StepsUnforked,
    SwitchTried,
    VerdictExplained,
    VerdictReached,
)
from ..runtime.wire import Wire
from . import bisect_switches, step_warmup
from .bisect_prefetch import Ahead, Question
from .drive import Unfit, drive
from .step import Ended, Running, Setup, Steps, be, let_folder_be_chosen

CANNOT_JUDGE = 125
MOST_AT_ONCE = 8
# which options a ConfigChange of the bisector means (torch/_dynamo/backends/debugging.py: those of the partitioner are functorch's)
CONFIGS = {"aot_eager_decomp_partition": "torch._functorch.config"}


def main(request: BisectRequest, wire: Wire) -> int:
    """Do one bisection."""
    return drive(request, wire, Driver(request, wire).search)


class Driver:
    """One search."""

    def __init__(self, request: BisectRequest, wire: Wire) -> None:
        self._request = request
        self._wire = wire
        self._scratch = request.scratch
        self._state = os.path.join(self._scratch, "state")
        os.makedirs(self._scratch, exist_ok=True)
        os.environ["TMPDIR"] = tempfile.tempdir = self._scratch  # for compilers, too: they may be ended
        processes.become_subreaper()
        self._stripped = sorted(name for name in os.environ if name.startswith("TORCH_BISECT_"))
        for name in self._stripped:
            del os.environ[name]
        self._unforked = why_not_fork()
        self._steps = Steps(self._scratch, request.step_limit_s, not self._unforked)
        self._said = io.StringIO()
        self._ahead: Ahead
        self._trial: int | None = None
        self._memory = 0

    def search(self) -> None:
        """Everything, in order. Raises Unfit."""
        try:
            from torch._inductor import compiler_bisector
        except ImportError:
            raise Unfit("no-bisector") from None
        let_folder_be_chosen(compiler_bisector)
        self._wire.tell(
            BisectionBegan(
                self._steps.forks,
                tuple(self._stripped),
                _changes(compiler_bisector),
                has_run="run <cmd>" in getattr(compiler_bisector, "HELP_TEXT", ""),
            )
        )
        if self._unforked:
            self._wire.tell(StepsUnforked(self._unforked))
        self._ahead = Ahead(self._steps, compiler_bisector.CompilerBisector, self._scratch, self._setup_of, 1)
        with contextlib.suppress(AttributeError):
            compiler_bisector.get_env_val.cache_clear()
        if self._steps.forks:
            self._trial = step_warmup.take_vectors_for_granted(self._scratch)
            self._steps.spared |= {self._trial} if self._trial else set()
        self._baseline()
        if self._steps.forks:
            self._warm_up()
        verdict = self._bisect(compiler_bisector)
        self._ahead.drop()
        self._wire.tell(verdict)
        if verdict.backend is not None:
            self._look_closer(verdict)

    # -- steps

    def _baseline(self) -> None:
        setup = Setup(**self._place(), backend="eager", disabled=True)
        self._begin("baseline", "eager")
        ended = self._run(setup)
        self._tell("baseline", "eager", ended)
        if ended.timeout:
            raise Unfit("baseline-timeout")
        if ended.signal:
            raise Unfit("baseline-crash")
        if ended.code == CANNOT_JUDGE:
            raise Unfit("eager-fails")
        if not ended.good:
            raise Unfit("baseline-fails")

    def _warm_up(self) -> None:
        """What the steps of Inductor have in common, while the first of the others run."""
        self._steps.spared |= step_warmup.start_making_headers(self._scratch, patient=True)
        self._ahead.most = how_many(self._request.at_once, self._memory)
        self._ahead.fill()
        step_warmup.warm_inductor(self._scratch)
        reason = why_not_fork()
        self._steps.forks = not reason
        if reason:
            self._ahead.most = 1
            self._ahead.drop()
            self._wire.tell(StepsUnforked(reason))

    def _bisect(self, module: Any) -> VerdictReached:
        bisector = module.CompilerBisector
        os.makedirs(self._state, exist_ok=True)
        bisector.bisection_enabled = False
        bisector.in_process_cache = self._state
        try:
            with contextlib.redirect_stdout(self._said):
                found = bisector.do_bisect(lambda: self._ask(bisector))
        except RuntimeError as error:
            if "find_max_bounds" in str(error) or "bisect range" in str(error):
                raise Unfit("flaky") from error
            raise
        said = self._said.getvalue()
        if found is None:
            return VerdictReached(None, said=said)
        return VerdictReached(found.backend, found.subsystem, found.bisect_number, found.debug_info, said)

    def _ask(self, bisector: Any) -> bool:
        """One question of the search, with the state that torch's files say."""
        question, state = Question.read(bisector), bisector.in_process_cache
        what = {name: value for name, value in dataclasses.asdict(question).items() if name != "backend"}
        self._begin("search", question.backend, **what)
        guessed = self._ahead.take()
        running, folder = guessed or (None, None)
        ended = self._run(self._setup_of(question.backend, state), running)
        if question.backend == "inductor" and not self._vectors_are_sound():
            self._ahead.drop()
            step_warmup.forget_vectors()
            folder, ended = None, self._run(self._setup_of(question.backend, state))
        self._ahead.answered(ended.good, state, folder)
        self._tell("search", question.backend, ended, **what)
        return ended.good

    def _run(self, setup: Setup, running: Running | None = None) -> Ended:
        """Run a step, or wait for one that runs; what comes next is begun meanwhile."""
        if not self._steps.forks:
            return self._steps.run(setup)
        running = running or self._steps.start(lambda: be(setup))
        ended = self._steps.wait(running, self._ahead.fill)
        self._memory = max(self._memory, running.memory)
        return ended

    def _vectors_are_sound(self) -> bool:
        """Whether the compiler can do what steps took for granted; waits for the trial."""
        if self._trial is None:
            return True
        _, status = os.waitpid(self._trial, 0)
        self._steps.spared.discard(self._trial)
        self._trial = None
        return status == 0

    def _begin(self, purpose: str, backend: str, **what: Any) -> None:
        self._wire.tell(StepBegan(purpose, backend, **what))

    def _tell(self, purpose: str, backend: str, ended: Ended, **what: Any) -> None:
        self._wire.tell(StepEnded(purpose, backend, ended.good, **dataclasses.asdict(ended), **what))

    def _setup_of(self, backend: str, state: str) -> Setup:
        return Setup(**self._place(), backend=backend, state=state, options=_without_missing_headers())

    def _place(self) -> dict[str, Any]:
        request = self._request
        return {"file": request.file, "cwd": request.cwd, "argv": list(request.argv), "scratch": self._scratch}

    # -- beyond the search

    def _look_closer(self, verdict: VerdictReached) -> None:
        """What torch cannot tell: the lines and kernels that the verdict is about, and the switches that help."""
        backend, answer = str(verdict.backend), os.path.join(self._scratch, "answer.json")
        wanted: list[tuple[str, Setup, SwitchTried | None]] = []
        if self._request.explain:
            watch = {name: getattr(verdict, name) for name in ("backend", "subsystem", "number")}
            options = _without_missing_headers()
            setup = Setup(**self._place(), backend=backend, watch=watch, answer=answer, options=options)
            wanted.append(("explain", setup, None))
        for fitting in bisect_switches.fitting(verdict) if self._request.ablate else ():
            options = {**_without_missing_headers(), **fitting.options}
            wanted.append(("ablate", Setup(**self._place(), backend=backend, options=options), fitting))
        for (purpose, _, switch), ended in zip(wanted, self._together([setup for _, setup, _ in wanted]), strict=True):
            self._tell(purpose, backend, ended, switch=switch)
            if purpose == "explain":
                with contextlib.suppress(OSError), open(answer, "rb") as file:
                    if (explained := from_json(VerdictExplained, file.read())) is not None:
                        self._wire.tell(explained)

    def _together(self, setups: list[Setup]) -> Iterator[Ended]:
        """Run steps that do not depend on each other; their ends, in order."""
        if not self._steps.forks:
            yield from map(self._steps.run, setups)
            return
        started: list[Running] = []
        for number in range(len(setups)):
            due = setups[len(started) : number + self._ahead.most]
            started += [self._steps.start(functools.partial(be, setup)) for setup in due]
            yield self._steps.wait(started[number])


def how_many(wanted: int | None, memory: int) -> int:
    """Steps at once: ``wanted``, else what processors and free memory let run, when one needs ``memory`` bytes.

    One more than there are processors, for one waits for the compiler that another has started. A GPU is not shared.
    """
    if wanted:
        return wanted
    if gpu_presence.has_gpu():
        return 1
    room = 1 + available_memory() // (2 * max(memory, 1))
    return max(1, min(len(os.sched_getaffinity(0)) + 1, MOST_AT_ONCE, room))


def available_memory() -> int:
    """Bytes that programs can get without swapping; 0 if the kernel does not say."""
    with contextlib.suppress(OSError, ValueError), open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 0


def _without_missing_headers() -> dict[str, Any]:
    """Precompiling headers pays after the fourth kernel or so: a step does not wait for them, and one that has them uses them."""
    return {} if step_warmup.has_headers() else {"torch._inductor.config.cpp_cache_precompile_headers": False}


def _changes(module: Any) -> dict[str, OptionChange]:
    """Those of the bisector's subsystems that are options."""
    return {
        subsystem.name: OptionChange(
            CONFIGS.get(subsystem.config_name, "torch._inductor.config"),
            subsystem.config_field,
            repr(subsystem.config_value),
        )
        for found in module.BACKENDS.values()
        for subsystem in found
        if hasattr(subsystem, "config_field")
    }
