"""``compile-lens report``: saves what traces tell as one file, to send to somebody."""

from __future__ import annotations

from pathlib import Path

import click

from compile_lens.analysis.outcome import Outcome
from compile_lens.cli.saving import Saving, open_reports, redact_option
from compile_lens.documents.source_file import source_if_named
from compile_lens.pipeline.opened_trace import TraceOptions, open_trace
from compile_lens.trace.files import TraceError


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option(
    "-o",
    "--output",
    "file",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.clens",
    help="The file to write.",
)
@redact_option
def report(paths: tuple[Path, ...], file: Path, redact: bool) -> int:
    """Save the findings of the traces or saved reports at each PATH as one file. `compile-lens trace FILE.clens` opens it.

    The report of a run is saved by `check`, `run` and `watch` with --save. A saved report that is saved again with --redact loses its
    source text, values and messages.
    """
    reports = open_reports(paths)
    outcomes: list[Outcome] = [outcome for saved in reports for outcome in saved.outcomes]
    sources = {name: text for saved in reports for name, text in saved.sources.items()}
    try:
        for path in paths if not reports else ():
            outcomes += open_trace(path, TraceOptions(folders=(str(Path.cwd()),), compiled=True)).outcomes
    except TraceError as problem:
        raise click.ClickException(str(problem)) from None
    return Saving(file, redact).save(outcomes, lambda name: sources.get(name) or source_if_named(name))
