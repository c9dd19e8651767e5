"""Makes the calls of one region's variations, and marks in the trace which records belong to which.

Notes named ``compile_lens_variation``: ``reset`` (Dynamo was reset; the records that follow are not the program's), ``again`` (nor are
those that follow here, but Dynamo still knows what the program compiled), ``call`` (a call of a variation begins), ``called`` (it
ended), ``rejected`` (the program itself does not accept such inputs), ``left`` (no time was left), ``skipped`` (a region cannot be
varied) and ``over``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..instrument.region_calls import user_target
from ..instrument.trace_sink import write_note
from ..instrument.unrecorded import uncompiled, unrecorded
from ..torch_internals.attributes import original_module
from ..torch_internals.core import INTERN_TABLE
from ..torch_internals.dynamo import COUNTERS
from .call_snapshot import ArgumentNames, CallSnapshot
from .input_variations import MODE, InputVariation, modes, variations
from .settings import SETTING, ChangedSetting, Settings, steps_of

NAME = "compile_lens_variation"
MAX_TEXT = 2000


@dataclass(frozen=True, slots=True)
class VariedRegion:
    """A compile region that was called. The program calls ``compiled``, which wraps ``fn``."""

    number: int
    name: str
    compiled: Callable[..., Any]
    fn: Callable[..., Any]
    first_call: CallSnapshot


Choose = Callable[[CallSnapshot, ArgumentNames, list[Any]], Iterator[InputVariation]]


def vary(
    region: VariedRegion,
    end: float,
    choose: Choose | None = None,
    clock: Callable[[], float] = time.monotonic,
    settings: Settings = tuple,
) -> None:
    """Vary the first call of ``region`` until ``end``, a time of ``clock``; as ``choose`` says, if the user did not ask. ``settings``:
    objects that are made in another way."""
    with _separate_records():
        _Measurement(region, end, choose, clock).run(settings)


def repeat(region: VariedRegion, call: Callable[[], object]) -> None:
    """Make the program's call again: what it compiles beside what is known already is a variation's."""
    about = _about(region, "same", "the same inputs again", is_usual=True) | {"step": 0}
    with _separate_records():
        _note("again")
        _note("call", **about)
        problem = _error_of(call)
        _note("called", **about, **(problem or {}))


def call_in_other_mode(region: VariedRegion) -> str:
    """Call a module in the other of train and eval mode, as most programs do next: what that compiles beside what is compiled already is a
    variation's. The phrase of that way, if it was made; '' for what is no module, or does not accept it."""
    first = region.first_call
    found = next((each for each in modes(first, _modules_of(region.fn, first)) if each.kind == MODE), None)
    if found is None or _refusal_of(region, found) is not None:
        return ""
    with _separate_records():
        _note("again")
        about = _about(region, found.kind, found.phrase, is_usual=True)
        _make_call(region.compiled, found.calls[0], 0, about)
    return found.phrase


def _about(region: VariedRegion, kind: str, phrase: str, is_usual: bool) -> dict[str, Any]:
    about: dict[str, Any] = {"region": region.number, "name": region.name, "kind": kind, "phrase": phrase}
    return about | ({"usual": True} if is_usual else {})


def _refusal_of(region: VariedRegion, variation: InputVariation) -> dict[str, str] | None:
    """What the program itself raises for such a call; None if it accepts it."""
    with unrecorded(), uncompiled():
        return _error_of(partial(variation.calls[0].call, region.fn))


def _make_call(compiled: Callable[..., Any], call: CallSnapshot, step: int, about: dict[str, Any]) -> bool:
    """Make one call of a variation, with its notes; whether it returned."""
    _note("call", **about, step=step)
    problem = _error_of(partial(call.call, compiled))
    _note("called", **about, step=step, **(problem or {}))
    return problem is None


@contextmanager
def _separate_records() -> Iterator[None]:
    """Restore the table of interned strings at the end: the records of variations are read as a report of their own."""
    table = INTERN_TABLE.need()
    known = dict(table)
    try:
        yield
    finally:
        _note("over")
        table.clear()
        table.update(known)


def _note(what: str, **fields: Any) -> None:
    write_note(NAME, {"what": what, **fields})


