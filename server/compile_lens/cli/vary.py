"""``compile-lens vary``: what other inputs would make a region recompile, break or fail."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import click

from compile_lens.analysis.filters import DEFAULT_CAP, Filters
from compile_lens.cli.check import Ways, check_jobs
from compile_lens.cli.options import output_options, parse_severities, sandbox_options
from compile_lens.cli.printer import Shown
from compile_lens.documents.source_file import FileProblem, read_source
from compile_lens.entries.entry import AUTOMATIC
from compile_lens.pipeline.job_factory import Confinement, make_job
from compile_lens.pipeline.vary_target import to_vary
from compile_lens.pipeline.workspace import workspace_root
from compile_lens.workers.job import Depth, VariationRequest


@click.command()
@click.argument("file", type=click.Path(), metavar="FILE")
@click.argument("names", nargs=-1, metavar="[NAME]... [-- ARGUMENTS]")
@click.option(
    "--depth",
    type=click.Choice([depth.value for depth in Depth]),
    default=Depth.DYNAMO.value,
    show_default=True,
    help="How far to compile: what recompiles or breaks shows in Dynamo; what fails later needs more.",
)
@click.option(
    "--python", metavar="PATH", help="The interpreter to run with.  [default: the nearest one that has torch]"
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="For all of it: two fifths for the program, the rest for the variations.",
)
@click.option(
    "--entry", default=AUTOMATIC, show_default=True, metavar="ENTRY", help="How the file is run, as in `check`."
)
@click.option(
    "--severity",
    "severities",
    multiple=True,
    metavar="CODE=LEVEL",
    callback=parse_severities,
    help="The severity of a code or a kind of finding, or off. May be given several times.",
)
@click.option("--max-findings", type=click.IntRange(min=1), default=DEFAULT_CAP, show_default=True, metavar="N")
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
    """Run FILE, then call its compile regions again with other inputs, and print which of them recompile, break or fail.

    Each call is the first that the program makes of a region, with another batch, length, number, flag, dtype, grad mode, … in it.
    NAME is a function or a module that is compiled; one that the file does not compile itself is compiled as if it did.
    """
    path = os.path.abspath(file)  # noqa: PTH100 - a link stays a link
    try:
        asked = to_vary(read_source(Path(path)), names)
    except FileProblem as problem:
        raise click.ClickException(str(problem)) from None
    if asked.candidates and entry != AUTOMATIC:
        raise click.UsageError(
            f"--entry does not go with {asked.candidates[0]}, which the file does not compile itself."
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
    shown = Shown(output_format, quiet, verbose)

    async def run() -> None:
        filters = Filters(severities, max_findings)
        if asked.regions is not None:
            regions = replace(job, vary=asked.regions)
            await check_jobs([regions], python, Ways(entry, ()), filters, shown.take, show_progress=not quiet)
        if asked.candidates:
            others = replace(job, vary=VariationRequest())
            await check_jobs(
                [others], python, Ways(AUTOMATIC, asked.candidates), filters, shown.take, show_progress=not quiet
            )

    asyncio.run(run())
    return shown.end(fail_on)
