"""A function that is surrounded in place stays the same object, and looks the same."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
import traceback
from typing import Any

import pytest

from compile_lens.agent.instrument.in_place import call_after_failure, call_first, is_surrounding


def every_kind(a: int, b: int = 2, /, c: int = 3, *rest: int, d: int, e: int = 5, **more: int) -> tuple[Any, ...]:
    """Has every kind of parameter."""
    if a < 0:
        raise ValueError(a)
    return a, b, c, rest, d, e, more


class Base:
    def value(self, error: int = 1) -> int:
        return error


class Derived(Base):
    def value(self, error: int = 1) -> int:
        return super().value(error) + 1


def test_arguments_defaults_and_results_are_passed_on() -> None:
    seen: list[Any] = []
    undo = call_first(every_kind, lambda *args, **named: seen.append((args, named)))
    try:
        assert every_kind(1, d=4) == (1, 2, 3, (), 4, 5, {})
        assert every_kind(1, 2, 30, 40, d=4, z=6) == (1, 2, 30, (40,), 4, 5, {"z": 6})
    finally:
        undo()
    assert seen == [((1, 2, 3), {"d": 4, "e": 5}), ((1, 2, 30, 40), {"d": 4, "e": 5, "z": 6})]
    assert every_kind(1, d=4) and len(seen) == 2


def test_it_looks_as_before() -> None:
    def look() -> tuple[Any, ...]:
        f = every_kind
        code = f.__code__
        return (
            id(f), inspect.signature(f), inspect.getsource(f), f.__name__, f.__qualname__, f.__module__, f.__doc__, f.__defaults__,
            f.__kwdefaults__, vars(f), code.co_filename, code.co_firstlineno, code.co_name, pickle.loads(pickle.dumps(f)) is f,
            copy.deepcopy(f) is f,
        )  # fmt: skip

    before = look()
    undo = call_first(every_kind, lambda *_, **__: None)
    try:
        assert look() == before
        with pytest.raises(TypeError, match=r"every_kind\(\) missing 1 required positional argument: 'a'"):
            every_kind(d=1)  # type: ignore[call-arg]
    finally:
        undo()


def test_a_result_may_be_given_before_and_after_a_failure() -> None:
    first = call_first(every_kind, lambda a, *_, **__: ("given",) if a == 7 else None)
    after = call_after_failure(every_kind, lambda error, a, /, *_, **__: (str(error),) if a == -1 else None)
    try:
        assert every_kind(7, d=1) == "given"  # type: ignore[comparison-overlap]
        assert every_kind(-1, d=1) == "-1"  # type: ignore[comparison-overlap]
        with pytest.raises(ValueError, match="-2") as raised:
            every_kind(-2, d=1)
    finally:
        after()
        first()
    frames = [frame for frame, _ in traceback.walk_tb(raised.value.__traceback__)][1:]
    assert [frame.f_code.co_name for frame in frames] == ["every_kind"] * 3
    assert [is_surrounding(frame.f_code) for frame in frames] == [True, True, False]


def test_methods_with_free_variables() -> None:
    undo = call_after_failure(Derived.value, lambda *_, **__: None)
    try:
        assert Derived().value(error=4) == 5
        depth: list[int] = []
        sys.setprofile(lambda frame, event, _: depth.append(1) if event == "call" else None)
        Derived().value()
        sys.setprofile(None)
        assert len(depth) == 3
    finally:
        undo()


def test_generators_are_refused() -> None:
    def generator() -> Any:
        yield 1

    with pytest.raises(TypeError, match="generator"):
        call_first(generator, lambda: None)
