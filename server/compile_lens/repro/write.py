"""Makes a verified repro of a file: runs the file and captures its calls, writes the script, runs it and records the result."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from compile_lens.analysis.filters import Filters
from compile_lens.analysis.finding import Finding, Kind, Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.analysis.wrong_numbers import CODE as WRONG_NUMBERS
from compile_lens.documents.source_file import FileProblem, read_source
from compile_lens.entries.entry import EntryChoice, other_file
from compile_lens.pipeline.analyze import analyze
from compile_lens.pipeline.entry_choice import analyze_by_entries
from compile_lens.pipeline.loaded_trace import read_recorded
from compile_lens.repro.beside import copy_values, has_values, nothing_left, script_text, values_folder
from compile_lens.repro.capture import CapturedRegion, calls_for, read_capture
from compile_lens.repro.checked import checked
from compile_lens.repro.contract import Criterion, ExitCode, write_header
from compile_lens.repro.expectation import Expectation, expect
from compile_lens.repro.expressions import CannotWrite
from compile_lens.repro.graph import NEED_SOURCE, frames_with_graphs, torch_of, write_graph
from compile_lens.repro.graph_inputs import GraphInputs
from compile_lens.repro.own_files import OwnFiles
from compile_lens.repro.script_runs import ScriptRuns
from compile_lens.repro.selection import Selection, Subject, find_selected, find_subject
from compile_lens.repro.source import Script, write_source
from compile_lens.repro.verify import TIMEOUT_S, Verification, verify
from compile_lens.state.atomic_file import write_beside
from compile_lens.syntax.tree import parse
from compile_lens.temporary_folders import temporary_folder
from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.records import iterate, opened, parse_record
from compile_lens.trace.report import CompileReport
from compile_lens.workers.host import Host
from compile_lens.workers.job import CaptureRequest, Depth, Job
from compile_lens.workers.wire import Frame, TraceRecord

ALL = Filters({}, 10_000)
# TORCH_LOGS to read first, by criterion, then by the stage that failed
LOGS = {
    Criterion.BREAKS: "graph_breaks",
    Criterion.RECOMPILES: "recompiles,guards",
    Criterion.DIFFERS: "post_grad_graphs,output_code",
    Criterion.CRASHES: "+inductor,output_code",
    Criterion.ANY: "graph_breaks,recompiles,output_code",
}
STAGE_LOGS = {
    "aot": "+aot,aot_graphs",
    "backend": "aot_graphs",
    "inductor lowering": "+inductor,post_grad_graphs",
    "inductor codegen": "+inductor,output_code",
    "c++": "+inductor,output_code",
    "triton": "+inductor,output_code,kernel_code",
}
Progress = Callable[[str], None]
OnPartial = Callable[[Outcome], None] | None


@dataclass(frozen=True, slots=True)
class Written:
    """A repro on disk. ``data`` is its folder of values, if it has one; ``notes`` are sentences that its header repeats.

    ``job`` is the run that it is from; ``finding`` is what it reproduces, if it reproduces one.
    """

    job: Job
    file: Path
    title: str
    expected: Expectation
    script: Script
    verification: Verification | None
    notes: tuple[str, ...] = ()
    data: Path | None = None
    finding: Finding | None = None

    @property
    def reproduces(self) -> bool:
        """Whether the problem occurred when the repro ran."""
        return self.verification is not None and self.verification.reproduces

    @property
    def is_as_in_eager(self) -> bool:
        """Whether the repro, of a region or frame without a finding, behaves as in eager."""
        is_any = self.expected.criterion is Criterion.ANY
        return is_any and self.verification is not None and self.verification.compiled.code == ExitCode.GOOD

    def sentence(self) -> str:
        """The result of running it, in one sentence."""
        if self.verification is None:
            return "Not run."
        result = "Reproduces the problem" if self.reproduces else "Does not reproduce the problem"
        if self.is_as_in_eager:
            result = "Behaves as in eager"
        elif self.verification.cannot_judge:
            result = "Cannot be judged"
        return f"{result}: {self.verification.summary().splitlines()[0].partition(', ')[2]}"


@dataclass(frozen=True, slots=True)
class Request:
    """A repro of ``selection`` in the run ``job``, written to ``out``. ``criterion`` is the user's, or None for the finding's.

    ``kind`` is ``source`` or ``graph``; ``replacement_device`` is a device to use in place of others. ``entries`` are the ways to run the
    file, of which the first that compiles something is used; None runs the file as ``job`` says. ``until_it_fails``: without a selection,
    compile all the way unless the program already fails.
    """

    job: Job
    selection: Selection
    out: Path
    criterion: Criterion | None = None
    replacement_device: str = ""
    kind: str = "source"
    verify: bool = True
    timeout_s: float = TIMEOUT_S
    entries: EntryChoice | None = None
    until_it_fails: bool = False


@dataclass(frozen=True, slots=True)
class _Run:
    job: Job
    inputs: GraphInputs
    outcome: Outcome
    report: CompileReport
    captured: tuple[CapturedRegion, ...]


async def write_repro(host: Host, request: Request, progress: Progress = lambda _: None) -> Written:
    """Write the repro, run it, and record the result in its header.

    A repro that does not reproduce the problem with random inputs is written again with the run's own values in a folder beside it.
    Raises CannotWrite, in one sentence. ``request.out`` is overwritten. Canceling removes what was written.
    """
    async with nothing_left(request.out):
        run = await _run(host, request, "", progress)
        if request.kind == "graph":
            outcome = run.outcome if request.selection.finding else _as_a_graph_shows(run.outcome)
            finding = find_selected(outcome, request.selection)
            frame = request.selection.frame or _frame_of(finding, run.report)
            expected = expect(finding, run.report, request.criterion)
            return await _graph_attempt(host, request, run.report, run.inputs, frame, finding, expected, progress)
        written = await _attempt(host, request, run, progress)
        is_as_expected = (
            written.verification is None or written.reproduces or written.expected.criterion is Criterion.ANY
        )
        if not is_as_expected:
            written = await _with_values(host, request, written, progress)
    return written


async def _with_values(host: Host, request: Request, seeded: Written, progress: Progress) -> Written:
    """Try again with the values of the run, and keep that repro if it reproduces the problem."""
    progress("no reproduction with random values; retrying with those of the run")
    is_new = not has_values(request.out)
    text = await asyncio.to_thread(script_text, request.out)
    with temporary_folder() as folder, contextlib.suppress(CannotWrite):
        run = await _run(host, request, folder, progress)
        exact = await _attempt(host, request, run, progress, Path(folder))
        if exact.reproduces:
            return exact
    if is_new:
        shutil.rmtree(values_folder(request.out), ignore_errors=True)
    write_beside(request.out, text)
    return seeded


async def _run(host: Host, request: Request, folder: str, progress: Progress) -> _Run:
    """Run the job until the selected finding occurs: at its own depth, then all the way."""
    # wrong numbers show only if they are compared, and after Inductor
    compares = request.selection.finding.startswith(WRONG_NUMBERS)
    is_deep = compares or request.job.depth is Depth.INDUCTOR
    depths = [Depth.INDUCTOR] if is_deep else [request.job.depth, Depth.INDUCTOR]
    for depth in depths:
        progress(f"running {Path(request.job.file).name} ({depth.value})")
        job = replace(request.job, depth=depth, compare=compares, capture=CaptureRequest(folder or None))
        run = await _run_by_entries(host, job, request.entries)
        if run.outcome.status is Status.FAILED:
            raise CannotWrite(run.outcome.failure)
        if depth is depths[-1] or _is_deep_enough(run.outcome, request):
            break
    return run


def _is_deep_enough(outcome: Outcome, request: Request) -> bool:
    """Whether the run shows what the repro is about."""
    selection = request.selection
    if selection.region or selection.frame:
        return True
    if request.until_it_fails and not selection.finding:
        return fails(outcome)
    return find_selected(outcome, selection) is not None


def _as_a_graph_shows(outcome: Outcome) -> Outcome:
    """``outcome`` without what only the program's source reproduces."""
    return msgspec.structs.replace(
        outcome, findings=tuple(f for f in outcome.findings if f.kind.row.repro not in NEED_SOURCE)
    )


