"""``compile-lens vary``: finds inputs that make a compile region recompile, break or fail."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import click

from compile_lens.analysis.filters import Filters
from compile_lens.cli.analyzing import check_jobs
from compile_lens.cli.options import (
    depth_option,
    max_findings_option,
    output_options,
    python_option,
    sandbox_options,
    severity_option,
    timeout_option,
)
from compile_lens.cli.printer import OutcomePrinter
from compile_lens.cli.project_options import named_by_project
from compile_lens.documents.source_file import FileProblem, read_source
from compile_lens.entries.entry import AUTOMATIC
from compile_lens.pipeline.file_analysis import EntrySelection
from compile_lens.pipeline.job_factory import Confinement, make_job
from compile_lens.pipeline.vary_target import to_vary
from compile_lens.pipeline.workspace import workspace_root
from compile_lens.workers.job import Depth, VariationRequest


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.argument("names", nargs=-1, metavar="[NAME]... [-- ARGUMENTS]")
@depth_option("How far to compile. Dynamo shows recompiles and breaks; later failures need more.")
@python_option
@timeout_option("Time limit: two fifths for the program, the rest for the variations.")
@click.option(
    "--entry", default=AUTOMATIC, show_default=True, metavar="ENTRY", help="How to run the file, as in `check`."
)
@severity_option
@max_findings_option("Show at most N findings.")
@sandbox_options
@output_options
@click.pass_context
def vary(
    context: click.Context,
    file: str,
    names: tuple[str, ...],
    depth: str,
    python: str | None,
    timeout: float,
    entry: str,
    severities: dict[str, str],
    max_findings: int,
    confinement: Confinement,
    output_format: str,
    fail_on: str,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run FILE, then call its compile regions again with other inputs, and print which inputs recompile, break or fail.

    Each variation repeats the program's first call of a region with one change: another batch size, length, number, flag, dtype, grad
    mode and so on. NAME limits this to compiled functions or modules; a NAME that the file does not compile is compiled as if it did.
    """
    path = os.path.abspath(file)  # noqa: PTH100 - resolve() would follow a link
    try:
        targets = to_vary(read_source(Path(path)), names)
    except FileProblem as problem:
        raise click.ClickException(str(problem)) from None
    if targets.candidates and entry != AUTOMATIC:
        raise click.UsageError(
            f"--entry cannot be combined with {targets.candidates[0]}, which the file does not compile itself."
        )
    job = make_job(
        path,
        os.getcwd(),  # noqa: PTH109
        workspace_root(Path(path)),
        depth=Depth(depth),
        arguments=context.obj or (),
        timeout_s=timeout,
        confinement=confinement,
    )
    printer = OutcomePrinter(output_format, quiet, verbose)

    async def run() -> None:
        filters = Filters(severities, max_findings)
        if targets.regions is not None:
            regions = replace(job, vary=targets.regions)
            await check_jobs(
                [regions],
                python,
                EntrySelection(entry, (), entry_of=named_by_project("entry")),
                filters,
                printer.add,
                show_progress=not quiet,
            )
        if targets.candidates:
            others = replace(job, vary=VariationRequest())
            await check_jobs(
                [others],
                python,
                EntrySelection(AUTOMATIC, targets.candidates),
                filters,
                printer.add,
                show_progress=not quiet,
            )

    asyncio.run(run())
    return printer.finish(fail_on)
