"""Calls modules and functions of the file: with a call that the user wrote, or with synthesized inputs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import ModuleType

from ..runtime import process_group
from ..runtime.entry_plans import SynthesizedCalls, WrittenCall
from ..runtime.entry_protocol import CallMade, CallNotMade, CallsCovered, CallStopped, EntryCalled, ImportHelped
from ..runtime.gpu_presence import copies_can_use_gpu
from ..runtime.protocol import RaisedAside
from ..runtime.wire import Wire
from ..variations import watcher
from ..variations.call_snapshot import copied
from ..variations.settings import ChangedSetting, ConfiguredCall
from . import compiled_call
from .calling import expressions
from .calling.ahead import Died, ahead
from .calling.expressions import InvalidCall, evaluate
from .calling.time_limit import CallTooLong, at_most, end_of_call
from .dispatch import UnusableEntry
from .failed_search import KILLED
from .importing.absent import is_refused
from .importing.module import load
from .importing.moved_stand_ins import put_by_name
from .synthesis.drafts import plain_draft
from .synthesis.trying.search import sentence_of
from .trials import ALL_SENT, UNDEFINED, Configured, LeftOut, Offered, Rehearsed, Trials


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


@copies_can_use_gpu()
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
    trials = Trials(module, plan, file, source)
    calls = _Calls(module, plan, file, wire, trials)
    wire.tell(trials.coverage.covered(source))
    _make_all(trials, calls)
    calls.end()
    if calls.problem is not None:
        raise calls.problem
    if not calls.count:
        plain = None if calls.failed else plain_draft(module)
        if plain is not None:
            wire.tell(EntryCalled((), (plain,)))
        raise UnusableEntry(_why_none(calls.failed))


def call_rest(plan: SynthesizedCalls, file: str, source: str, wire: Wire) -> None:
    """Find calls for the targets, and make them, after another entry has made its own: what cannot be called is not told, since that
    entry is not about it. Raises what only compiled calls raise."""
    module = load(file, source, wire)
    trials = Trials(module, plan, file, source)
    calls = _Calls(module, plan, file, wire, trials, is_aside=True)
    _make_all(trials, calls)
    if calls.problem is not None:
        raise calls.problem


def _make_all(trials: Trials, calls: _Calls) -> None:
    """Make the calls as the trials find them."""
    goes_on = True
    while goes_on:
        received: list[object] = []
        with ahead(trials.run, trials.clock_left) as results:
            for result in results:
                received.append(result)
                calls.take(result)
        goes_on = trials.go_on_after(received)


class _Calls:
    """The calls of one run. ``problem`` is the first exception that only a compiled call raised; the other targets are called, too.
    ``is_aside``: only what is called is told.
    """

    def __init__(
        self, module: ModuleType, plan: SynthesizedCalls, file: str, wire: Wire, trials: Trials, is_aside: bool = False
    ) -> None:
        self._module = module
        self._is_aside = is_aside
        self._trials = trials
        self._plan = plan
        self._file = file
        self._wire = wire
        self._offered: dict[str, Offered] = {}
        self._configured: dict[str, list[Configured]] = {}
        self._not_done = {target.name for target in plan.targets}
        self._is_complete = False
        self._death = ""
        self._covered = CallsCovered((), (), ())
        self._has_failed_for_real = False
        self._not_counted: set[str | int] = set()
        self.count = 0
        self.failed: list[CallNotMade] = []
        self.problem: Exception | None = None

    def take(self, result: object) -> None:
        """Act on what the trials found."""
        if isinstance(result, CallsCovered):
            self._cover(result)
        elif isinstance(result, ImportHelped):
            put_by_name(result.module)
            self._wire.tell(result)
        elif isinstance(result, RaisedAside):
            self._wire.tell(result)
        elif isinstance(result, CallNotMade):
            self._fail(result)
        elif isinstance(result, LeftOut):
            self._not_done.discard(result.target)
        elif isinstance(result, Offered):
            self._offered[result.target] = result
        elif isinstance(result, Configured):
            self._configured.setdefault(result.target, []).append(result)
        elif isinstance(result, Rehearsed):
            self._make(result)
        elif isinstance(result, Died):
            self._death = f": {result.why}"
        elif result == ALL_SENT:
            self._is_complete = True

    def end(self) -> None:
        """All results have come, or time is up: say so of the targets without one."""
        # what builds a model of others is no part of the file's own
        wanted = [target for target in self._plan.targets if not (target.builds and self.count)]
        left = [target for target in wanted if target.name in self._not_done]
        for target in () if self._is_complete else left:
            why = self._trials.no_time if self._trials.is_late() else f"{KILLED}{self._death}"
            self._fail(self._trials.without_trial(target, why))

    def _cover(self, covered: CallsCovered) -> None:
        """Say what has run, without what only ran in the trial of a call that failed when it was made for real."""
        if self._has_failed_for_real:
            self._not_counted.update(set(covered.names) - set(self._covered.names))
            self._not_counted.update(set(covered.ran) - set(self._covered.ran))
            self._has_failed_for_real = False
        self._covered = covered
        if self._is_aside:
            return
        names = tuple(name for name in covered.names if name not in self._not_counted)
        self._wire.tell(
            CallsCovered(names, tuple(line for line in covered.ran if line not in self._not_counted), covered.lines)
        )

    def _fail(self, why: CallNotMade) -> None:
        self._not_done.discard(why.target)
        self.failed.append(why)
        if not self._is_aside:
            self._wire.tell(EntryCalled((), (why,)))

    def _make(self, rehearsed: Rehearsed) -> None:
        found, target = rehearsed.found, rehearsed.target
        if self.count and self._trials.is_late():
            self._fail(CallNotMade(target.name, self._trials.no_time, found.expression))
            return
        self._not_done.discard(target.name)
        if self.count and self._plan.apart:
            compiled_call.reset_compiler()
        self.count += 1
        self._wire.tell(EntryCalled((CallMade(found.expression, found.making, found.inputs, target.name),)))
        try:
            with process_group.alone(rehearsed.in_group):
                self._call(rehearsed)
        except (CallTooLong, Exception) as problem:  # the user's code, called by the compiler, may raise anything
            if found.is_cut and is_refused(problem):
                return
            late = end_of_call(problem)
            if late is not None:
                self._fail(CallNotMade(target.name, f"compiled, {late}", found.expression))
                self._wire.tell(CallStopped(target.name, self._plan.seconds))
                return
            assert isinstance(problem, Exception)
            own = self._own_failure(rehearsed)
            if own is None:
                self.problem = self.problem or problem
                return
            self.count -= 1
            self._has_failed_for_real = True
            self._fail(self._trials.not_made(target.name, sentence_of(own), found.expression, own))

    def _own_failure(self, rehearsed: Rehearsed) -> Exception | None:
        """What the call raises in eager here, where it has returned in the copy that tried it: then it says nothing about the program."""
        try:
            with process_group.alone(rehearsed.in_group):
                compiled_call.seed()
                call = rehearsed.found.evaluate(vars(self._module))
                return compiled_call.own_failure(call)
        except Exception as error:  # code of the user's may raise anything
            return error

    def _call(self, rehearsed: Rehearsed) -> None:
        found, name = rehearsed.found, rehearsed.target.name
        compiled_call.seed()
        made = found.evaluate(vars(self._module))
        call = compiled_call.prepared(made, rehearsed.target.compile, self._file)
        arguments, named = copied((call.positional, call.named))
        with at_most(self._plan.seconds, CallTooLong):
            call.run()
        varied = watcher.of_run()
        if varied is None:
            return

        def again() -> None:
            compiled_call.seed()
            call.target(*arguments, **named)

        def offers() -> watcher.Offers:
            offered = self._offered.get(name)
            return offered.evaluated(found, vars(self._module), made.target) if offered is not None else ()

        def settings() -> Iterator[ChangedSetting]:
            for each in self._configured.get(name, ()):
                yield ChangedSetting(each.setting.phrase, partial(self._with_setting, rehearsed, each))

        varied.after_call(again if rehearsed.works_twice else None, offers, settings, self._plan.apart)

    def _with_setting(self, rehearsed: Rehearsed, configured: Configured) -> ConfiguredCall:
        compiled_call.seed()
        made = expressions.evaluate(configured.setting.expression, vars(self._module))
        call = compiled_call.prepared(made, rehearsed.target.compile, self._file)
        self._cover_more(configured)
        return ConfiguredCall(call.target, made.target, made.positional, made.named)

    def _cover_more(self, configured: Configured) -> None:
        known = self._covered
        names, ran = {*known.names, *configured.names}, {*known.ran, *configured.ran}.intersection(known.lines)
        self._cover(CallsCovered(tuple(sorted(names)), tuple(sorted(ran)), known.lines))


def _why_none(failed: list[CallNotMade]) -> str:
    if not failed:
        return "this file has nothing to call"
    first = failed[0]
    more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    if first.reason.startswith(UNDEFINED):
        return f"`{first.target}`{more} {first.reason.removeprefix('it ')}"
    return f"could not make up inputs for `{first.target}`{more}: {first.reason}"
