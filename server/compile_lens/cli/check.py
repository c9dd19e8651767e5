"""``compile-lens check``: runs files and prints what torch.compile did with them."""

from __future__ import annotations

import asyncio
import linecache
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.status import Status as Spinner
from rich.text import Text

from compile_lens.analysis.filters import Filters
from compile_lens.analysis.finding import Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.cli.comparing import Comparing, comparing_options
from compile_lens.cli.options import (
    depth_option,
    just_my_code_option,
    max_findings_option,
    output_options,
    python_option,
    sandbox_options,
    severity_option,
    supply_options,
    timeout_option,
)
from compile_lens.cli.printer import OutcomePrinter, local_trees
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.targets import find_targets
from compile_lens.cli.terminal import echo
from compile_lens.cli.text_output import display_path
from compile_lens.cli.watch import watch
from compile_lens.diff.gate import Gate
from compile_lens.documents.source_file import FileProblem, read_source
from compile_lens.entries.entry import AUTOMATIC, script
from compile_lens.entries.entry_spec import BadEntry
from compile_lens.pipeline.analyze import analyze
from compile_lens.pipeline.entry_choice import EntryChoice, analyze_by_entries, as_if_compiled, choose
from compile_lens.pipeline.job_factory import Confinement, make_job
from compile_lens.pipeline.partial_run import end_of_cell, up_to_line
from compile_lens.pipeline.workspace import workspace_root
from compile_lens.state.call_memory import CallMemory
from compile_lens.wording import counted
from compile_lens.workers.cache_limit import DEFAULT_LIMIT_BYTES, limit
from compile_lens.workers.caches import cache_root
from compile_lens.workers.host import Host
from compile_lens.workers.interpreter import InterpreterError, find_interpreter
from compile_lens.workers.job import Depth, Job, Substitution

