"""A loop that only repeats calls of a model which are known is left for what follows it, and what fails then is no failure of the
program's."""

from __future__ import annotations

from typing import Any

from tests.entries.agent_package import agent_module


def _guard(told: list[BaseException]) -> Any:
    return agent_module("inputs.scripts.guard").Guard(60.0, told.append, lambda frame, line: None)


def turns(guard: Any, calls: list[str]) -> int:
    """How often a loop turns that makes one of ``calls`` in each turn: new, known, or none."""
    count = 0
    for call in guard.each(calls):
        count += 1
        if call:
            guard.pace.called(call == "new")
    return count


def test_a_loop_is_left_after_turns_that_tell_nothing_new() -> None:
    guard = _guard([])
    assert turns(guard, ["new"] * 20) == 20
    assert turns(guard, [""] * 20) == 20
    assert turns(guard, ["new", "new", "known", "new"] + ["known"] * 16) == 6
    assert turns(guard, ["known"] * 20) == 3


def test_the_loop_around_goes_on_while_one_inside_finds_something_new() -> None:
    guard = _guard([])
    found = 0
    for epoch in guard.each(range(20)):
        turns(guard, ["known"] * 20)
        found += 1
        if epoch == 1:
            guard.pace.called(True)
    assert found == 4


def test_a_while_loop_is_left_too_and_may_begin_again() -> None:
    guard = _guard([])
    for _ in range(2):
        count = 0
        while guard.turn(1) and count < 20:
            count += 1
            guard.pace.called(False)
        assert count == 3


def test_what_fails_after_a_loop_was_left_is_not_told() -> None:
    told: list[BaseException] = []
    guard = _guard(told)
    before, after = ValueError("before"), ValueError("after")
    guard.failed(before, 1)
    turns(guard, ["known"] * 20)
    guard.failed(after, 2)
    assert told == [before]
    assert guard.first is before