class _Measurement:
    def __init__(self, region: VariedRegion, end: float, choose: Choose | None, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._region = region
        self._end = end
        self._choose = choose or variations
        self._is_usual = choose is not None
        self._seconds_of_call = 0.0
        # Dynamo has compiled the first call and nothing else
        self._is_fresh = False
        # what has been chosen among variations of which one is enough
        self._chosen: set[str] = set()

    def run(self, settings: Settings) -> None:
        region = self._region
        problem = self._reset_and_call()
        if problem is not None:
            _note("skipped", region=region.number, name=region.name, **problem)
            return
        names = ArgumentNames(region.fn)
        for variation in self._choose(region.first_call, names, _modules_of(region.fn, region.first_call)):
            about = _about(region, variation.kind, variation.phrase, self._is_usual)
            if variation.choice and variation.choice in self._chosen:
                continue
            if self._clock() + self._seconds_of(variation) > self._end:
                _note("left", **about)
            else:
                self._vary(variation, about)
        for setting in settings():
            self._configure(setting)

    def _seconds_of(self, variation: InputVariation) -> float:
        """How long a variation that nobody asked for takes, if each call of it is compiled as slowly as the first one was."""
        calls = len(variation.calls) + (0 if self._is_fresh else 1)
        return calls * self._seconds_of_call if self._is_usual else 0.0

    def _vary(self, variation: InputVariation, about: dict[str, Any]) -> None:
        problem = _refusal_of(self._region, variation)
        if problem is not None:
            if not variation.choice:
                _note("rejected", **about, **problem)
            return
        self._chosen.add(variation.choice)
        if not self._is_fresh:
            self._reset_and_call()
        for step, call in enumerate(variation.calls):
            before = _compile_counts()
            has_returned = _make_call(self._region.compiled, call, step, about)
            # a call that compiled nothing left the state as it was
            compiled_nothing = before is not None and before == _compile_counts()
            self._is_fresh = self._is_fresh and has_returned and compiled_nothing
            if not has_returned:
                break

    def _configure(self, setting: ChangedSetting) -> None:
        """Call an object that is made in another way, from nothing; until it fails, or there is no time."""
        region = self._region
        # what its constructor asks of the machine is no part of the program's own run
        _forget(region.number)
        try:
            made = setting.make()
        except Exception as error:  # code of the user's may raise anything
            about = _about(region, SETTING, f"`{setting.phrase}`", is_usual=True)
            _note("rejected", **about, **_problem_of(error))
            return
        for step in steps_of(setting, made, region.first_call, _modules_of):
            about = _about(region, step.kind, step.phrase, is_usual=True)
            if self._clock() + self._seconds_of_call > self._end:
                _note("left", **about, step=0)
                return
            if not _make_call(made.compiled, step.snapshot, 0, about):
                return

    def _reset_and_call(self) -> dict[str, str] | None:
        """Reset Dynamo, and make the first call again; what it raises."""
        _forget(self._region.number)
        self._is_fresh = True
        started = self._clock()
        problem = _error_of(lambda: self._region.first_call.call(self._region.compiled))
        self._seconds_of_call = self._clock() - started
        return problem


def _forget(region: int) -> None:
    """Make Dynamo forget what it has compiled."""
    import torch

    torch.compiler.reset()
    INTERN_TABLE.need().clear()
    _note("reset", region=region)


def _compile_counts() -> tuple[int, int] | None:
    """How often Dynamo has begun to compile, by its own counters (torch/_dynamo/utils.py, torch 2.6 to 2.13)."""
    counters = COUNTERS.get()
    return None if counters is None else (sum(counters["frames"].values()), sum(counters["stats"].values()))


def _error_of(call: Callable[[], object]) -> dict[str, str] | None:
    try:
        call()
    except Exception as error:  # code of the user's may raise anything
        return _problem_of(error)
    return None


def _problem_of(error: Exception) -> dict[str, str]:
    return {"type": type(error).__name__, "message": str(error)[:MAX_TEXT]}


def _modules_of(fn: Any, call: CallSnapshot) -> list[Any]:
    """The module that is compiled or whose method is; else those among the arguments, in the closure and among the globals."""
    import torch

    target = user_target(fn)
    owner = getattr(target, "__self__", target)
    if isinstance(owner, torch.nn.Module):
        return [owner]
    code = getattr(target, "__code__", None)
    near = [leaf for _, leaf in call.leaves()]
    near += [cell.cell_contents for cell in getattr(target, "__closure__", None) or () if _is_filled(cell)]
    names = getattr(target, "__globals__", {})
    near += [names[name] for name in (code.co_names if code is not None else ()) if name in names]
    found = [original_module(value) for value in near if isinstance(value, torch.nn.Module)]
    return list({id(module): module for module in found}.values())


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
