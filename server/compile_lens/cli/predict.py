"""``compile-lens predict``: the graph breaks that the source alone foretells; nothing is run."""

from __future__ import annotations

import linecache
import os
from pathlib import Path

import click
from rich.console import Console

from compile_lens.analysis.finding import RegionSummary
from compile_lens.analysis.predictions import find_predictions
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.regions import summarise_regions
from compile_lens.cli.json_output import to_json
from compile_lens.cli.options import exit_code, output_options
from compile_lens.cli.text_output import TextOutput
from compile_lens.session.outcome import PREDICTION_ENTRY, Outcome, Status
from compile_lens.session.source_file import FileProblem, read_source
from compile_lens.syntax.tree import parse
from compile_lens.trace.report import CompileReport


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@output_options
def predict(files: tuple[str, ...], output_format: str, fail_on: str, quiet: bool, verbose: bool) -> int:
    """Print the graph breaks that each FILE's source foretells, without running it.

    Only rules that proved precise on real programs are on (docs/predictions.md); `check` says what really happens.
    """
    outcomes = [_outcome(os.path.abspath(file)) for file in files]  # noqa: PTH100 - a link stays a link
    if output_format == "json":
        click.echo(to_json(outcomes))
    else:
        output = TextOutput(Console(highlight=False), linecache.getline, quiet, verbose)
        for outcome in outcomes:
            output.show(outcome)
    for outcome in outcomes:
        if outcome.status is Status.FAILED:
            click.echo(f"compile-lens: {outcome.failure}", err=True)
    return exit_code(outcomes, fail_on)


def _outcome(file: str) -> Outcome:
    failure, regions, findings = "", tuple[RegionSummary, ...](), find_predictions(file, "")
    try:
        tree = parse(read_source(Path(file)))
    except FileProblem as problem:
        failure = str(problem)
    else:
        regions = summarise_regions(CompileReport(), RegionIndex(CompileReport(), file, tree))
        findings = find_predictions(file, tree)
    return Outcome(
        file=file,
        python="",
        torch="",
        depth="dynamo",
        entry=PREDICTION_ENTRY,
        status=Status.FAILED if failure else Status.OK,
        duration_s=0.0,
        regions=regions,
        findings=findings,
        failure=failure,
    )