def fails(outcome: Outcome) -> bool:
    """Whether a run has an error; what it finds otherwise, such as a graph break, may not be why the user asks."""
    return any(finding.severity is Severity.ERROR for finding in outcome.findings)


async def _run_by_entries(host: Host, job: Job, entries: EntryChoice | None) -> _Run:
    """The run of the entry that an analysis would choose, with everything that it recorded."""
    runs: dict[str, _Run] = {}

    async def watched(host: Host, job: Job, on_partial: OnPartial, filters: Filters) -> Outcome:
        builder, inputs = ReportBuilder(), GraphInputs()

        def watch(frame: Frame) -> None:
            if isinstance(frame, TraceRecord):
                builder.feed(frame.data)
                record = parse_record(frame.data, 0, len(frame.data))
                if record is not None:
                    inputs.add(record)

        outcome = await analyze(host, job, on_partial, filters, watch)
        report = builder.report()
        runs[job.entry] = _Run(job, inputs, outcome, report, read_capture(report))
        return _as_unwatched(outcome)

    if entries is None:
        await watched(host, job, None, ALL)
        return runs[job.entry]
    outcome = await analyze_by_entries(watched, host, job, entries, None, ALL)
    chosen = runs[outcome.entry]
    return replace(chosen, outcome=msgspec.structs.replace(outcome, regions=chosen.outcome.regions))


