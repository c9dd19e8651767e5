"""Runs a job on a host and turns its trace into findings, while the program still runs and when it has ended."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec

from compile_lens.agent.runtime.entry_plans import SynthesizedCalls, is_searched
from compile_lens.agent.runtime.entry_protocol import NO_CALL_RETURNS
from compile_lens.agent.runtime.protocol import AgentEvent, Hello
from compile_lens.analysis.compiled_functions import summarize_compiled
from compile_lens.analysis.coverage import Coverage, measure
from compile_lens.analysis.dimensions import find_dynamic
from compile_lens.analysis.filters import Filters, apply
from compile_lens.analysis.find import find
from compile_lens.analysis.finding_counts import count_findings
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.analysis.outcome_parts import NotCalled, what_failed
from compile_lens.analysis.recorded_calls import find_recorded_calls
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.regions import summarize_functions, summarize_regions
from compile_lens.analysis.run_context import RunContext, Stopped
from compile_lens.analysis.sources import Sources
from compile_lens.analysis.variations import usual_calls
from compile_lens.analysis.wrong_numbers import count_compared
from compile_lens.documents.source_file import FileProblem, check_source, source_if_readable
from compile_lens.entries.call_grammar import written_call
from compile_lens.pipeline.emulation_failure import better_of, emulation_failure
from compile_lens.pipeline.imported_files import project_files
from compile_lens.pipeline.partial_outcomes import PartialOutcomes
from compile_lens.pipeline.reach import Reach
from compile_lens.pipeline.run_facts import RunFacts
from compile_lens.shown_text import shell_argument
from compile_lens.state.cache_history import CacheHistory, Keys
from compile_lens.syntax.tree import SourceTree, parse
from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.report import CompileReport
from compile_lens.workers.access import Access, no_sandbox
from compile_lens.workers.caches import cache_root
from compile_lens.workers.command import workspace_of
from compile_lens.workers.gpu_devices import has_gpu_device
from compile_lens.workers.host import Host, HostError
from compile_lens.workers.interpreter import about_tracked, tracked_interpreters
from compile_lens.workers.job import End, EndKind, Job
from compile_lens.workers.wire import Frame, TraceRecord

log = logging.getLogger(__name__)
NO_FILTERS = Filters()
STOPPED = {
    EndKind.TIMEOUT: "timeout",
    EndKind.SIGNALLED: "signalled",
    EndKind.EXITED: "exited",
    EndKind.BUDGET: "budget",
    EndKind.LOST: "lost",
}
STATUS = {
    EndKind.TIMEOUT: Status.TIMEOUT,
    EndKind.IDLE: Status.IDLE,
    EndKind.BUDGET: Status.KILLED,
    EndKind.SIGNALLED: Status.KILLED,
    EndKind.EXITED: Status.KILLED,
    EndKind.LOST: Status.KILLED,
    EndKind.CANCELLED: Status.KILLED,
}


async def analyze(
    host: Host,
    job: Job,
    on_partial: Callable[[Outcome], None] | None = None,
    filters: Filters = NO_FILTERS,
    watch: Callable[[Frame], None] = lambda _: None,
) -> Outcome:
    """Run ``job`` and say what torch.compile did. ``on_partial`` gets what is known while the program runs; ``watch``, each frame.

    Problems of the user's are findings, or an outcome with status FAILED and a sentence in ``failure``; nothing is raised for them.
    Canceling the awaiting task ends the run. A program that fails in the emulated CUDA device is run again without it. If the sandbox
    could not be set up, nothing has run, and it is tried once more.
    """
    analysis, outcome = await _run(host, job, on_partial, filters, watch)
    if analysis.unsafe:
        # another process may have mounted or deleted a folder while it was covered
        log.warning("The sandbox could not be set up and is tried again: %s", analysis.unsafe)
        analysis, outcome = await _run(host, job, on_partial, filters, watch)
    failure = analysis.emulation_failure() if job.capture is None and job.preview is None else ""
    if not failure:
        return outcome
    _, without = await _run(host, replace(job, emulation_failed=failure), on_partial, filters, watch)
    return better_of(outcome, without)


async def _run(
    host: Host,
    job: Job,
    on_partial: Callable[[Outcome], None] | None,
    filters: Filters,
    watch: Callable[[Frame], None],
) -> tuple[_Analysis, Outcome]:
    analysis = _Analysis(host, job, on_partial, filters, time.monotonic())
    try:
        analysis.check_file()
        await host.start()
        analysis.has_started()

        def take(frame: Frame) -> None:
            watch(frame)
            analysis.on_frame(frame)

        end = await host.run(job, take)
    except (HostError, FileProblem) as problem:
        return analysis, analysis.failed(str(problem))
    finally:
        analysis.end()
    return analysis, await asyncio.to_thread(analysis.outcome, end)


class _Analysis:
    """What one run has told so far."""

    def __init__(
        self, host: Host, job: Job, on_partial: Callable[[Outcome], None] | None, filters: Filters, started: float
    ) -> None:
        self._host = host
        self._job = job
        self._filters = filters
        self._started = started
        self._waited_s = 0.0
        self._builder = ReportBuilder()
        self._facts = RunFacts(is_sandboxed=job.access is Access.SANDBOXED)
        self._trees: dict[str, SourceTree | None] = {}
        self._end: End | None = None
        self._partials = PartialOutcomes(self._snapshot, on_partial) if on_partial is not None else None

    def has_started(self) -> None:
        """The host has imported torch, and the program is next."""
        self._waited_s = time.monotonic() - self._started

    def check_file(self) -> None:
        """Raise FileProblem if there is no text to run."""
        if self._job.text is None:
            check_source(Path(self._job.file))

    def on_frame(self, frame: Frame) -> None:
        if isinstance(frame, AgentEvent):
            self._facts.take(frame)
            return
        if not isinstance(frame, TraceRecord):
            return
        if self._builder.feed(frame.data) and self._partials is not None:
            self._partials.changed()

    def _snapshot(self) -> Callable[[], Outcome]:
        report, facts = self._builder.report(goes_on=True), self._facts.copy()
        return lambda: self._make(report, facts, Status.OK, None)

    @property
    def unsafe(self) -> str:
        """Why the sandbox could not be set up, so that nothing was run; '' if it was."""
        return self._facts.unsafe

    def end(self) -> None:
        """No partial outcome comes after this."""
        if self._partials is not None:
            self._partials.end()

    def emulation_failure(self) -> str:
        """How the emulated CUDA device failed in this run, as a clause; '' where it did not."""
        return emulation_failure(self._builder.report().stand_ins, self._facts.raised, self._end)

    def outcome(self, end: End) -> Outcome:
        """What came out. Takes as long as finding it does: not for the event loop."""
        self._end = end
        if self._facts.unreadable:
            return self.failed(f"{self._job.file} cannot be read as Python: {self._facts.unreadable}.")
        if self._facts.unsafe:
            return self.failed(no_sandbox(self._facts.unsafe))
        if self._facts.unusable and not self._facts.has_failed_to_import:
            coverage = self._coverage(self._facts)
            failed = self.failed(self._why_unusable(coverage))
            return msgspec.structs.replace(
                failed, is_unusable=True, not_called=self._not_called(self._facts), coverage=coverage
            )
        stopped = None
        if end.kind in STOPPED:
            stopped = Stopped(STOPPED[end.kind], end.code, self._job.timeout_s, end.crash_stack, end.reason)
        status = STATUS.get(end.kind, Status.RAISED if self._facts.raised else Status.OK)
        made = self._make(self._builder.report(), self._facts, status, stopped, end)
        if self._facts.unusable and made.coverage is None:  # which says it of each class
            made = msgspec.structs.replace(made, notes=(*made.notes, self._why_unusable(None)))
        return made

    def _why_unusable(self, coverage: Coverage | None) -> str:
        """The sentence for an entry that cannot be used, with a call to complete unless ``coverage`` has one."""
        offered = {unit.name for unit in coverage.missing if unit.draft} if coverage is not None else set()
        first = next((one for one in self._not_called(self._facts) if one.draft and not offered), None)
        tree = self._tree_of(self._job.file)
        failed = ""
        if first is not None and tree is not None:
            text = tree.line_text(first.line).strip() if first.line else ""
            failed = what_failed(first.line, text, first.involved, first.beside, first.said)
        return _unusable(
            self._job.entry, self._facts.unusable.rstrip("."), first.draft if first is not None else "", failed
        )

    def failed(self, sentence: str) -> Outcome:
        return Outcome(
            file=self._job.file,
            python=self._host.python,
            torch=self._host.hello.torch if self._host.hello else "",
            depth=self._job.depth.value,
            entry=self._job.entry,
            status=Status.FAILED,
            duration_s=time.monotonic() - self._started,
            failure=sentence,
            notes=self._notes_on_python,
        )

    @functools.cached_property
    def _notes_on_python(self) -> tuple[str, ...]:
        """Which interpreters near the file were left out, because the repository brought them."""
        chosen, roots = self._host.python, [Path(workspace_of(self._job))]
        left_out = list(tracked_interpreters(Path(self._job.file), roots))
        return () if chosen in left_out else tuple(map(about_tracked, left_out))

    def _make(
        self, report: CompileReport, facts: RunFacts, status: Status, stopped: Stopped | None, end: End | None = None
    ) -> Outcome:
        """The final outcome of a run that has come to its ``end``, or a partial one."""
        final = end is not None
        hello = self._host.hello
        roots = hello.library_roots if hello else ()
        reach = self._reach(hello)
        sources = Sources(
            self._job.file,
            lambda file: self._tree_of(file) if reach.holds(file) else None,
            roots,
            self._host.agent_folder,
            self._filters.just_my_code,
            reach.holds,
        )
        index = RegionIndex(report, self._job.file, self._tree_of(self._job.file))
        completed = final and status is Status.OK
        hides_gpus = bool(facts.sandbox) and not self._job.sandbox.gpu
        is_emulated = bool(facts.sandbox) and is_searched(self._job.plan)
        context = RunContext(
            report,
            sources,
            index,
            raised=facts.raised,
            raised_aside=tuple(facts.raised_aside),
            stopped=stopped,
            refused=tuple(facts.refused),
            completed=completed,
            calls_made_up=isinstance(self._job.plan, SynthesizedCalls),
            sandboxed=bool(facts.sandbox),
            without_gpu=hides_gpus,
            without_network=bool(facts.sandbox) and not self._job.sandbox.network,
            leaves_gpu_free=(hides_gpus or is_emulated) and has_gpu_device(),
            without_caches=self._job.stages,
            earlier_cache_keys=self._earlier_cache_keys(report) if final and not self._job.stages else {},
        )
        found = tuple(map(reach.confine_finding, find(context)))
        filtered = apply(found, self._filters, self._job.file, self._tree_of, completed)
        outcome = Outcome(
            file=self._job.file,
            python=self._host.python,
            torch=hello.torch if hello else report.torch,
            depth=self._job.depth.value,
            entry=self._job.entry,
            status=status,
            duration_s=time.monotonic() - self._started,
            waited_s=self._waited_s,
            ran_s=end.ran_s if end is not None else 0.0,
            regions=summarize_regions(report, index),
            functions=summarize_functions(report, sources),
            dynamic=find_dynamic(report, sources),
            counts=count_findings(found),
            findings=filtered.findings,
            hidden=sum(filtered.hidden.values()),
            unfiltered=found,
            graphs=report.graphs,
            options=report.options,
            compile_time_s=report.seconds,
            compared=count_compared(report) if self._job.compare else None,
            output=end.output if end is not None else "",
            final=final,
            notes=(
                *self._notes_on_python,
                *facts.notes(end, self._job),
                *filter(None, [usual_calls(report), *self._host.notes]),
            ),
            sandbox=facts.sandbox,
            lost=end is not None and end.kind is EndKind.LOST,
            calls=tuple(facts.calls),
            not_called=self._not_called(facts),
            coverage=self._coverage(facts),
            recorded=tuple(find_recorded_calls(report, sources)) if final else (),
            discarded=facts.not_kept,
            compiled=summarize_compiled(report) if final else None,
            results=report.results if final else (),
        )
        return reach.confine(outcome)

    def _reach(self, hello: Hello | None) -> Reach:
        return Reach.of_run(self._job, hello, self._host.agent_folder)

    def _not_called(self, facts: RunFacts) -> tuple[NotCalled, ...]:
        """What was not called. A call to complete is offered only where all that it does is seen: the program may have said it."""
        tree, files = self._tree_of(self._job.file), project_files(self._job.file, self._job.workspace)
        return tuple(
            one
            if tree is not None and (not one.draft or written_call(tree, one.draft, files) is not None)
            else msgspec.structs.replace(one, draft="")
            for one in facts.not_called
        )

    def _coverage(self, facts: RunFacts) -> Coverage | None:
        """How much of the file is analyzed, where its calls are made up."""
        tree, covered = self._tree_of(self._job.file), facts.covered
        if tree is None or covered is None:
            return None
        is_cut_short = self._end is not None and self._end.kind is not EndKind.FINISHED
        stopped = {target.partition(".")[0] for target in facts.stopped_calls} | set(facts.stopped_calls)
        finished = [name for name in covered.names if name not in stopped]
        return measure(tree, finished, covered.ran, covered.lines, self._not_called(facts), is_cut_short)

    def _earlier_cache_keys(self, report: CompileReport) -> Keys:
        tree = self._tree_of(self._job.file)
        if tree is None:
            return {}
        return CacheHistory(cache_root(os.environ) / "keys").exchange(self._job, tree.text, self._host.python, report)

    def _tree_of(self, file: str) -> SourceTree | None:
        if file not in self._trees:
            is_unsaved = file == self._job.file and self._job.text is not None
            text = self._job.text if is_unsaved else source_if_readable(file)
            self._trees[file] = parse(text) if text is not None else None
        return self._trees[file]


def _unusable(entry: str, why: str, draft: str, failed: str) -> str:
    """Why an entry cannot be used, and what to do about inputs that could not be made up.

    ``draft`` is a call to complete, and ``failed`` where one like it fails. It ends the text, so that it can be copied.
    """
    complete = f"omplete this call: --entry {shell_argument(draft)}" if draft else ""
    if not why.startswith("could not make up inputs"):
        return f"The entry {entry} cannot be used: {why}.{f' C{complete}' if draft else ''}"
    parts = [f"{why[0].upper()}{why[1:]}."]
    if not why.endswith(NO_CALL_RETURNS):
        parts += [failed, f"Add `get_inputs()`, or c{complete}" if draft else "Add `get_inputs()`."]
    return " ".join(filter(None, parts))
