"""Remembers the last runs of each open document, and what changed from one to the next."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import datetime

from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.diff.comparison import AnalysisComparison, Side, compare
from compile_lens.diff.identity import TreeOf
from compile_lens.diff.sides import side_of_outcomes

# of each document
RUNS_KEPT = 10


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run that came to its end. ``changes`` are those since the previous run it, None for the first."""

    ended: datetime
    status: Status
    duration_s: float
    torch: str
    side: Side
    changes: AnalysisComparison | None


class RunHistory:
    """The last runs by document."""

    def __init__(self) -> None:
        self._runs: dict[str, deque[PastRun]] = {}

    def add(self, uri: str, outcome: Outcome, ended: datetime, tree_of: TreeOf) -> None:
        """A run of the document ``uri`` ended. ``tree_of`` gives the source of the files that it found something in."""
        runs = self._runs.setdefault(uri, deque(maxlen=RUNS_KEPT))
        side = side_of_outcomes(outcome.file, [outcome], tree_of, root="")
        changes = compare(runs[0].side, side) if runs else None
        runs.appendleft(PastRun(ended, outcome.status, outcome.duration_s, outcome.torch, side, changes))

    def of(self, uri: str) -> tuple[PastRun, ...]:
        """The runs of a document, the newest first."""
        return tuple(self._runs.get(uri, ()))

    def forget(self, uri: str) -> None:
        """The document was closed."""
        self._runs.pop(uri, None)
