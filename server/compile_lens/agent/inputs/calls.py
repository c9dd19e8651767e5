"""Calls modules and functions of the file: with a call that the user wrote, or with synthesized inputs."""

from __future__ import annotations

import sys
import time
from types import ModuleType
from typing import Any

from ..instrument.unrecorded import uncompiled, unrecorded
from ..runtime.entry_plans import CallTarget, SynthesizedCalls, WrittenCall
from ..runtime.entry_protocol import CallMade, CallNotMade, EntryCalled
from ..runtime.wire import Wire
from ..variations import watcher
from ..variations.call_snapshot import copied
from . import compiled_call
from .absent import cause_of
from .coverage import RanSoFar
from .dispatch import UnusableEntry
from .expressions import InvalidCall, evaluate
from .memory import bounded
from .module import load
from .synthesis.optional_arguments import optional_arguments
from .synthesis.search import NotFound, SearchBudget, sentence_of
from .synthesis.target import FoundCall, find_call
from .time_limit import TrialTooLong, at_most

# the share of a run's time that the first calls may take; the rest is for calling them in other ways
FIRST_SHARE = 0.7
# the share of the remaining time for one target, so that one alone does not take it all
TARGET_SHARE = 0.5
MAX_TRIALS = 60
NO_TIME = "no time was left for it"
# the statement that defines it failed
UNDEFINED = "it could not be defined"


def run_written(plan: WrittenCall, file: str, source: str, wire: Wire) -> None:
    """Make the call that the user wrote."""
    module = load(file, source, wire)
    compiled_call.seed()
    try:
        call = evaluate(plan.text, vars(module))
    except InvalidCall as problem:
        raise UnusableEntry(str(problem)) from None
    wire.tell(EntryCalled((CallMade(plan.text),)))
    compiled_call.prepared(call, plan.compile, file).run()


def run_synthesized(plan: SynthesizedCalls, file: str, source: str, wire: Wire) -> None:
    """Find calls for the targets, and make them.

    Where the file's own statements have compiled something when it is imported, nothing is called: the file is a script, whatever its
    text looks like, and a call that it does not make would add recompiles to it that no run of the user's has.
    """
    before = compiled_call.frames_so_far()
    module = load(file, source, wire)
    compiles_itself = any(target.compile is None for target in plan.targets)
    if compiles_itself and compiled_call.frames_so_far() > before:
        return
    calls = _Calls(module, plan, file, source, wire)
    calls.coverage.tell(wire, source)
    for target in plan.targets:
        calls.take(target)
    calls.coverage.tell(wire, source)
    if calls.problem is not None:
        raise calls.problem
    if not calls.count:
        raise UnusableEntry(_why_none(calls.failed))


class _Calls:
    """The calls of one run. ``problem`` is the first exception that only a compiled call raised; the other targets are called, too."""

    def __init__(self, module: ModuleType, plan: SynthesizedCalls, file: str, source: str, wire: Wire) -> None:
        self._module = module
        self._source = source
        self._plan = plan
        self._file = file
        self._wire = wire
        self._end = time.thread_time() + plan.seconds * (FIRST_SHARE if watcher.of_run() is not None else 1.0)
        self.coverage = RanSoFar(file, module.__name__)
        self.count = 0
        self.failed: list[CallNotMade] = []
        self.problem: Exception | None = None

    def take(self, target: CallTarget) -> None:
        """Call ``target``, unless it has run as a part of another one."""
        name = target.name
        if self._plan.apart and self.coverage.has(name):
            return
        left = self._end - time.thread_time()
        if self.count and left < 1.0:
            self._fail(CallNotMade(name, NO_TIME))
            return
        is_alone = len(self._plan.targets) == 1
        found = self._find(target, left if is_alone else left * TARGET_SHARE)
        if found is None:
            return
        if self.count and self._plan.apart:
            compiled_call.reset_compiler()
        problem, works_twice = self._rehearse(found)
        self.coverage.tell(self._wire, self._source)
        if problem is not None:
            self._fail(CallNotMade(name, sentence_of(problem), found.expression))
            return
        self.count += 1
        self._wire.tell(EntryCalled((CallMade(found.expression, found.making, found.inputs, name),)))
        try:
            self._call(found, target, works_twice)
        except Exception as problem:  # the user's code, called by the compiler, may raise anything
            self.problem = self.problem or problem

    def _fail(self, why: CallNotMade) -> None:
        self.failed.append(why)
        self._wire.tell(EntryCalled((), (why,)))

    def _call(self, found: FoundCall, target: CallTarget, works_twice: bool) -> None:
        compiled_call.seed()
        call = compiled_call.prepared(found.evaluate(vars(self._module)), target.compile, self._file)
        arguments, named = copied((call.positional, call.named))
        call.run()
        varied = watcher.of_run()
        if varied is None:
            return

        def again() -> None:
            compiled_call.seed()
            call.target(*arguments, **named)

        def offers() -> watcher.Offers:
            offered: list[tuple[str, str, Any]] = []
            try:
                with bounded(self._plan.memory_bytes), at_most(self._remaining()), uncompiled():
                    offered.extend(optional_arguments(self._module, found, self._remaining()))
            except Exception as error:  # code of the user's, which the search calls, may raise anything
                print(f"optional arguments of {found.making}: {error}", file=sys.stderr)
            return offered

        varied.after_call(again if works_twice else None, offers)

    def _remaining(self) -> float:
        return max(self._end - time.thread_time(), 2.0)

    def _rehearse(self, found: FoundCall) -> tuple[Exception | None, bool]:
        """Make the call in eager, to see what it runs: what it raises, and whether the same object can be called a second time.

        The values of inputs are made up, too, and they are the same in each call: one that eager does not accept is not the file's error.
        """
        compiled_call.seed()
        count = 0
        watched = self.coverage.watching(found.method)
        with bounded(self._plan.memory_bytes), at_most(self._remaining()), unrecorded(), uncompiled(), watched:
            try:
                call = found.evaluate(vars(self._module))
                arguments, named = copied((call.positional, call.named))
                call.run()
                count = 1
                call.target(*arguments, **named)
            except Exception as error:  # code of the user's may raise anything
                return (None if count else error), False
        return None, True

    def _find(self, target: CallTarget, seconds: float) -> FoundCall | None:
        cause = cause_of(vars(self._module).get(target.name.partition(".")[0]))
        if cause is not None:
            self._fail(CallNotMade(target.name, f"{UNDEFINED}: {type(cause).__name__}: {cause}"))
            return None
        draft = ""
        try:
            with bounded(self._plan.memory_bytes), at_most(max(seconds, 1.0) + 2.0):
                return find_call(
                    self._module,
                    target.name,
                    SearchBudget(MAX_TRIALS, max(seconds, 1.0)),
                    target.given,
                    target.inputs,
                )
        except TrialTooLong as error:
            reason = str(error)
        except AttributeError as error:
            reason = f"the imported module has no such name ({error})"
        except NotFound as error:
            reason, draft = str(error), error.draft
        except RecursionError:
            reason = "the search reached Python's recursion limit"
        self._fail(CallNotMade(target.name, reason, draft))
        print(f"could not make up inputs for {target.name}: {reason}", file=sys.stderr)
        return None


def _why_none(failed: list[CallNotMade]) -> str:
    if not failed:
        return "this file has nothing to call"
    first = failed[0]
    more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    if first.reason.startswith(UNDEFINED):
        return f"`{first.target}`{more} {first.reason.removeprefix('it ')}"
    return f"could not make up inputs for `{first.target}`{more}: {first.reason}"
