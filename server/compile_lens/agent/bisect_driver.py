"""Drives torch's own search: ``CompilerBisector.do_bisect`` asks, and each question is one step in a process of its own.

What torch decides, it decides by its own code and its own files, in a folder of ours; so the verdict is torch's. Around the search:
the program without compile first, then what torch cannot tell: which lines and kernels the verdict is about, and which switches help.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from typing import Any

from . import bisect_switches, processes, warmth
from .bisect_step import Ended, Setup, Steps
from .forking import why_not_fork
from .searching import Unfit, drive
from .wire import Wire

CANNOT_JUDGE = 125
# which options a ConfigChange of the bisector means (torch/_dynamo/backends/debugging.py: those of the partitioner are functorch's)
CONFIGS = {"aot_eager_decomp_partition": "torch._functorch.config"}


def main(task: dict[str, Any], wire: Wire) -> int:
    """Do one bisection as ``task`` says."""
    return drive(task, wire, Driver(task, wire).search)


class Driver:
    """One search."""

    def __init__(self, task: dict[str, Any], wire: Wire) -> None:
        self._task = task
        self._wire = wire
        self._scratch: str = task["scratch"]
        self._state = os.path.join(self._scratch, "state")
        os.makedirs(self._scratch, exist_ok=True)
        tempfile.tempdir = self._scratch
        processes.become_subreaper()
        self._stripped = sorted(name for name in os.environ if name.startswith("TORCH_BISECT_"))
        for name in self._stripped:
            del os.environ[name]
        self._unforked = why_not_fork()
        self._steps = Steps(self._scratch, task["step_limit_s"], not self._unforked)
        self._said = io.StringIO()
        self._is_warm = False

    def search(self) -> None:
        """Everything, in order. Raises Unfit."""
        try:
            from torch._inductor import compiler_bisector
        except ImportError:
            raise Unfit("no-bisector") from None
        self._wire.event(
            "search", forks=self._steps.forks, stripped=self._stripped, **_what_torch_has(compiler_bisector)
        )
        if self._unforked:
            self._wire.event("unforked", reason=self._unforked)
        if self._steps.forks:
            self._steps.spared |= warmth.start_making_headers(self._scratch)
        self._baseline()
        verdict = self._bisect(compiler_bisector)
        if verdict is None:
            self._wire.event("verdict", backend=None, said=self._said.getvalue())
            return
        self._wire.event("verdict", **verdict, said=self._said.getvalue())
        if self._task.get("explain", True):
            self._explain(verdict)
        if self._task.get("ablate", True):
            bisect_switches.ablate(verdict, self._switched)

    # -- steps

    def _baseline(self) -> None:
        ended = self._step("baseline", Setup(**self._place(), backend="eager", disabled=True))
        if ended.timeout:
            raise Unfit("baseline-timeout")
        if ended.signal:
            raise Unfit("baseline-crash")
        if ended.code == CANNOT_JUDGE:
            raise Unfit("eager-fails")
        if not ended.good:
            raise Unfit("baseline-fails")

    def _bisect(self, module: Any) -> dict[str, Any] | None:
        bisector = module.CompilerBisector
        with contextlib.suppress(AttributeError):
            module.get_env_val.cache_clear()
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
        if found is None:
            return None
        return {
            "backend": found.backend,
            "subsystem": found.subsystem,
            "number": found.bisect_number,
            "debug_info": found.debug_info,
        }

    def _ask(self, bisector: Any) -> bool:
        """One question of the search, with the state that torch's files say."""
        backend, subsystem = bisector.get_backend(), bisector.get_subsystem()
        state = bisector.get_run_state(backend, subsystem) if subsystem else None
        low, high = bisector.get_bisect_range(backend, subsystem) if state == "bisect" else (None, None)
        setup = Setup(**self._place(), backend=backend, state=bisector.in_process_cache)
        return self._step("search", setup, subsystem=subsystem, state=state, low=low, high=high).good

    def _step(self, purpose: str, setup: Setup, **what: Any) -> Ended:
        if setup.backend == "inductor" and not self._is_warm:
            self._warm_up()
        self._wire.event("step-begins", purpose=purpose, backend=setup.backend, **what)
        ended = self._steps.run(setup)
        self._wire.event(
            "step",
            purpose=purpose,
            backend=setup.backend,
            good=ended.good,
            code=ended.code,
            signal=ended.signal,
            timeout=ended.timeout,
            seconds=ended.seconds,
            output=ended.output,
            crash_stack=ended.crash_stack,
            **what,
        )
        return ended

    def _place(self) -> dict[str, Any]:
        task = self._task
        return {"file": task["file"], "cwd": task["cwd"], "argv": task["argv"], "scratch": self._scratch}

    def _warm_up(self) -> None:
        self._is_warm = True
        if self._steps.forks:
            warmth.warm_inductor(self._scratch)
            reason = why_not_fork()
            self._steps.forks = not reason
            if reason:
                self._wire.event("unforked", reason=reason)

    # -- beyond the search

    def _explain(self, verdict: dict[str, Any]) -> None:
        answer = os.path.join(self._scratch, "answer.json")
        setup = Setup(
            **self._place(),
            backend=verdict["backend"],
            watch={"backend": verdict["backend"], "subsystem": verdict["subsystem"], "number": verdict["number"]},
            answer=answer,
        )
        self._step("explain", setup)
        with contextlib.suppress(OSError, ValueError), open(answer, encoding="utf-8") as file:
            self._wire.event("explained", **json.load(file))

    def _switched(self, switch: dict[str, Any], backend: str) -> Ended:
        return self._step("ablate", Setup(**self._place(), backend=backend, options=switch["options"]), switch=switch)


def _what_torch_has(module: Any) -> dict[str, Any]:
    """The bisector's backends with their subsystems, those of them that are options, and whether it can run a command by itself."""
    changes = {
        subsystem.name: {
            "module": CONFIGS.get(subsystem.config_name, "torch._inductor.config"),
            "field": subsystem.config_field,
            "value": repr(subsystem.config_value),
        }
        for found in module.BACKENDS.values()
        for subsystem in found
        if hasattr(subsystem, "config_field")
    }
    return {
        "backends": {name: [subsystem.name for subsystem in found] for name, found in module.BACKENDS.items()},
        "changes": changes,
        "has_run": "run <cmd>" in getattr(module, "HELP_TEXT", ""),
    }
