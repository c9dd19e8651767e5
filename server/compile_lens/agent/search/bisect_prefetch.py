"""Runs the next questions of a search while one is answered, as many as there is room for.

A question follows from the answers before it, by torch's own code: so a child of the driver goes through the search again, with the
answers that are known and, for those that are not, what is usual; where these end it becomes the step that torch asks for then. If the
answers turn out to be others, its own is dropped. So the order of the search and its verdict stay torch's.
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

from .step import POLL_S, Running, Setup, Steps, be

# the exit code of a child that found nothing to be
NOTHING = 64


@dataclasses.dataclass
class Question:
    """What torch's files say is to be tried: the state of ``subsystem`` and, in a binary search, its range."""

    backend: str
    subsystem: str | None
    state: str | None
    low: int | None
    high: int | None

    @classmethod
    def read(cls, bisector: Any) -> Question:
        """The question of the moment."""
        backend, subsystem = bisector.get_backend(), bisector.get_subsystem()
        state = bisector.get_run_state(backend, subsystem) if subsystem else None
        low, high = bisector.get_bisect_range(backend, subsystem) if state == "bisect" else (None, None)
        return cls(backend, subsystem, state, low, high)

    def usual(self) -> bool:
        """Whether the step will be good, as far as that can be told: most bugs are in a lowering of Inductor, and early ones are few."""
        if self.state == "test_disable":
            return self.subsystem == "lowerings"
        return self.subsystem is None and self.backend != "inductor"


@dataclasses.dataclass
class _Answer:
    good: bool
    files: dict[str, bytes]


@dataclasses.dataclass
class _Guess:
    """A step that will be asked for when the answers after the first ``known`` are those that it has assumed."""

    running: Running
    folder: str
    known: int

    def told(self) -> dict[str, Any] | None:
        """Which answers it has assumed, and where its state is; None before it knows which step it is."""
        with contextlib.suppress(OSError), open(f"{self.folder}.json", encoding="utf-8") as file:
            said: dict[str, Any] = json.load(file)
            return said
        return None


class Ahead:
    """Guesses, in the order in which they would be asked for. ``most`` steps run at once, with the one that is waited for."""

    def __init__(
        self, steps: Steps, bisector: Any, scratch: str, setup: Callable[[str, str], Setup], most: int
    ) -> None:
        self._steps, self._bisector, self._scratch, self._setup = steps, bisector, scratch, setup
        self.most = most
        self._answers: list[_Answer] = []
        self._guesses: list[_Guess] = []
        self._number = 0
        self._is_asked = False

    def fill(self) -> None:
        """Start what there is room for."""
        busy = sum(self._steps.look(guess.running) is None for guess in self._guesses)
        while busy + 1 < self.most and not (self._guesses and self._is_last(self._guesses[-1])):
            self._number += 1
            folder = os.path.join(self._scratch, f"ahead-{self._number}")
            count = len(self._guesses) + self._is_asked
            running = self._steps.start(functools.partial(self._be_guess, folder, count))
            self._guesses.append(_Guess(running, folder, len(self._answers)))
            busy += 1

    def take(self) -> tuple[Running, str] | None:
        """The step of the question that is asked now, and the folder of its state, if it was guessed; else the guesses are dropped."""
        self._is_asked = True
        if not self._guesses:
            return None
        guess = self._guesses.pop(0)
        while (told := guess.told()) is None and self._steps.look(guess.running) is None:
            time.sleep(POLL_S)
        given = [answer.good for answer in self._answers[guess.known :]]
        if told is not None and told["assumed"] == given:
            return guess.running, told["state"]
        self._guesses.insert(0, guess)
        self.drop()
        return None

    def answered(self, good: bool, state: str, guessed: str | None) -> None:
        """Note an answer, with what its step wrote to the files of the search, in ``guessed`` if it was a guess."""
        if guessed is not None:
            shutil.copytree(guessed, state, dirs_exist_ok=True)
        self._answers.append(_Answer(good, _read(state)))

    def drop(self) -> None:
        """End every guess."""
        self._steps.drop(*(guess.running for guess in self._guesses))
        self._guesses.clear()

    def _is_last(self, guess: _Guess) -> bool:
        ended = guess.running.ended
        return ended is not None and guess.told() is None

    def _be_guess(self, folder: str, count: int) -> int:
        bisector, answers = self._bisector, self._answers
        assumed: list[bool] = []
        asked = 0

        def ask() -> bool:
            nonlocal asked
            asked += 1
            if asked <= len(answers):
                _write(bisector.in_process_cache, answers[asked - 1].files)
                return answers[asked - 1].good
            question = Question.read(bisector)
            if asked > len(answers) + count:
                sys.stdout = sys.__stdout__
                atexit._clear()  # the search of this process has registered that its state is removed
                _tell(folder, {"assumed": assumed, "state": bisector.in_process_cache})
                os._exit(be(self._setup(question.backend, bisector.in_process_cache)) & 0xFF)
            if question.state == "find_max_bounds":
                os._exit(NOTHING)  # the step itself writes what comes next
            assumed.append(question.usual())
            return assumed[-1]

        os.makedirs(folder)
        bisector.bisection_enabled, bisector.in_process_cache = False, folder
        with contextlib.redirect_stdout(io.StringIO()):
            bisector.do_bisect(ask)
        return NOTHING


def _tell(folder: str, what: dict[str, Any]) -> None:
    with open(f"{folder}.part", "w", encoding="utf-8") as file:
        json.dump(what, file)
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
