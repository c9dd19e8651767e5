"""Keeps the predictions of open files: moved with edits, and replaced by what a run has observed.

A run answers the predictions that lead from a region which it compiled, the right ones by a finding and the wrong ones by none. An
answer moves with its line and holds until that line is edited, so that predictions come back only where the text is new.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from compile_lens.analysis.finding import Finding, Kind, Place
from compile_lens.analysis.predictions import still_predicted
from compile_lens.documents.documents import file_key
from compile_lens.documents.moves import LineEdit, is_touched, move_finding, move_place
from compile_lens.pipeline.results import RegionOutcome

EditsSince = Callable[[int | None], list[LineEdit] | None]
_Answer = tuple[str, Place]
_REAL = (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR)


@dataclass(slots=True)
class _File:
    predictions: tuple[Finding, ...] = ()
    # the version that the predictions were made of, -1 before there are any
    version: int = -1
    answers: dict[str, frozenset[_Answer]] = field(default_factory=dict)
    # by the document that was run: the version that its run read, while the predictions are of an older one
    waiting: dict[str, int | None] = field(default_factory=dict)


@dataclass(slots=True)
class Predicted:
    """Predictions by file key."""

    _files: dict[str, _File] = field(default_factory=dict)

    def add(self, key: str, version: int, predictions: Iterable[Finding], edits_since: EditsSince) -> None:
        """Predictions were made of a version. ``edits_since(version)`` gives the edits from then to now, None if not known."""
        edits = edits_since(version)
        if edits is not None:
            file = self._files.setdefault(key, _File())
            file.version = version
            file.predictions = tuple(predictions)
            for edit in edits:
                file.predictions = _moved(file.predictions, key, edit)

    def edit(self, key: str, edits: Iterable[LineEdit]) -> None:
        """Move what is known along with edits of the file ``key``."""
        file = self._files.get(key)
        if file is None:
            return
        for edit in edits:
            file.predictions = _moved(file.predictions, key, edit)
            file.answers = {
                uri: frozenset(
                    (code, moved) for code, place in answers if (moved := move_place(place, edit)) is not None
                )
                for uri, answers in file.answers.items()
            }

    def ran(self, key: str, uri: str, version: int | None) -> None:
        """A run of the document ``uri`` ended that read this version of the file ``key`` (None: from before it was opened)."""
        file = self._files.setdefault(key, _File())
        file.answers.pop(uri, None)
        file.waiting[uri] = version

    def answer(self, key: str, regions: Iterable[RegionOutcome], edits_since: EditsSince) -> None:
        """Let the runs that ended answer the predictions. ``regions`` are their results in the file ``key``, where they are now."""
        file = self._files.get(key)
        if file is None:
            return
        for uri, version in list(file.waiting.items()):
            if version is not None and file.version < version:
                continue
            del file.waiting[uri]
            edits = edits_since(version)
            left = still_predicted(file.predictions, [result.summary for result in regions])
            if edits is not None:
                answered = set(file.predictions) - set(left)
                file.answers[uri] = frozenset(_answer(one) for one in answered if not is_touched(one.place, edits))

    def take_back(self, uri: str) -> set[str]:
        """What the run of the document ``uri`` said does not count any more; the keys of the files that it is about."""
        changed = {key for key, file in self._files.items() if uri in file.answers or uri in file.waiting}
        for key in changed:
            self._files[key].answers.pop(uri, None)
            self._files[key].waiting.pop(uri, None)
        return changed

    def forget(self, key: str) -> None:
        """The file was closed."""
        self._files.pop(key, None)

    def version(self, key: str) -> int:
        """The version that the predictions were made of, -1 before there are any."""
        file = self._files.get(key)
        return file.version if file is not None else -1

    def beside(self, key: str, findings: Collection[Finding]) -> tuple[Finding, ...]:
        """What to show beside the ``findings`` of runs: nothing where one of them says what happened."""
        file = self._files.get(key)
        if file is None:
            return ()
        answered: set[_Answer] = set().union(*file.answers.values())
        confirmed = {(finding.place.line, finding.code) for finding in findings if finding.kind in _REAL}
        return tuple(
            prediction
            for prediction in file.predictions
            if _answer(prediction) not in answered and (prediction.place.line, prediction.code) not in confirmed
        )


def _answer(prediction: Finding) -> _Answer:
    return prediction.code, prediction.place


def _moved(predictions: Iterable[Finding], key: str, edit: LineEdit) -> tuple[Finding, ...]:
    moved = (move_finding(one, edit, lambda file: file_key(file) == key) for one in predictions)
    return tuple(one for one in moved if one is not None)
