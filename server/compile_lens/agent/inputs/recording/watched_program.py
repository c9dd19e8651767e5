"""Runs a program, ahead of itself where it can, and keeps what is learned: its models, and the functions that it calls with tensors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from ...instrument.unrecorded import uncompiled
from ..calling.parameter_count import parameter_count
from ..scripts.data_loading import without_workers
from ..scripts.guard import Enough
from ..scripts.pace import Pace
from .explorer import Explorer, Told, unpacked_module
from .function_recorder import FunctionRecorder, RecordedFunction
from .model_recorder import LaterCall, ModelRecorder, RecordedModel


class WatchedProgram:
    """``page`` is the file whose lines make the models. ``check_time`` raises Enough when the time is over, which for a copy that runs
    ahead is after ``seconds`` by the clock.

    ``pace`` is told of the calls of models. Where the program uses models that ``owns`` is true of, it is about these.
    """

    def __init__(
        self,
        page: str,
        seconds: float,
        check_time: Callable[[], None],
        owns: Callable[[Any], bool] | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._explorer = Explorer(seconds)
        self._again: dict[int, RecordedModel | None] = {}
        self._functions = FunctionRecorder(page, check_time)
        self._recorder = ModelRecorder(page, check_time, self._before_first, owns, pace)

    def run(self, body: Callable[[], object]) -> None:
        """Run ``body`` until it ends, or until the models are known. Raises what it raises."""
        try:
            with uncompiled(), self._recorder.recording(), without_workers(), self._functions.recording():
                body()
        except (Enough, SystemExit) as end:
            self.note_failure(end)
        finally:
            self._explorer.finish(self._found, self._recorder.number_of, self._recorder.given_to)

    def note_failure(self, error: BaseException) -> None:
        """``error`` has ended a statement of the program, which goes on."""
        self._recorder.note_failure(error)

    def parts(self) -> list[RecordedModel]:
        """Parts of models that the program failed to make, the largest first."""
        return self._recorder.parts()

    def has_models(self) -> bool:
        """Whether the program has made a model so far."""
        return bool(self._found())

    def models(self) -> list[RecordedModel]:
        """The most important first; those that it makes only after the first call of its main one are made again."""
        found: list[RecordedModel] = []
        for told in self._explorer.told:
            model = self._known(told) or self._made_again(told)
            if model is not None:
                # what this process has recorded itself is not made once more
                later = zip(
                    told.calls, told.changes, told.values, told.modes, told.call_modes, told.counts, strict=True
                )
                model.later = tuple(
                    LaterCall(call[0], call[1], changes, values, mode, modes)
                    for call, changes, values, mode, modes, count in later
                    if count > model.count
                )
                model.passed = told.passed
                model.around_later = told.around_later
                found.append(model)
        return found or self._found()

    def _known(self, told: Told) -> RecordedModel | None:
        return self._recorder.known(told.number, told.name)

    def _made_again(self, told: Told) -> RecordedModel | None:
        """A model that the copy made later, as it was before its first call."""
        if told.number not in self._again:
            module = unpacked_module(told)
            self._again[told.number] = RecordedModel(module, told.line) if module is not None else None
        return self._again[told.number]

    def not_made(self) -> Iterator[tuple[Told, type]]:
        """Models that the program makes only after the first call of its main one, where it was stopped, and that cannot be made again:
        their classes. Not those that it has made in the same way before, as in each turn of a loop, nor copies of those that it has."""
        told_made = [told for told in self._explorer.told if self._known(told) or self._made_again(told)]
        made = {(told.module, told.name, str(told.given)) for told in told_made}
        for told in self._explorer.told:
            cls = getattr(sys.modules.get(told.module), told.name, None)
            is_copy = told.number < 0 and any((module, name) == (told.module, told.name) for module, name, _ in made)
            if (
                isinstance(cls, type)
                and told not in told_made
                and not is_copy
                and (told.module, told.name, str(told.given)) not in made
            ):
                yield told, cls

    def functions(self) -> list[RecordedFunction]:
        """What a program that builds no model calls with tensors."""
        return self._functions.functions()

    def functions_in(self, is_wanted: Callable[[str], bool]) -> list[RecordedFunction]:
        """Those that it calls with tensors of files that are wanted."""
        return self._functions.functions_in(is_wanted)

    def _found(self) -> list[RecordedModel]:
        return self._recorder.owned_models() or self._recorder.models()

    def _before_first(self, model: RecordedModel) -> None:
        if parameter_count(model.module):
            self._functions.stop()  # the program is about this model
        number = self._recorder.number_of(model.module)
        self._explorer.before_first_call(number, model, self._recorder.made_so_far)
