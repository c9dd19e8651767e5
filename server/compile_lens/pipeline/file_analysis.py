"""Analyzes one file by the entries that the user chose, on standbys that the files of a command share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from compile_lens.analysis.filters import Filters
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.documents.source_file import FileProblem, read_source
from compile_lens.entries.entry import AUTOMATIC, EntryChoice, script
from compile_lens.entries.entry_spec import BadEntry
from compile_lens.pipeline.analyze import analyze
from compile_lens.pipeline.entry_choice import analyze_by_entries, as_if_compiled, choose
from compile_lens.pipeline.partial_run import end_of_cell, up_to_line
from compile_lens.pipeline.workspace import workspace_root
from compile_lens.state.call_memory import CallMemory
from compile_lens.workers.host import Host
from compile_lens.workers.interpreter import InterpreterError, find_interpreter
from compile_lens.workers.job import Job

OnOutcome = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True)
class EntrySelection:
    """How the user wants files to run: by an entry, up to a line, or with names compiled as if the file did. ``entry_of`` is the file that
    has the entry as a default, where it is not the user's own word."""

    entry: str
    names: tuple[str, ...]
    cell: int = 0
    to_line: int = 0
    entry_of: str = ""

    def limit(self, job: Job) -> Job:
        """``job``, limited to the part of the file that should run. Raises FileProblem."""
        if not self.cell and not self.to_line:
            return job
        text = read_source(Path(job.file))
        line = self.to_line or end_of_cell(job.file, text, self.cell)
        return up_to_line(job, text, line)

    def choices(self, job: Job) -> list[EntryChoice]:
        """The entries to run ``job`` with, one analysis for each choice. Raises FileProblem and BadEntry."""
        if job.up_to:
            return [EntryChoice((script(),), True)]
        path = Path(job.file)
        text = read_source(path)
        if self.names:
            return [as_if_compiled(job.file, text, name) for name in self.names]
        chosen = "" if self.entry == AUTOMATIC else self.entry
        recording = CallMemory.of_user().recall(job.file)
        root = workspace_root(path)
        return [choose(job.file, text, root, chosen, recording=recording, requested_by=self.entry_of)]


@dataclass(frozen=True, slots=True)
class FileRequest:
    """What to do with each file of a command. ``python`` is the interpreter, None for the nearest one that has torch."""

    python: str | None
    selection: EntrySelection
    filters: Filters

    async def analyze(
        self, job: Job, host_of: Callable[[str], Host], on_partial: OnOutcome | None = None
    ) -> list[Outcome]:
        """The outcomes of ``job``, one for each choice of an entry. ``host_of`` gives the standby of an interpreter."""
        try:
            limited = self.selection.limit(job)
            choices = self.selection.choices(limited)
            host = host_of(self.interpreter(job))
        except (FileProblem, BadEntry, InterpreterError) as problem:
            return [self.failed(job, str(problem))]
        return [
            await analyze_by_entries(analyze, host, limited, choice, on_partial, self.filters) for choice in choices
        ]

    def interpreter(self, job: Job) -> str:
        """The interpreter to run ``job`` with. Raises InterpreterError."""
        return find_interpreter(Path(job.file), (), self.python)

    def failed(self, job: Job, sentence: str) -> Outcome:
        """The outcome of a file that could not be analyzed."""
        return Outcome(
            job.file, self.python or "", "", job.depth.value, job.entry, Status.FAILED, 0.0, failure=sentence
        )


class Hosts:
    """The standbys of one command: in each of the ``slots`` that work at once, one for each interpreter."""

    def __init__(self, slots: int = 1) -> None:
        self._slots: list[dict[str, Host]] = [{} for _ in range(slots)]

    @property
    def slots(self) -> range:
        """The numbers of the slots."""
        return range(len(self._slots))

    def of(self, slot: int) -> Callable[[str], Host]:
        """What gives the standby of an interpreter in ``slot``."""
        hosts = self._slots[slot]

        def host_of(interpreter: str) -> Host:
            if interpreter not in hosts:
                hosts[interpreter] = Host(interpreter)
            return hosts[interpreter]

        return host_of

    async def close(self) -> None:
        """End their processes."""
        for hosts in self._slots:
            for host in hosts.values():
                await host.close()
