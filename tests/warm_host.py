"""One warm host for all tests of a process that only want to know what the product finds in a file."""

from __future__ import annotations

import asyncio
import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from filelock import FileLock

from compile_lens.analysis.outcome import Outcome
from compile_lens.entries.entry import EntryChoice
from compile_lens.pipeline.analyze import analyze
from compile_lens.pipeline.entry_choice import analyze_by_entries
from compile_lens.pipeline.workspace import workspace_root
from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.report import CompileReport
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, End, Job, Substitution, VariationRequest
from compile_lens.workers.wire import Frame, TraceRecord
from fixture_notation import depth_of, is_compared, is_varied

TIMEOUT_S = 300.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Analyzed:
    """What the product makes of a file, and the report it makes it of."""

    outcome: Outcome
    report: CompileReport


class RecordingHost(Host):
    """A host that keeps the report of its last run."""

    def __init__(self, python: str, environment: Mapping[str, str] | None = None) -> None:
        super().__init__(python, environment)
        self.builder = ReportBuilder()

    async def run(self, job: Job, on_frame: Callable[[Frame], None]) -> End:
        self.builder = ReportBuilder()

        def record(frame: Frame) -> None:
            if isinstance(frame, TraceRecord):
                self.builder.feed(frame.data)
            on_frame(frame)

        return await super().run(job, record)


class Shared:
    """A host that stays open when it is closed."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    async def close(self) -> None:
        """Do nothing."""


class WarmHost:
    """A host and the event loop that it lives in, for tests that are plain functions.

    A file is run once in each way. With ``kept``, a folder, that holds for all processes that use it.
    """

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        python: str = sys.executable,
        kept: Path | None = None,
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._host = RecordingHost(python, environment)
        self._known: dict[tuple[Path, Depth, bool, bool], Analyzed] = {}
        self._kept = kept

    def analyze(self, file: Path, depth: Depth = Depth.DYNAMO, compare: bool = False, varied: bool = False) -> Analyzed:
        way = (file, depth, compare, varied)
        if way not in self._known:
            self._known[way] = self._analyzed(*way) if self._kept is None else self._analyzed_once(self._kept, *way)
        return self._known[way]

    def analyze_fixture(self, file: Path) -> Analyzed:
        """A program of the corpora, run as its own comment asks for."""
        text = file.read_text(encoding="utf-8")
        return self.analyze(file, Depth(depth_of(text)), is_compared(text), is_varied(text))

    def _analyzed_once(self, kept: Path, *way: Any) -> Analyzed:
        place = kept / hashlib.sha256(repr(way).encode()).hexdigest()
        with FileLock(f"{place}.lock"):
            if place.exists():
                known: Analyzed = pickle.loads(place.read_bytes())
                return known
            made = self._analyzed(*way)
            aside = kept / f"{place.name}.{os.getpid()}"
            aside.write_bytes(pickle.dumps(made))
            aside.replace(place)
            return made

    def _analyzed(self, file: Path, depth: Depth, compare: bool, varied: bool) -> Analyzed:
        job = Job(
            str(file),
            depth=depth,
            timeout_s=TIMEOUT_S,
            compare=compare,
            vary=VariationRequest() if varied else None,
        )
        outcome = self._loop.run_until_complete(analyze(self._host, job))
        return Analyzed(outcome, self._host.builder.report())

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """What ``work`` comes to, in the event loop of the host."""
        return self._loop.run_until_complete(work)

    def shared(self) -> Host:
        """The host, for code that closes its host when it is done: this one stays open."""
        host: Host = Shared(self._host)  # type: ignore[assignment]
        return host

    def run(self, job: Job) -> Outcome:
        """What the product makes of a job; nothing is kept."""
        return self._loop.run_until_complete(analyze(self._host, job))

    def run_with_report(self, job: Job) -> tuple[Outcome, CompileReport]:
        """The same, with the report that the outcome is made of."""
        return self.run(job), self._host.builder.report()

    def run_choice(
        self,
        file: str,
        choice: EntryChoice,
        text: str | None = None,
        vary: VariationRequest | None = None,
        **changes: Substitution,
    ) -> Outcome:
        """What the product makes of a file with the first entry of ``choice`` that reaches something."""
        workspace = str(workspace_root(Path(file)) or "")
        job = replace(Job(file, text=text, timeout_s=TIMEOUT_S, vary=vary, workspace=workspace), **changes)
        return self._loop.run_until_complete(analyze_by_entries(analyze, self._host, job, choice))

    def analyze_choice(self, file: str, choice: EntryChoice) -> Analyzed:
        """The same, with the report of the run that it is made of."""
        return Analyzed(self.run_choice(file, choice), self._host.builder.report())

    def close(self) -> None:
        self._loop.run_until_complete(self._host.close())
        self._loop.close()


def one_worker_each(files: Iterable[Path]) -> list[Any]:
    """Parameters such that all tests of a file are run by one worker: no other waits for its outcome. What Inductor compiles is slow."""
    found = []
    for file in files:
        marks = [pytest.mark.xdist_group(f"program-{file.stem}")]
        if depth_of(file.read_text(encoding="utf-8")) == Depth.INDUCTOR.value:
            marks.append(pytest.mark.slow)
        found.append(pytest.param(file, id=file.stem, marks=marks))
    return found


def warm_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmHost]:
    own = tmp_path_factory.getbasetemp()
    kept = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "analyzed"
    kept.mkdir(exist_ok=True)
    host = WarmHost(kept=kept)
    yield host
    host.close()
