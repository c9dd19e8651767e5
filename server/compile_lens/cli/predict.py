"""``compile-lens predict``: the graph breaks that the source alone foretells; nothing is run."""

from __future__ import annotations

import os
from pathlib import Path

import click

from compile_lens.analysis.finding import RegionSummary
from compile_lens.analysis.outcome import PREDICTION_ENTRY, Outcome, Status
from compile_lens.analysis.predictions import find_predictions
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.regions import summarize_regions
from compile_lens.cli.options import output_options
from compile_lens.cli.printer import Shown
from compile_lens.documents.source_file import FileProblem, read_source
from compile_lens.syntax.tree import parse
from compile_lens.trace.report import CompileReport


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@output_options
def predict(files: tuple[str, ...], output_format: str, fail_on: str, quiet: bool, verbose: bool) -> int:
    """Print the graph breaks that each FILE's source foretells, without running it.

    Only rules that proved precise on real programs are on (docs/predictions.md); `check` says what really happens.
    """
    shown = Shown(output_format, quiet, verbose)
    for file in files:
        shown.take(_outcome(os.path.abspath(file)))  # noqa: PTH100 - a link stays a link
    return shown.end(fail_on)


def _outcome(file: str) -> Outcome:
    failure, regions, findings = "", tuple[RegionSummary, ...](), find_predictions(file, "")
    try:
        tree = parse(read_source(Path(file)))
    except FileProblem as problem:
        failure = str(problem)
    else:
        regions = summarize_regions(CompileReport(), RegionIndex(CompileReport(), file, tree))
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