def _as_unwatched(outcome: Outcome) -> Outcome:
    """``outcome`` as the choice of an entry needs it: a call with wrong arguments compiles nothing, but where calls are watched, Dynamo
    begins a frame before it fails."""
    shows_compiling = any(finding.kind.row.shows_compiling for finding in outcome.findings)
    if outcome.status is not Status.RAISED or outcome.graphs or shows_compiling:
        return outcome
    regions = tuple(msgspec.structs.replace(region, frames=()) for region in outcome.regions)
    return msgspec.structs.replace(outcome, regions=regions)


def _subject(run: _Run, request: Request) -> tuple[Subject, Expectation]:
    finding = find_selected(run.outcome, request.selection)
    if request.selection.finding and finding is None:
        known = ", ".join(dict.fromkeys(f"{f.code}@{f.place.line}" for f in run.outcome.findings)) or "none"
        raise CannotWrite(f"The run has no finding {request.selection.finding}. It has: {known}.")
    text = run.job.text
    with contextlib.suppress(FileProblem):
        text = read_source(Path(run.job.file)) if text is None else text
    tree = parse(text) if text is not None else None
    chosen = find_subject(request.selection, finding, run.captured, run.report, run.job.file, tree)
    return chosen, expect(finding, run.report, request.criterion)


async def write_recorded(host: Host, trace: Path, request: Request, progress: Progress = lambda _: None) -> Written:
    """Write a *graph* repro from a recorded trace file. Raises CannotWrite and TraceError."""
    progress(f"reading {trace.name}")
    builder, inputs = ReportBuilder(), GraphInputs()
    for record in iterate(opened(trace), unused=frozenset()):
        builder.add(record)
        if record is not None:
            inputs.add(record)
    report = builder.report()
    outcome = read_recorded(trace).outcome
    await host.start()
    async with nothing_left(request.out):
        finding = find_selected(outcome, request.selection) if request.selection.finding else None
        frame = request.selection.frame or _frame_of(finding, report)
        failed = next((c for c in report.compilations if c.compile_id == frame and c.failure is not None), None)
        finding = finding or next((f for f in outcome.findings if failed and frame in f.frames and is_error(f)), None)
        expected = expect(finding, report, request.criterion)
        return await _graph_attempt(host, request, report, inputs, frame, finding, expected, progress)


def is_error(finding: Finding) -> bool:
    """Whether a finding is a compile error."""
    return finding.kind is Kind.COMPILE_ERROR


def _frame_of(finding: Finding | None, report: CompileReport) -> str:
    known = frames_with_graphs(report)
    wanted = [frame for frame in finding.frames if frame in known] if finding is not None else list(known)
    if not wanted:
        raise CannotWrite("The run captured no graph, so there is none to reproduce.")
    if finding is None and len(wanted) > 1:
        raise CannotWrite(f"There is more than one graph. Choose one with --frame: {', '.join(wanted)}.")
    return wanted[0]


