"""``compile-lens predict``: predicts graph breaks from the source, without running it."""

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
from compile_lens.cli.printer import OutcomePrinter
from compile_lens.documents.source_file import FileProblem, read_source
from compile_lens.syntax.tree import parse
from compile_lens.trace.report import CompileReport


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@output_options
def predict(files: tuple[str, ...], output_format: str, fail_on: str, quiet: bool, verbose: bool) -> int:
    """Predict the graph breaks of each FILE from its source, without running it.

    Every rule is precise on real programs (docs/predictions.md). `check` runs the file and reports what really happens.
    """
    printer = OutcomePrinter(output_format, quiet, verbose)
    for file in files:
        printer.add(_outcome(os.path.abspath(file)))  # noqa: PTH100 - resolve() would follow a link
    return printer.finish(fail_on)


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
