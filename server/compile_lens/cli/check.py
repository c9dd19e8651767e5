"""``compile-lens check``: runs files and prints what torch.compile did with them."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import click

from compile_lens.analysis.filters import Filters
from compile_lens.analysis.finding import Severity
from compile_lens.analysis.outcome import Outcome
from compile_lens.cli.analyzing import check_jobs, close_hosts, cluster_of, executor_options
from compile_lens.cli.comparing import Comparing, budget_option, comparing_options
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
from compile_lens.cli.project_options import named_by_project
from compile_lens.cli.saving import Saving, saving_options
from compile_lens.cli.targets import find_targets
from compile_lens.cli.terminal import as_given, echo, remark
from compile_lens.cli.text_output import display_path
from compile_lens.diff.budget import Budget
from compile_lens.diff.gate import Gate
from compile_lens.documents.gitignore import LONGEST_RULE, MOST_RULES
from compile_lens.entries.entry import AUTOMATIC
from compile_lens.pipeline.file_analysis import EntrySelection, Hosts, OnOutcome
from compile_lens.pipeline.imported_files import Stamp, files_of, stamp
from compile_lens.pipeline.job_factory import Confinement, make_job
from compile_lens.pipeline.workspace import workspace_root
from compile_lens.wording import counted
from compile_lens.workers.job import Depth, Job, Substitution

# seconds between two looks at files that are watched
POLL_S = 0.3
# an editor that saves several files does so within this
SETTLE_S = 0.1


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
@executor_options
@budget_option
@severity_option
@max_findings_option("Show at most N findings per file.")
@just_my_code_option
@supply_options
@sandbox_options
@comparing_options
@saving_options
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
    slots: int,
    executor: str | None,
    cpus_per_file: float,
    gpus_per_file: float,
    budget: Budget,
    severities: dict[str, str],
    max_findings: int,
    just_my_code: bool,
    stand_in: str,
    missing_weights: str,
    missing_data: str,
    missing_modules: str,
    confinement: Confinement,
    baseline: Path | None,
    update_baseline: bool,
    since: str | None,
    saving: Saving,
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
        remark(f"{name}: {why}.")
    for name in targets.incomplete:
        limits = f"the first {MOST_RULES:,} rules of at most {LONGEST_RULE:,} characters"
        remark(f"{name}: only {limits} were read, so ignored files may be analyzed.")
    if targets.passed_over and not quiet:
        number = counted(targets.passed_over, "file")
        remark(f"skipped {number} without torch.compile.")
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
            missing_modules=Substitution(missing_modules),
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
    selection = EntrySelection(entry, names, cell or 0, to_line or 0, named_by_project("entry"))
    if since and context.get_parameter_source("baseline") is click.core.ParameterSource.DEFAULT_MAP:
        baseline = None  # the command line wins over the project
    comparing = Comparing(baseline, update_baseline, since)
    cap = max_findings
    if comparing.compares and context.get_parameter_source("max_findings") is click.core.ParameterSource.DEFAULT:
        cap = sys.maxsize  # what a cap hides could not be known
    filters = Filters(severities, cap, just_my_code)
    if comparing.hides_known and context.get_parameter_source("fail_on") is click.core.ParameterSource.DEFAULT:
        fail_on = Severity.HINT.value

    cluster = cluster_of(executor, cpus_per_file, gpus_per_file)
    hosts = Hosts(slots)

    async def analyze_each(batch: list[Job], interpreter: str | None, on_outcome: OnOutcome) -> None:
        earlier = Hosts(slots)  # of an event loop of its own
        try:
            await check_jobs(batch, interpreter, selection, filters, on_outcome, not quiet, earlier, cluster)
        finally:
            await close_hosts(earlier)

    gate = comparing.gate(jobs, python, analyze_each) if jobs else None

    async def run_once(jobs: list[Job], gate: Gate | None) -> int:
        printer = OutcomePrinter(output_format, quiet, verbose)
        exceeded: list[str] = []

        def show(outcome: Outcome) -> None:
            exceeded.extend(f"{outcome.file}: {said}" for said in budget.exceeded(outcome, display_path))
            judged = gate.judge(outcome) if gate is not None else outcome
            printer.add(judged if comparing.hides_known else outcome)

        await check_jobs(jobs, python, selection, filters, show, not quiet, hosts, cluster)
        code = max(printer.finish(fail_on), saving.save(printer.outcomes))
        for said in exceeded:
            echo(f"compile-lens: {as_given(said)}", err=True)
        return max(code, int(bool(exceeded)))

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
        await run_again([job for job in jobs if job.file in changed])

    await watch_files([job.file for job in jobs], again)


async def watch_files(files: Sequence[str], on_change: Callable[[list[str]], Awaitable[None]]) -> None:
    """Call ``on_change`` with the files whose text or imports changed, until canceled."""
    known = _stamps(files)
    while True:
        await asyncio.sleep(POLL_S)
        if _stamps(files) == known:
            continue
        await asyncio.sleep(SETTLE_S)
        now = _stamps(files)
        changed = [file for file in files if now[file] != known[file]]
        known = now
        if changed:
            await on_change(changed)


def _stamps(files: Sequence[str]) -> dict[str, dict[str, Stamp | None]]:
    """For each file, the state of all that it is made of."""
    return {file: {str(part): stamp(part) for part in files_of(Path(file))} for file in files}