async def _graph_attempt(
    host: Host,
    request: Request,
    report: CompileReport,
    inputs: GraphInputs,
    frame: str,
    finding: Finding | None,
    expected: Expectation,
    progress: Progress,
) -> Written:
    replacement_device = request.replacement_device or ("" if has_accelerator() else "cpu")
    script = write_graph(report, inputs, frame, expected, replacement_device)
    title = finding.message.rstrip(".") if finding else f"the graph of frame {frame}: compiled code against eager"
    fields = {"kind": "graph", "from": f"frame {frame} of a run with torch {torch_of(report) or '(unknown)'}"}
    return await _finished(
        host,
        request,
        Written(request.job, request.out, title, expected, script, None, script.notes, finding=finding),
        script,
        fields,
        progress,
    )


def has_accelerator() -> bool:
    """Whether this machine seems to have an accelerator."""
    return any(Path(device).exists() for device in ("/dev/nvidiactl", "/dev/kfd", "/dev/dri/renderD128"))


async def _attempt(host: Host, request: Request, run: _Run, progress: Progress, values: Path | None = None) -> Written:
    chosen, expected = _subject(run, request)
    calls = calls_for(chosen.region, chosen.frames, expected.keeps_earlier)
    folder = values_folder(request.out)
    region, calls = checked(chosen.region, calls, own_files(run.job, request.entries))
    script = write_source(region, calls, expected, request.replacement_device, folder.name)
    if values is not None and script.saved:
        await asyncio.to_thread(copy_values, values, folder, script.saved)
    title = chosen.finding.message.rstrip(".") if chosen.finding else f"{chosen.name}: compiled code against eager"
    notes = (*script.notes, *([expected.note] if expected.note else []))
    written = Written(
        run.job,
        request.out,
        title,
        expected,
        script,
        None,
        notes,
        folder if script.saved and values else None,
        chosen.finding,
    )
    place = f"{Path(run.job.file).name}, region {chosen.name}"
    if chosen.finding is not None:
        place += f", {chosen.finding.code} at line {chosen.finding.place.line}"
    return await _finished(host, request, written, script, {"kind": "source", "from": place}, progress)


def own_files(job: Job, entries: EntryChoice | None) -> OwnFiles:
    """The files of the program, with that of the entry that the user has named."""
    named = entries.entries if entries is not None and entries.is_explicit and not entries.said_by else ()
    others = [Path(other) for entry in named if (other := other_file(entry)) is not None]
    return OwnFiles(Path(job.file), job.text, Path(job.workspace) if job.workspace else None, others)


async def _finished(
    host: Host, request: Request, written: Written, script: Script, fields: Mapping[str, str], progress: Progress
) -> Written:
    """Write the file, run it, and write it again with the result."""
    write_file(written, script.body, fields, host)
    if not request.verify:
        return written
    progress(f"running {request.out.name} in a new process")
    criterion = written.expected.criterion
    with_eager = criterion in (Criterion.RAISES, Criterion.DIFFERS, Criterion.CRASHES)
    scripts = ScriptRuns(host, request.job)
    verification = await verify(scripts, request.out, criterion, with_eager, request.timeout_s)
    written = replace(written, verification=verification)
    write_file(written, script.body, fields, host)
    return written


def write_file(written: Written, body: str, fields: Mapping[str, str], host: Host) -> None:
    """Write the repro with its header."""
    name, hello = written.file.name, host.hello
    criterion = written.expected.criterion
    verified = "not run yet" if written.verification is None else written.verification.summary()
    logs = LOGS.get(criterion) or STAGE_LOGS.get(written.expected.stage, "+dynamo")
    header = write_header(
        written.title,
        {
            "criterion": criterion.value,
            "expect": written.expected.phrase,
            **fields,
            "verified": verified,
            "torch": f"{hello.torch}, Python {hello.python}" if hello else "",
            "run": f"python {name}\nexit code 0: good, 1: the problem occurs, 125: cannot be judged",
            "bisect": f"compile-lens bisect {name}",
            "minify": f"compile-lens minify {name}",
            "logs": f'TORCH_LOGS="{logs}" python {name}',
            "note": "\n".join(written.notes),
        },
    )
    write_beside(written.file, header + body)
