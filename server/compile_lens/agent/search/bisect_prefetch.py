"""Runs likely next steps of a bisection ahead of time, as many as there is room for.

torch's own code derives each question from the answers before it. So a child of the driver replays the search with the known answers,
assumes likely ones for the rest, and becomes the step that torch then asks for. If an assumption turns out wrong, the step is discarded.
The order of the search and its verdict stay torch's.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import functools
import io
import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

from . import torch_bisector
from .step import run_step
from .step_setup import StepSetup
from .steps import POLL_S, RunningStep, Steps

# the exit code of a child for which torch asks no question
NO_QUESTION = 64


@dataclasses.dataclass
class BisectQuestion:
    """What torch's files say to try next: the state of ``subsystem`` and, in a binary search, its range."""

    backend: str
    subsystem: str | None
    state: str | None
    low: int | None
    high: int | None

    @classmethod
    def read(cls, bisector: Any) -> BisectQuestion:
        """The current question."""
        backend, subsystem = bisector.get_backend(), bisector.get_subsystem()
        state = bisector.get_run_state(backend, subsystem) if subsystem else None
        low, high = bisector.get_bisect_range(backend, subsystem) if state == "bisect" else (None, None)
        return cls(backend, subsystem, state, low, high)

    def likely_answer(self) -> bool:
        """Whether the step is likely to be good: most bugs are in a lowering of Inductor, and few in earlier stages."""
        if self.state == "test_disable":
            return self.subsystem == "lowerings"
        return self.subsystem is None and self.backend != "inductor"


@dataclasses.dataclass
class _Answer:
    good: bool
    files: dict[str, bytes]


@dataclasses.dataclass
class _PrefetchedStep:
    """A step that torch will ask for if the answers after the first ``known`` are those that it assumed."""

    running: RunningStep
    folder: str
    known: int

    def plan(self) -> dict[str, Any] | None:
        """The answers that it assumed, and its state folder; None before it knows which step it is."""
        with contextlib.suppress(OSError), open(f"{self.folder}.json", encoding="utf-8") as file:
            plan: dict[str, Any] = json.load(file)
            return plan
        return None


class Prefetcher:
    """Prefetched steps in the order of the search. ``most`` steps run at once, including the one that the search waits for."""

    def __init__(
        self, steps: Steps, bisector: Any, scratch: str, setup: Callable[[str, str], StepSetup], most: int
    ) -> None:
        self._steps, self._bisector, self._scratch, self._setup = steps, bisector, scratch, setup
        self.most = most
        self._answers: list[_Answer] = []
        self._prefetched: list[_PrefetchedStep] = []
        self._number = 0
        self._is_waiting = False

    def fill(self) -> None:
        """Start as many steps as there is room for."""
        busy = sum(self._steps.poll(step.running) is None for step in self._prefetched)
        while busy + 1 < self.most and not (self._prefetched and self._is_last(self._prefetched[-1])):
            self._number += 1
            folder = os.path.join(self._scratch, f"prefetch-{self._number}")
            count = len(self._prefetched) + self._is_waiting
            running = self._steps.start(functools.partial(self._replay, folder, count))
            self._prefetched.append(_PrefetchedStep(running, folder, len(self._answers)))
            busy += 1

    def take(self) -> tuple[RunningStep, str] | None:
        """The prefetched step of the current question and its state folder; None, with all others discarded, if it was not foreseen."""
        self._is_waiting = True
        if not self._prefetched:
            return None
        step = self._prefetched.pop(0)
        while (plan := step.plan()) is None and self._steps.poll(step.running) is None:
            time.sleep(POLL_S)
        given = [answer.good for answer in self._answers[step.known :]]
        if plan is not None and plan["assumed"] == given:
            return step.running, plan["state"]
        self._prefetched.insert(0, step)
        self.discard()
        return None

    def record_answer(self, good: bool, state: str, prefetched: str | None) -> None:
        """Record an answer and the files that its step wrote, in the folder ``prefetched`` if the step was prefetched."""
        if prefetched is not None:
            shutil.copytree(prefetched, state, dirs_exist_ok=True)
        self._answers.append(_Answer(good, _read(state)))

    def discard(self) -> None:
        """Kill every prefetched step."""
        self._steps.kill(*(step.running for step in self._prefetched))
        self._prefetched.clear()

    def _is_last(self, step: _PrefetchedStep) -> bool:
        return step.running.result is not None and step.plan() is None

    def _replay(self, folder: str, count: int) -> int:
        bisector, answers = self._bisector, self._answers
        assumed: list[bool] = []
        questions = 0

        def ask() -> bool:
            nonlocal questions
            questions += 1
            if questions <= len(answers):
                _write(bisector.in_process_cache, answers[questions - 1].files)
                return answers[questions - 1].good
            question = BisectQuestion.read(bisector)
            if questions > len(answers) + count:
                sys.stdout = sys.__stdout__
                atexit._clear()  # the replayed search has registered the removal of its state
                _write_plan(folder, {"assumed": assumed, "state": bisector.in_process_cache})
                os._exit(run_step(self._setup(question.backend, bisector.in_process_cache)) & 0xFF)
            if question.state == "find_max_bounds":
                os._exit(NO_QUESTION)  # only the step itself knows what comes next
            assumed.append(question.likely_answer())
            return assumed[-1]

        os.makedirs(folder)
        torch_bisector.set_state(folder, False)
        with contextlib.redirect_stdout(io.StringIO()):
            bisector.do_bisect(ask)
        return NO_QUESTION


def _write_plan(folder: str, plan: dict[str, Any]) -> None:
    with open(f"{folder}.part", "w", encoding="utf-8") as file:
        json.dump(plan, file)
    os.replace(f"{folder}.part", f"{folder}.json")


def _read(folder: str) -> dict[str, bytes]:
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


def _write(folder: str, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
