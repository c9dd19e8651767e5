"""Searches for inputs of a program's models end in time, and say how far they came."""

from __future__ import annotations

import os
import signal
import sys
import time
from types import ModuleType
from typing import Any

import pytest
from tests.entries.agent_package import agent_module

from compile_lens.agent.runtime.entry_plans import CallTime

pytestmark = pytest.mark.xdist_group("torch-in-this-process")
LIMIT_S = 67.0
IN_COPIES = pytest.mark.skipif(sys.platform != "linux", reason="nothing can be forked")


class _Clock:
    """A clock that stands still until it is set."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def _clock_of_searches() -> tuple[Any, _Clock]:
    clock = _Clock()
    return agent_module("inputs.timed_search").SearchClock(CallTime(18.0, LIMIT_S), clock), clock


def test_no_search_takes_the_last_part_of_the_time() -> None:
    searches, clock = _clock_of_searches()
    first = searches.next_s()
    clock.now += first
    assert first + searches.next_s() == LIMIT_S
    clock.now = 100.0 + LIMIT_S - 1
    assert searches.next_s() == 0.0
    assert not searches.is_over
    clock.now += 2
    assert searches.is_over


def test_the_first_search_gets_some_time_however_long_the_program_took() -> None:
    searches, clock = _clock_of_searches()
    clock.now += LIMIT_S + 1
    assert searches.next_s() > 0.0
    assert searches.next_s() == 0.0


def test_a_search_ends_by_the_clock_on_a_machine_that_others_use() -> None:
    search = agent_module("inputs.synthesis.trying.search")
    budget = search.SearchBudget(trials=20, seconds=60.0, clock_seconds=0.0)
    assert budget.left == 0.0
    assert not budget.spend()
    assert budget.end <= time.thread_time()


def test_one_failure_takes_no_more_than_a_part_of_a_search() -> None:
    search = agent_module("inputs.synthesis.trying.search")
    budget = search.SearchBudget(trials=20, seconds=60.0)
    assert budget.end <= time.thread_time() + 60.0 * search.TRIAL_SHARE


def _raising(error: Exception) -> Any:
    def find(_: object) -> Any:
        raise error

    return find


@IN_COPIES
def test_a_search_that_finds_nothing_says_how_far_it_came() -> None:
    timed, search = agent_module("inputs.timed_search"), agent_module("inputs.synthesis.trying.search")
    furthest = search.NotFound("ValueError: 3 of 4", "Net(3)(x=float32[2, 4])")

    def draft(error: Any) -> str:
        return str(error.draft) if error is not None else "Net()(x)"

    drafting = timed.Drafting(ModuleType("file"), draft, "file.py")
    told = timed.searched(_raising(furthest), "Net", 20.0, drafting)
    assert (told.target, told.reason, told.draft) == ("Net", "ValueError: 3 of 4", "Net(3)(x=float32[2, 4])")
    late = timed.searched(_raising(furthest), "Net", 0.0, drafting)
    assert (late.reason, late.draft) == (timed.NO_TIME, "Net()(x)")


@IN_COPIES
def test_a_search_whose_process_ended_is_not_said_to_have_taken_long() -> None:
    timed = agent_module("inputs.timed_search")

    def find(_: object) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    told = timed.searched(find, "Net", 20.0, timed.Drafting(ModuleType("file"), lambda _: "Net()(x)", "file.py"))
    assert told.reason == "the process that searched for its inputs exited early: SIGKILL"
    assert told.draft == "Net()(x)"


def test_what_could_not_be_called_is_told_before_the_next_one_is_tried() -> None:
    calls, protocol = agent_module("inputs.recorded_calls"), agent_module("runtime.entry_protocol")
    failed: list[Any] = []
    told: list[Any] = []
    models = calls.ModelsInTime(CallTime(), failed, tell=told.extend)

    def fails() -> bool:
        failed.append(protocol.CallNotMade("Large", "it has no inputs"))
        return False

    def sees_what_is_told() -> bool:
        assert [why.target for why in told] == ["Large"]
        return True

    models.call("Large", None, fails)
    models.call("Small", None, sees_what_is_told)
    models.tell_failed()
    assert len(told) == 1
