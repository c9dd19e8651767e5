"""Drives torch's own bisection: ``CompilerBisector.do_bisect`` asks, and each question is one step in a process of its own.

torch decides with its own code and files, in a folder of the search, so the verdict is torch's. The driver adds what torch does not
do: it runs the program without compilation first, finds the lines and kernels of the verdict, and tries further switches.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import os
import re
import tempfile
from collections.abc import Iterator
from typing import Any

from ..runtime import gpu_presence, processes
from ..runtime.degraded import degraded
from ..runtime.fork_check import why_not_fork_steps
from ..runtime.message import from_json
from ..runtime.regular_file import LARGEST_OF_RUNS, read_regular
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
from . import bisect_switches, step_warmup, torch_bisector
from .bisect_prefetch import BisectQuestion, Prefetcher
from .drive import SearchRefused, run_search
from .step import run_step
from .step_setup import StepSetup
from .steps import RunningStep, StepResult, Steps

CANNOT_JUDGE = 125
MAX_AT_ONCE = 8
# the verdict of a repro by Compile Lens (repro/contract.py)
OWN_BACKEND = re.compile(r"^BAD with backend (\S+):", re.MULTILINE)
# the config modules of the bisector's ConfigChanges (torch/_dynamo/backends/debugging.py: the partitioner's options are functorch's)
CONFIGS = {"aot_eager_decomp_partition": "torch._functorch.config"}


def main(request: BisectRequest, wire: Wire) -> int:
    """Run one bisection."""
    return run_search(request, wire, Driver(request, wire).search)


class Driver:
    """One bisection."""

    def __init__(self, request: BisectRequest, wire: Wire) -> None:
        self._request = request
        self._wire = wire
        self._scratch = request.scratch
        self._state = os.path.join(self._scratch, "state")
        os.makedirs(self._scratch, exist_ok=True)
        os.environ["TMPDIR"] = tempfile.tempdir = self._scratch  # for compilers, too: they may be killed
        processes.become_subreaper()
        self._stripped = sorted(name for name in os.environ if name.startswith("TORCH_BISECT_"))
        for name in self._stripped:
            del os.environ[name]
        self._unforked = why_not_fork_steps()
        self._steps = Steps(self._scratch, request.step_limit_s, not self._unforked)
        self._output = io.StringIO()
        self._prefetch: Prefetcher
        self._isa_trial: int | None = None
        self._memory = 0

    def search(self) -> None:
        """Run all phases. Raises SearchRefused."""
        compiler_bisector = torch_bisector.load()
        if compiler_bisector is None:
            raise SearchRefused("no-bisector")
        self._wire.tell(
            BisectionBegan(
                self._steps.forks,
                tuple(self._stripped),
                _option_changes(compiler_bisector),
                has_run="run <cmd>" in getattr(compiler_bisector, "HELP_TEXT", ""),
            )
        )
        if self._unforked:
            self._wire.tell(StepsUnforked(self._unforked))
        self._prefetch = Prefetcher(self._steps, compiler_bisector.CompilerBisector, self._scratch, self._setup_of, 1)
        if self._steps.forks:
            self._isa_trial = step_warmup.assume_vector_isa(self._scratch)
            self._steps.protected |= {self._isa_trial} if self._isa_trial else set()
        self._baseline()
        if self._steps.forks:
            self._warm_up()
        verdict = self._bisect(compiler_bisector)
        self._prefetch.discard()
        if verdict.backend is None:
            self._try_own_backend()
        self._wire.tell(verdict)
        if verdict.backend is not None:
            self._explain(verdict)

    # -- steps

    def _baseline(self) -> None:
        setup = StepSetup(**self._place(), backend="eager", disabled=True)
        self._begin("baseline", "eager")
        ended = self._run(setup)
        self._tell("baseline", "eager", ended)
        if ended.timeout:
            raise SearchRefused("baseline-timeout")
        if ended.signal:
            raise SearchRefused("baseline-crash")
        if ended.code == CANNOT_JUDGE:
            raise SearchRefused("eager-fails")
        if not ended.good:
            raise SearchRefused("baseline-fails")

    def _try_own_backend(self) -> None:
        """Run the repro with its own backend, which may be none of torch's list. Raises SearchRefused if it fails."""
        self._begin("own", "")
        ended = self._run(StepSetup(**self._place(), options=_header_options()))
        self._tell("own", "", ended)
        if not ended.good:
            named = OWN_BACKEND.search(ended.output)
            raise SearchRefused("own-backend", f" (`{named[1]}`)" if named is not None else "")

    def _warm_up(self) -> None:
        """Do what Inductor steps have in common, while the first other steps run."""
        self._steps.protected |= step_warmup.start_header_compilation(self._scratch, low_priority=True)
        self._prefetch.most = concurrent_steps(self._request.at_once, self._memory)
        self._prefetch.fill()
        step_warmup.warm_inductor(self._scratch)
        reason = why_not_fork_steps()
        self._steps.forks = not reason
        if reason:
            self._prefetch.most = 1
            self._prefetch.discard()
            self._wire.tell(StepsUnforked(reason))

    def _bisect(self, module: Any) -> VerdictReached:
        bisector = module.CompilerBisector
        os.makedirs(self._state, exist_ok=True)
        torch_bisector.set_state(self._state, False)
        try:
            with contextlib.redirect_stdout(self._output):
                found = bisector.do_bisect(lambda: self._ask(bisector))
        except RuntimeError as error:
            if "find_max_bounds" in str(error) or "bisect range" in str(error):
                raise SearchRefused("flaky") from error
            raise
        output = self._output.getvalue()
        if found is None:
            return VerdictReached(None, torch_output=output)
        return VerdictReached(found.backend, found.subsystem, found.bisect_number, found.debug_info, output)

    def _ask(self, bisector: Any) -> bool:
        """Answer one question of the search, with the state in torch's files."""
        question, state = BisectQuestion.read(bisector), bisector.in_process_cache
        what = {name: value for name, value in dataclasses.asdict(question).items() if name != "backend"}
        self._begin("search", question.backend, **what)
        prefetched = self._prefetch.take()
        running, folder = prefetched or (None, None)
        ended = self._run(self._setup_of(question.backend, state), running)
        if question.backend == "inductor" and not self._vector_isa_works():
            self._prefetch.discard()
            step_warmup.forget_vector_isas()
            folder, ended = None, self._run(self._setup_of(question.backend, state))
        self._prefetch.record_answer(ended.good, state, folder)
        self._tell("search", question.backend, ended, **what)
        return ended.good

    def _run(self, setup: StepSetup, running: RunningStep | None = None) -> StepResult:
        """Run a step, or wait for ``running``; likely next steps start in the meantime."""
        if not self._steps.forks:
            return self._steps.run(setup)
        running = running or self._steps.start(lambda: run_step(setup))
        ended = self._steps.wait(running, self._prefetch.fill)
        self._memory = max(self._memory, running.memory)
        return ended

    def _vector_isa_works(self) -> bool:
        """Whether the compiler supports the vector unit that steps assumed; waits for the trial."""
        if self._isa_trial is None:
            return True
        _, status = os.waitpid(self._isa_trial, 0)
        self._steps.protected.discard(self._isa_trial)
        self._isa_trial = None
        return status == 0

    def _begin(self, purpose: str, backend: str, **what: Any) -> None:
        self._wire.tell(StepBegan(purpose, backend, **what))

    def _tell(self, purpose: str, backend: str, ended: StepResult, **what: Any) -> None:
        self._wire.tell(StepEnded(purpose, backend, ended.good, **dataclasses.asdict(ended), **what))

    def _setup_of(self, backend: str, state: str) -> StepSetup:
        return StepSetup(**self._place(), backend=backend, state=state, options=_header_options())

    def _place(self) -> dict[str, Any]:
        request = self._request
        return {"file": request.file, "cwd": request.cwd, "argv": list(request.argv), "scratch": self._scratch}

    # -- beyond the search

    def _explain(self, verdict: VerdictReached) -> None:
        """Find what torch does not report: the lines and kernels of the verdict, and the switches that help."""
        backend, answer = str(verdict.backend), os.path.join(self._scratch, "answer.json")
        wanted: list[tuple[str, StepSetup, SwitchTried | None]] = []
        if self._request.explain:
            watch = {name: getattr(verdict, name) for name in ("backend", "subsystem", "number")}
            options = _header_options()
            setup = StepSetup(**self._place(), backend=backend, watch=watch, answer=answer, options=options)
            wanted.append(("explain", setup, None))
        for fitting in bisect_switches.switches_for(verdict) if self._request.ablate else ():
            options = {**_header_options(), **fitting.options}
            wanted.append(("ablate", StepSetup(**self._place(), backend=backend, options=options), fitting))
        for (purpose, _, switch), ended in zip(wanted, self._together([setup for _, setup, _ in wanted]), strict=True):
            self._tell(purpose, backend, ended, switch=switch)
            if purpose == "explain":
                with contextlib.suppress(OSError):
                    if (explained := from_json(VerdictExplained, read_regular(answer, LARGEST_OF_RUNS))) is not None:
                        for unavailable, why in explained.unavailable.items():
                            degraded(unavailable, why)
                        self._wire.tell(explained)

    def _together(self, setups: list[StepSetup]) -> Iterator[StepResult]:
        """Run independent steps concurrently; their results, in order."""
        if not self._steps.forks:
            yield from map(self._steps.run, setups)
            return
        started: list[RunningStep] = []
        for number in range(len(setups)):
            due = setups[len(started) : number + self._prefetch.most]
            started += [self._steps.start(functools.partial(run_step, setup)) for setup in due]
            yield self._steps.wait(started[number])


def concurrent_steps(wanted: int | None, memory: int) -> int:
    """How many steps to run at once: ``wanted``, or what processors and free memory allow if one needs ``memory`` bytes.

    One more than there are processors, because a step may wait for a compiler that another has started. A GPU is not shared.
    """
    if wanted:
        return wanted
    if gpu_presence.has_gpu():
        return 1
    room = 1 + available_memory() // (2 * max(memory, 1))
    return max(1, min(len(os.sched_getaffinity(0)) + 1, MAX_AT_ONCE, room))


def available_memory() -> int:
    """Bytes available without swapping; 0 if the kernel does not report it."""
    with contextlib.suppress(OSError, ValueError), open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return 0


def _header_options() -> dict[str, Any]:
    """Let steps use precompiled headers only if they exist: to wait for them pays only after about four kernels."""
    return (
        {} if step_warmup.has_precompiled_headers() else {"torch._inductor.config.cpp_cache_precompile_headers": False}
    )


def _option_changes(module: Any) -> dict[str, OptionChange]:
    """The bisector's subsystems that are options."""
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
