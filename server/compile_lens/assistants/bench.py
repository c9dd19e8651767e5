"""Runs a file for an assistant as an editor would: by its entries, in the sandbox, with the text that the assistant or the editor has."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from compile_lens.analysis.filters import Filters
from compile_lens.analysis.outcome import Outcome
from compile_lens.assistants.ground import Ground, NotAllowed
from compile_lens.diff.identity import TreeOf
from compile_lens.documents.source_file import FileProblem, read_source, source_if_named
from compile_lens.entries.entry import AUTOMATIC, EntryChoice, other_file
from compile_lens.pipeline.analyze import analyze
from compile_lens.pipeline.entry_choice import analyze_by_entries, choose
from compile_lens.state.call_memory import CallMemory
from compile_lens.syntax.tree import SourceTree, parse
from compile_lens.wording import counted
from compile_lens.workers.host import Host
from compile_lens.workers.job import Depth, Job
from compile_lens.workers.wire import Frame

# gets a sentence about how far the work is
Tell = Callable[[str], None]
OnPartial = Callable[[Outcome], None] | None
# somebody asked and waits: longer programs are run again than in the background of an editor
LONGEST_RUN_S = 30.0
DISK, EDITOR, GIVEN = "disk", "editor", "given"


def absolute(path: str) -> str:
    """The absolute path that an assistant means, with links kept. Raises FileProblem."""
    if "\0" in path:
        raise FileProblem("A path cannot contain null characters.")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise FileProblem("A path cannot contain half of a character.") from None
    return os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111 - resolve() would follow a link


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a file, and where it is from: ``disk``, ``editor`` (unsaved), or ``given`` with the question."""

    file: str
    text: str
    origin: str

    @property
    def unsaved(self) -> str | None:
        """What a job runs in place of the file."""
        return None if self.origin == DISK else self.text

    def tree_of(self) -> TreeOf:
        """What parses a file; this one as it is here."""

        def tree(file: str) -> SourceTree | None:
            text = self.text if file == self.file else source_if_named(file)
            return None if text is None else parse(text)

        return tree


@dataclass(frozen=True, slots=True)
class Way:
    """How a file is run: an entry ('' for the first that compiles anything), how far it compiles, whether numbers are compared, and
    whether what stages need is recorded."""

    entry: str = ""
    depth: Depth = Depth.DYNAMO
    compare: bool = False
    stages: bool = False


@dataclass(frozen=True, slots=True)
class Ran:
    """A run, the host that it ran on, and its job with the entry that was used."""

    outcome: Outcome
    host: Host
    job: Job


class Bench:
    """The runs of one server."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground

    async def source(self, file: str, given: str | None = None) -> Source:
        """The text to work with. Raises FileProblem."""
        path = absolute(file)
        if given is not None:
            return Source(path, given, GIVEN)
        unsaved = await self.ground.unsaved(path)
        if unsaved is not None:
            return Source(path, unsaved, EDITOR)
        return Source(path, await asyncio.to_thread(read_source, Path(path)), DISK)

    def job(self, source: Source, way: Way) -> Job:
        """The run of ``source``. Raises NotAllowed."""
        self.ground.allow(source.file)
        job = self.ground.job(source.file, source.unsaved)
        # numbers are compared after all of the compiler
        return replace(job, depth=Depth.INDUCTOR if way.compare else way.depth, compare=way.compare, stages=way.stages)

    def choice(self, source: Source, entry: str) -> EntryChoice:
        """The entries to try. Raises BadEntry. Reads files of the workspace: not for the event loop."""
        recording = CallMemory.of_user().recall(source.file)
        chosen = "" if entry == AUTOMATIC else entry
        return choose(source.file, source.text, self.ground.root(source.file), chosen, recording=recording)

    def allowed_choice(self, source: Source, entry: str) -> EntryChoice:
        """Of the entries to try, those that run no file that may not run. Raises NotAllowed for one that was named, and BadEntry."""
        choice = self.choice(source, entry)
        if choice.is_explicit:
            for one in choice.entries:
                if (other := other_file(one)) is not None:
                    self.ground.allow(other)
            return choice
        return replace(choice, entries=tuple(one for one in choice.entries if self._may_run(other_file(one))))

    def _may_run(self, file: str | None) -> bool:
        try:
            if file is not None:
                self.ground.allow(file)
        except NotAllowed:
            return False
        return True

    async def run(self, source: Source, way: Way, tell: Tell) -> Outcome:
        """Run ``source``. Raises NotAllowed, BadEntry, InterpreterError and HostError. Canceling ends the run."""
        async with self.running(source, way, tell) as run:
            return run.outcome

    @asynccontextmanager
    async def running(
        self,
        source: Source,
        way: Way,
        tell: Tell,
        begin: Callable[[], None] = lambda: None,
        watch: Callable[[Frame], None] = lambda _: None,
    ) -> AsyncIterator[Ran]:
        """The same, with the host held for more runs of the kind. ``begin`` is called before each run, ``watch`` with its frames."""
        job = self.job(source, way)
        choice = await asyncio.to_thread(self.allowed_choice, source, way.entry)
        name = Path(source.file).name

        def partial(outcome: Outcome) -> None:
            found = counted(len(outcome.findings), "finding")
            tell(f"{name}: {counted(outcome.graphs, 'graph')}, {found} so far")

        async def watched(host: Host, job: Job, on_partial: OnPartial, filters: Filters) -> Outcome:
            begin()
            return await analyze(host, job, on_partial, filters, watch)

        tell(f"{name}: waiting for torch")
        async with self.ground.turn(self.ground.interpreter(source.file)) as host:
            await host.start()
            tell(f"{name}: running")
            outcome = await analyze_by_entries(watched, host, job, choice, partial)
            entry = next((entry for entry in choice.entries if entry.spec == outcome.entry), None)
            used = job if entry is None else replace(job, entry=entry.spec, plan=entry.plan)
            yield Ran(outcome, host, used)