OnOutcome = Callable[[Outcome], None]


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="PATH... [-- ARGUMENTS]")
@depth_option("How far to compile: Dynamo only (fast), through AOTAutograd, or all the way as written.")
@click.option(
    "--compare",
    is_flag=True,
    help="Compare outputs and gradients of compiled code with eager and fp64. Compiles all the way, and is slow.",
)
@python_option
@timeout_option("Time limit per file.")
@click.option(
    "--entry",
    default=AUTOMATIC,
    show_default=True,
    metavar="ENTRY",
    help="How to run each file: script, get_inputs, doctest:NAME, tests/test_x.py::test_y, scripts/run.py, synthesized, or a call such as "
    "'Block(dim=64)(float32[2, 16, 64])'. `compile-lens entries FILE` lists the entries of a file.",
)
@click.option(
    "--cell", type=click.IntRange(min=1), metavar="N", help="Run the file up to the end of its Nth cell (# %%)."
)
@click.option("--to-line", type=click.IntRange(min=1), metavar="N", help="Run the file up to line N.")
@click.option(
    "--as-if-compiled",
    "names",
    multiple=True,
    metavar="NAME",
    help="Compile this class, function or method as if the file did, with synthesized inputs. Repeatable.",
)
@click.option(
    "--watch",
    "watches",
    is_flag=True,
    help="Run files again when they or modules that they import change, until Ctrl+C.",
)
@severity_option
@max_findings_option("Show at most N findings per file.")
@just_my_code_option
@supply_options
@sandbox_options
@comparing_options
@output_options
@click.pass_context
def check(
    context: click.Context,
    files: tuple[str, ...],
    depth: str,
    compare: bool,
    python: str | None,
    timeout: float,
    entry: str,
    cell: int | None,
    to_line: int | None,
    names: tuple[str, ...],
    watches: bool,
    severities: dict[str, str],
    max_findings: int,
    just_my_code: bool,
    stand_in: str,
    missing_weights: str,
    missing_data: str,
    confinement: Confinement,
    baseline: Path | None,
    update_baseline: bool,
    since: str | None,
    output_format: str,
    fail_on: str,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run each PATH and print what torch.compile did with it: a file, a pattern, or a folder, whose files that use torch.compile are run
    if no .gitignore excludes them.

    The program runs in a sandbox: it can read your files except secrets, its writes are discarded, and it has no network.

    A file runs as a script if that compiles anything; otherwise with its example inputs, a test that imports it, or synthesized inputs.
    Arguments after -- go to the script. The exit code is 0 if nothing was found, 1 if there are findings at or above --fail-on, and 2 if
    a file could not be analyzed. With --baseline or --since, only new findings count, whatever their severity unless --fail-on says
    otherwise.
    """
    chosen = Depth(depth)
    if compare and context.get_parameter_source("depth") is click.core.ParameterSource.DEFAULT:
        chosen = Depth.INDUCTOR
    if compare and chosen is Depth.DYNAMO:
        raise click.UsageError("--compare needs compiled code: use --depth aot or inductor.")
    targets = find_targets(files)
    for name in targets.empty:
        why = "no Python file here uses torch.compile" if os.path.isdir(name) else "no file matches this pattern"  # noqa: PTH112
        echo(f"compile-lens: {name}: {why}.", err=True)
    if targets.passed_over and not quiet:
        number = counted(targets.passed_over, "file")
        echo(f"compile-lens: skipped {number} without torch.compile.", err=True)
    jobs = [
        make_job(
            file,
            os.getcwd(),  # noqa: PTH109
            workspace_root(Path(file)),
            depth=chosen,
            arguments=context.obj or (),
            timeout_s=timeout,
            compare=compare,
            stand_in=Substitution(stand_in),
            missing_weights=Substitution(missing_weights),
            missing_data=Substitution(missing_data),
            confinement=confinement,
        )
        for file in targets.files
    ]
    if names and entry != AUTOMATIC:
        raise click.UsageError("--as-if-compiled and --entry cannot be combined.")
    if (cell or to_line) and (names or entry != AUTOMATIC):
        raise click.UsageError(
            "--cell and --to-line run the file as a script and cannot be combined with --entry or --as-if-compiled."
        )
    if cell and to_line:
        raise click.UsageError("--cell and --to-line cannot be combined.")
    selection = EntrySelection(entry, names, cell or 0, to_line or 0)
    comparing = Comparing(baseline, update_baseline, since)
    cap = max_findings
    if comparing.compares and context.get_parameter_source("max_findings") is click.core.ParameterSource.DEFAULT:
        cap = sys.maxsize  # what a cap hides could not be known
    filters = Filters(severities, cap, just_my_code)
    if comparing.hides_known and context.get_parameter_source("fail_on") is click.core.ParameterSource.DEFAULT:
        fail_on = Severity.HINT.value

    def analyze_each(batch: list[Job], interpreter: str | None, on_outcome: OnOutcome) -> Coroutine[Any, Any, None]:
        return check_jobs(batch, interpreter, selection, filters, on_outcome, show_progress=not quiet)

    gate = comparing.gate(jobs, python, analyze_each) if jobs else None
    hosts: dict[str, Host] = {}

    async def run_once(jobs: list[Job], gate: Gate | None) -> int:
        printer = OutcomePrinter(output_format, quiet, verbose)

        def show(outcome: Outcome) -> None:
            judged = gate.judge(outcome) if gate is not None else outcome
            printer.add(judged if comparing.hides_known else outcome)

        await check_jobs(jobs, python, selection, filters, show, not quiet, hosts)
        return printer.finish(fail_on)

    async def again(jobs: list[Job]) -> None:
        await run_once(jobs, gate and gate.afresh(local_trees()))

    async def run() -> int:
        try:
            code = await run_once(jobs, gate)
            if gate is not None:
                comparing.remember(gate)  # only the first runs are of all files as they were given
            if watches and jobs:
                await _watch(jobs, again)
            return code
        finally:
            await close_hosts(hosts)

    code = asyncio.run(run())
    return 2 if targets.empty else code


async def _watch(jobs: list[Job], run_again: Callable[[list[Job]], Awaitable[None]]) -> None:
    """Run the jobs whose files change, until Ctrl+C."""
    echo(f"Watching {counted(len(jobs), 'file')} and their imports. Press Ctrl+C to stop.", err=True)

    async def again(changed: list[str]) -> None:
        for file in changed:
            linecache.checkcache(file)
        await run_again([job for job in jobs if job.file in changed])

    await watch([job.file for job in jobs], again)


@dataclass(frozen=True, slots=True)
class EntrySelection:
    """How the user wants files to run: by an entry, up to a line, or with names compiled as if the file did."""

    entry: str
    names: tuple[str, ...]
    cell: int = 0
    to_line: int = 0

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
        return [choose(job.file, text, workspace_root(path), chosen, recording=recording)]


async def check_jobs(
    jobs: list[Job],
    python: str | None,
    selection: EntrySelection,
    filters: Filters,
    on_outcome: OnOutcome,
    show_progress: bool,
    kept_hosts: dict[str, Host] | None = None,
) -> None:
    """Analyze each job by its entries and pass each outcome to ``on_outcome``. ``kept_hosts`` are left to the caller to close."""
    hosts: dict[str, Host] = {} if kept_hosts is None else kept_hosts
    try:
        for whole in jobs:
            job = whole
            try:
                job = selection.limit(whole)
                choices = selection.choices(job)
                interpreter = find_interpreter(Path(job.file), (), python)
            except (FileProblem, BadEntry, InterpreterError) as problem:
                on_outcome(_failed(job, python or "", str(problem)))
                continue
            for choice in choices:
                with _progress(job, show_progress) as on_partial:
                    host = hosts.setdefault(interpreter, Host(interpreter))
                    outcome = await analyze_by_entries(analyze, host, job, choice, on_partial, filters)
                CallMemory.of_user().take_run(outcome)
                on_outcome(outcome)
    finally:
        if kept_hosts is None:
            await close_hosts(hosts)


async def close_hosts(hosts: dict[str, Host]) -> None:
    """End the processes of ``hosts``, and keep the caches to their size."""
    for host in hosts.values():
        await host.close()
    limit(cache_root(os.environ), DEFAULT_LIMIT_BYTES)


def _failed(job: Job, python: str, sentence: str) -> Outcome:
    return Outcome(job.file, python, "", job.depth.value, job.entry, Status.FAILED, 0.0, failure=sentence)


@contextmanager
def _progress(job: Job, enabled: bool) -> Iterator[OnOutcome | None]:
    """Show progress in one line on stderr, if that is a terminal."""
    console = SafeConsole(stderr=True)
    if not enabled or not console.is_terminal:
        yield None
        return
    name = display_path(job.file)
    with Spinner(Text(f"{name}: starting"), console=console) as spinner:

        def on_partial(outcome: Outcome) -> None:
            found = counted(len(outcome.findings), "finding")
            spinner.update(Text(f"{name}: {counted(outcome.graphs, 'graph')}, {found}"))

        yield on_partial
