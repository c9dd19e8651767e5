"""Searches calls of a file's modules and functions, and rehearses them in eager: what runs in the process beside the one that compiles."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from ..instrument.unrecorded import uncompiled, unrecorded
from ..runtime import process_group
from ..runtime.entry_plans import CallTarget, SynthesizedCalls
from ..runtime.entry_protocol import OTHER_VERSION, UNDEFINED_NAME, CallNotMade, CallsCovered
from ..variations import watcher
from ..variations.call_snapshot import copied
from . import compiled_call
from .as_project_writes import as_project_writes
from .calling import expressions, two_devices
from .calling.ahead import Send
from .calling.call_in_progress import in_progress
from .calling.coverage import RanSoFar
from .calling.memory import bounded
from .calling.placement import beside, preferring
from .calling.time_limit import TrialTooLong, at_most
from .failed_search import why_ended
from .importing.absent import cause_of, is_refused
from .importing.moved_stand_ins import tell_lack, telling
from .synthesis.drafts import draft_of
from .synthesis.making.built_by_function import of_builder
from .synthesis.making.object_calls import FoundCall
from .synthesis.making.other_settings import OtherSetting, other_settings
from .synthesis.no_call import no_call_returns
from .synthesis.optional_arguments import optional_arguments
from .synthesis.project.concrete_classes import is_abstract
from .synthesis.target import find_call
from .synthesis.trying.search import NotFound, SearchBudget, sentence_of
from .synthesis.up_to_library import up_to_library
from .synthesis.what_to_change import not_made

# the share of a run's time that the first calls may take; the rest is for calling them in other ways
FIRST_SHARE = 0.7
# the share of the remaining time for one target, so that one alone does not take it all
TARGET_SHARE = 0.5
MAX_TRIALS = 60
# for a search with inputs on the GPU, after one whose inputs were not
LEAST_ON_GPU_S = 3.0
# settings of a constructor that are called, and that are tried; seconds for those of one target
MOST_SETTINGS, MOST_SETTINGS_TRIED, SETTINGS_S = 4, 16, 4.0
# for what other files of the package construct with the first target
PACKAGE_S = 8.0
# calls that may end the process that searches, each another one: those of one target, and all
MOST_CRASHES, ALL_CRASHES = 3, 9
# the last that is sent; without it, the copy that searches was killed or failed
ALL_SENT = "all sent"
# the statement that defines it failed
UNDEFINED = "it could not be defined"


@dataclass(frozen=True)
class Rehearsed:
    """A call of ``target`` that returned in eager, ``in_group`` in a process group. ``works_twice``: the object can be called again."""

    target: CallTarget
    found: FoundCall
    works_twice: bool
    in_group: bool = False


@dataclass(frozen=True)
class Offered:
    """Optional arguments for the call of ``target``: names and expressions."""

    target: str
    arguments: tuple[tuple[str, str], ...]

    def evaluated(self, found: FoundCall, names: dict[str, Any], of: Any) -> Iterator[tuple[str, str, Any]]:
        """Name, text and value of each, for a call of the object ``of``."""
        for name, text in self.arguments:
            with found.place(), preferring(found.device):
                call = expressions.evaluate(f"__run__({text})", {**names, "__run__": lambda value: value})
                (value,), _ = beside(of, (call.run(),), {})
            yield name, text, value


@dataclass(frozen=True)
class Configured:
    """A call of ``target`` with another setting of its constructor: it runs lines of the file that no call has run, or other layers.

    ``names`` are the classes and functions that it has run besides, ``ran`` the lines.
    """

    target: str
    setting: OtherSetting
    names: tuple[str, ...]
    ran: tuple[int, ...]


@dataclass(frozen=True)
class LeftOut:
    """A target that turned out not to be a module, which its source does not show."""

    target: str


class Trials:
    """The trials of one run: those of its first calls, then those of their optional arguments."""

    def __init__(self, module: ModuleType, plan: SynthesizedCalls, file: str, source: str) -> None:
        self._module = module
        self._plan = plan
        self._source = source
        self._file = file
        self._memory = plan.memory_bytes
        self._seconds = plan.seconds
        self.clock_seconds = plan.clock_seconds or plan.seconds
        self._clock_end = time.monotonic() + self.clock_seconds
        self._varies = watcher.of_run() is not None
        self._end = 0.0
        self._found: list[Rehearsed] = []
        self._answered: set[str] = set()
        self._crashes: dict[str, list[str]] = {}
        self.coverage = RanSoFar(file, module.__name__)

    @property
    def no_time(self) -> str:
        """Why the targets at the end were not called."""
        return f"the limit of {self.clock_seconds:.0f} s was reached; a higher `run.timeout` raises it"

    def is_late(self) -> bool:
        """Whether the time is up, by the clock."""
        return time.monotonic() > self._clock_end - 1.0

    @property
    def clock_left(self) -> float:
        """The seconds that are left by the clock."""
        return max(self._clock_end - time.monotonic(), 0.0)

    def go_on_after(self, received: Sequence[object]) -> bool:
        """A copy has ended after it sent ``received``: whether another one can go on, without the call that it made last."""
        if ALL_SENT in received or self.is_late() or len(in_progress.crashed) >= ALL_CRASHES:
            return False
        crashed = in_progress.crash()
        if crashed:
            print(f"the call {crashed} ended the process that tried it", file=sys.stderr)
            self._take_over(received)
            tried = next((each.name for each in self._plan.targets if each.name not in self._answered), "")
            self._crashes.setdefault(tried, []).append(crashed)
            self._seconds *= self.clock_left / self.clock_seconds
        return bool(crashed)

    def _take_over(self, received: Sequence[object]) -> None:
        for result in received:
            if isinstance(result, Rehearsed):
                self._found.append(result)
                self._answered.add(result.target.name)
            elif isinstance(result, CallNotMade | LeftOut):
                self._answered.add(result.target)
            elif isinstance(result, CallsCovered):
                self.coverage.classes |= set(result.names)
                self.coverage.lines |= set(result.ran)

    def run(self, send: Send) -> None:
        """Send a Rehearsed or a CallNotMade for each target, what has run so far, and an Offered for each that can be called; at the end
        ALL_SENT. What stands in for a removed name is sent as it is told."""
        with telling(send):
            self._run(send)

    def _run(self, send: Send) -> None:
        self._end = time.thread_time() + self._seconds * (FIRST_SHARE if self._varies else 1.0)
        for target in self._plan.targets:
            if target.name in self._answered:
                continue
            if self._is_of_another_kind(target):
                send(LeftOut(target.name))
            # what has run as a part of another one is analyzed with it
            elif not (self._plan.apart and self.coverage.has(target.name)):
                result = self._result(target)
                is_extra = target.builds or self._is_open(target)
                is_aside = isinstance(result, CallNotMade) and self._found and is_extra
                send(LeftOut(target.name) if is_aside else result)
                send(self.coverage.covered(self._source))
        varied = [each for each in self._found if self._varies and not each.found.is_cut]
        for rehearsed in varied:
            send(self._offers(rehearsed))
        for rehearsed in varied:
            for configured in self._configured(rehearsed):
                send(configured)
        send(ALL_SENT)

    def _result(self, target: CallTarget) -> Rehearsed | CallNotMade:
        name = target.name
        crashes = self._crashes.get(name, [])
        if len(crashes) >= MOST_CRASHES:
            return CallNotMade(name, f"the call `{crashes[-1]}` ended the process that made it")
        left = self._end - time.thread_time()
        if self._found and (left < 1.0 or self.is_late()):
            return self.without_trial(target, self.no_time)
        is_alone = len(self._plan.targets) == 1
        seconds = left if is_alone else left * TARGET_SHARE
        result = self._call_of(target, seconds)
        if isinstance(result, CallNotMade) and process_group.is_lacking(result.reason):
            result = self._call_of(target, seconds, in_group=True)
        if isinstance(result, Rehearsed):
            self._found.append(result)
        return result

    def _call_of(self, target: CallTarget, seconds: float, in_group: bool = False) -> Rehearsed | CallNotMade:
        with process_group.alone(in_group):
            found = self._find(target, seconds)
            if isinstance(found, CallNotMade):
                return found
            found, problem, works_twice = self._rehearsed(found)
        if problem is not None and not (found.is_cut and is_refused(problem)):
            return self.not_made(target.name, sentence_of(problem), found.expression, problem)
        if in_group:
            found = replace(found, inputs=f"{found.inputs}{process_group.IN_GROUP}")
        return Rehearsed(target, found, works_twice, in_group)

    def _is_of_another_kind(self, target: CallTarget) -> bool:
        """Whether its class is no module where it must be one, or is one where it must not."""
        import torch

        cls = vars(self._module).get(target.name.partition(".")[0])
        is_module = isinstance(cls, type) and issubclass(cls, torch.nn.Module)
        return (target.only_module and not is_module) or (target.only_plain and is_module)

    def _is_open(self, target: CallTarget) -> bool:
        """Whether it is a class that is there for others to inherit from: that it is not called itself is no news."""
        return target.only_module and is_abstract(vars(self._module)[target.name])

    def _remaining(self) -> float:
        return max(self._end - time.thread_time(), 2.0)

    def _offers(self, rehearsed: Rehearsed) -> Offered:
        offered: list[tuple[str, str]] = []
        found = rehearsed.found
        try:
            with bounded(self._memory), at_most(self._remaining()), uncompiled(), preferring(found.device):
                offered.extend(optional_arguments(self._module, found, self._remaining()))
        except Exception as error:  # code of the user's, which the search calls, may raise anything
            print(f"optional arguments of {found.making}: {error}", file=sys.stderr)
        return Offered(rehearsed.target.name, tuple(offered))

    def _rehearsed(self, found: FoundCall) -> tuple[FoundCall, BaseException | None, bool]:
        """``found`` with its inputs on the GPU if it mixes tensors of it with them otherwise; and how that went."""
        with two_devices.noticed() as mixing:
            result = self._rehearse(found)
        if mixing and not found.device and not found.is_meta:
            moved = found.on_gpu()
            with two_devices.noticed() as still:
                problem, works_twice = self._rehearse(moved)
            if problem is None and not still:
                return moved, problem, works_twice
        return (found, *result)

    def _configured(self, rehearsed: Rehearsed) -> Iterator[Configured]:
        """Calls with another setting of the constructor each that run what no call has run."""
        found, name = rehearsed.found, rehearsed.target.name
        if rehearsed.in_group or found.is_meta:
            return
        is_main = rehearsed.target is self._plan.targets[0]
        as_written = list(as_project_writes(self._module, name, found, self._memory, self.is_late)) if is_main else []
        end = min(time.thread_time() + SETTINGS_S, self._end + SETTINGS_S)
        layers = self._layers_of(found.expression) or set()
        count = 0
        others = itertools.islice(other_settings(self._module, found.expression), MOST_SETTINGS_TRIED)
        for setting in itertools.chain(as_written, others):
            left = end - time.thread_time()
            if count == MOST_SETTINGS or left <= 0 or self.is_late():
                return
            before = set(self.coverage.lines), set(self.coverage.classes | self.coverage.functions)
            now = self._layers_of(setting.expression, found.method, left)
            if now is None:
                continue
            lines = self.coverage.lines - before[0]
            if lines or now - layers:
                layers |= now
                count += 1
                names = (self.coverage.classes | self.coverage.functions) - before[1]
                yield Configured(name, setting, tuple(sorted(names)), tuple(sorted(lines)))

    def _layers_of(self, expression: str, method: str = "", seconds: float = 2.0) -> set[type] | None:
        """The classes of the modules in the object that ``expression`` calls, once it has been called, if there is a ``method``; None
        where that raises."""
        import torch

        compiled_call.seed()
        try:
            with (
                bounded(self._memory),
                at_most(max(seconds, 1.0)),
                unrecorded(),
                uncompiled(),
                in_progress.making(expression),
            ):
                call = expressions.evaluate(expression, vars(self._module))
                if method:
                    with self.coverage.watching(method):
                        call.run()
        except (Exception, SystemExit):  # code of the user's may raise anything
            return None
        made = getattr(call.target, "__self__", call.target)
        return {type(part) for part in made.modules()} if isinstance(made, torch.nn.Module) else set()

    def _rehearse(self, found: FoundCall) -> tuple[BaseException | None, bool]:
        """Make the call in eager, to see what it runs: what it raises, and whether the same object can be called a second time.

        The values of inputs are made up, too, and they are the same in each call: one that eager does not accept is not the file's error.
        """
        compiled_call.seed()
        count = 0
        with bounded(self._memory), at_most(self._remaining()), unrecorded(), uncompiled():
            try:
                with in_progress.making(found.expression):
                    with self.coverage.watching(found.method, found.is_cut):
                        call = found.evaluate(vars(self._module))
                        arguments, named = copied((call.positional, call.named))
                        call.run()
                    count = 1
                    with self.coverage.watching(found.method):
                        call.target(*arguments, **named)
            except (Exception, SystemExit) as error:  # code of the user's may raise anything
                return (None if count else error), False
        return None, True

    def _find(self, target: CallTarget, seconds: float) -> FoundCall | CallNotMade:
        name = target.name
        cause = cause_of(vars(self._module).get(name.partition(".")[0]))
        if cause is not None:
            return CallNotMade(name, f"{UNDEFINED}: {type(cause).__name__}: {cause}: {UNDEFINED_NAME}")
        failed: BaseException | None
        try:
            # the first target is the one that the file is about
            more = PACKAGE_S if target is self._plan.targets[0] else 0.0
            with bounded(self._memory), at_most(max(seconds, 1.0) + more + 2.0):
                budget = SearchBudget(MAX_TRIALS, max(seconds, 1.0), more)
                return self._found_call(target, budget)
        except NotFound as error:
            with bounded(self._memory), at_most(self._remaining()):
                cut = up_to_library(error, vars(self._module), self._file)
            if cut is not None:
                return cut
            reason, draft, failed = str(error), error.draft or self._first_draft(target), error.shown
            why = no_call_returns(error.shown)
            if why:
                reason, draft = f"{reason}: {why}", ""
            if why == OTHER_VERSION and error.shown is not None:
                tell_lack(error.shown)
        except (Exception, SystemExit) as error:  # code of the user's may raise anything
            reason, failed = why_ended(error)
            draft = (error.draft if isinstance(error, TrialTooLong) else "") or self._first_draft(target)
        print(f"could not make up inputs for {name}: {reason}", file=sys.stderr)
        return self.not_made(name, reason, draft, failed)

    def _found_call(self, target: CallTarget, budget: SearchBudget) -> FoundCall:
        if target.builds:
            return of_builder(self._module, target.name, budget)
        try:
            return find_call(self._module, target.name, budget, target.given, target.inputs)
        except NotFound as problem:
            if not (two_devices.says_so(problem.error) or two_devices.says_so(problem.first)):
                raise
            again = SearchBudget(MAX_TRIALS, max(budget.left, LEAST_ON_GPU_S))
            with preferring(two_devices.GPU):
                return find_call(self._module, target.name, again, target.given, target.inputs).on_gpu()

    def without_trial(self, target: CallTarget, reason: str) -> CallNotMade:
        """What is said of a target that no trial called."""
        return self.not_made(target.name, reason, self._first_draft(target), None)

    def _first_draft(self, target: CallTarget) -> str:
        # what is absent has no signature of its own
        is_absent = cause_of(vars(self._module).get(target.name.partition(".")[0])) is not None
        return "" if is_absent else draft_of(self._module, target.name, target.given, target.inputs)

    def not_made(self, name: str, reason: str, draft: str, error: BaseException | None) -> CallNotMade:
        """What is said of a target whose call ``draft`` raised ``error``."""
        return not_made(self._module, name, reason, draft, error, self._file)
