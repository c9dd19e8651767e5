"""Follows the traces of a job in a folder, one file for each rank, and tells what is new: findings, and recompile storms."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.outcome import Outcome
from compile_lens.diff.identity import identify
from compile_lens.pipeline.live_trace import LiveTrace
from compile_lens.pipeline.loaded_trace import Recorded, recorded_of, with_compiled, with_divergence
from compile_lens.pipeline.opened_trace import OpenedTrace
from compile_lens.trace.files import TraceError, trace_files

# so many recompiles at one place within so many seconds are a storm; it is told again whenever their number has doubled
STORM = 4
STORM_S = 60.0
# findings are made again at most this share of the time
PAUSE_PER_COST = 5.0
PLAIN = ".log"


@dataclass(frozen=True, slots=True)
class News:
    """A finding that no rank had before, or one that has become a storm of recompiles."""

    finding: Finding
    rank: int | None
    is_storm: bool = False

    @property
    def shown(self) -> Finding:
        """The finding as it is told now."""
        message = self.finding.message
        if not self.is_storm:
            return self.finding
        return replace(self.finding, message=f"Recompile storm: {message[:1].lower()}{message[1:]}")


class LiveRun:
    """What the processes of one job have told so far, under its ``name`` or the paths of its traces.

    Files in ``folder`` that are ``older`` are of another job. The user's files are looked for in ``near``, by default the current folder.
    ``revision`` grows whenever what they tell changes.
    """

    def __init__(
        self,
        folder: Path,
        older: frozenset[Path] = frozenset(),
        name: str = "",
        maps: tuple[tuple[str, str], ...] = (),
        just_my_code: bool = True,
        near: tuple[str, ...] = (),
    ) -> None:
        self.revision = 0
        self._folder = folder
        self._near = (*(near or (str(Path.cwd()),)), str(folder))
        self._older = older
        self._name = name
        self._maps = maps
        self._just_my_code = just_my_code
        self._traces: dict[Path, LiveTrace] = {}
        # written before they were followed: how fast that was is not known
        self._history = frozenset(trace_files_in(folder)) - older
        self._recorded: dict[Path, Recorded] = {}
        self._changed: set[Path] = set()
        self._known: set[tuple[object, ...]] = set()
        self._storms: dict[tuple[object, ...], _Storm] = {}
        self._not_before = 0.0

    def poll(self, is_over: bool = False) -> list[News]:
        """Read what has been written, and return what is new. ``is_over``: the job has ended, so that nothing is put off."""
        for path in trace_files_in(self._folder):
            if path not in self._older and path not in self._traces:
                self._traces[path] = LiveTrace(path)
        self._changed |= {path for path, trace in self._traces.items() if trace.read(is_over)}
        began = time.monotonic()
        if not self._changed or (began < self._not_before and not is_over):
            return []
        news = [one for path in sorted(self._changed) for one in self._news_of(path)]
        self._changed.clear()
        self.revision += 1
        self._not_before = time.monotonic() + PAUSE_PER_COST * (time.monotonic() - began)
        return news

    @property
    def is_empty(self) -> bool:
        """Whether no process has written a record."""
        return not any(trace.is_trace for trace in self._traces.values())

    def recorded(self) -> list[Recorded]:
        """What each rank tells, in the order of their files."""
        return [with_compiled(self._recorded[path]) for path in sorted(self._recorded)]

    def outcomes(self) -> list[Outcome]:
        """The outcomes of the ranks, with where they diverge."""
        return with_divergence(self.recorded())

    def shown(self) -> tuple[Outcome, ...]:
        """The same for people: the ranks of one job as one outcome, where what they have in common is once."""
        return OpenedTrace(self._name or str(self._folder), tuple(self.outcomes())).merged()

    def _news_of(self, path: Path) -> Iterator[News]:
        trace = self._traces[path]
        if not trace.is_trace:
            return
        self._recorded[path] = recorded = recorded_of(
            trace.report(), self._name or str(path), self._maps, self._just_my_code, self._near
        )
        for finding in recorded.outcome.findings:
            key = _key(finding)
            if key not in self._known:
                self._known.add(key)
                yield News(finding, recorded.report.rank)
            if finding.kind is Kind.RECOMPILE:
                storm = self._storms.setdefault((path, *key), _Storm(finding.count if path in self._history else 0))
                if storm.grows_to(finding.count, time.monotonic()):
                    yield News(finding, recorded.report.rank, is_storm=True)
        self._history -= {path}


class _Storm:
    """How often one place has recompiled."""

    def __init__(self, before: int) -> None:
        self._counts: list[tuple[float, int]] = [(time.monotonic(), before)]
        self._told = 0

    def grows_to(self, count: int, now: float) -> bool:
        """Whether ``count`` recompiles are worth a notice."""
        within = [(then, number) for then, number in self._counts if now - then <= STORM_S]
        self._counts = [*(within or self._counts[-1:]), (now, count)]
        is_storm = count - self._counts[0][1] >= STORM and count >= 2 * self._told
        self._told = count if is_storm else self._told
        return is_storm


def trace_files_in(folder: Path) -> tuple[Path, ...]:
    """The trace files of ``folder`` that may still grow; none if it is not there yet."""
    try:
        return tuple(file for file in trace_files(folder) if file.suffix == PLAIN) if folder.is_dir() else ()
    except TraceError:
        return ()


def _key(finding: Finding) -> tuple[object, ...]:
    """What a finding is recognized by while its counts and values grow."""
    one = identify(finding, lambda _: None, "")
    return (one.kind, one.code, one.file, finding.place.line, finding.place.column, one.cause)
