"""``compile-lens trace``: prints the findings of a trace that torch wrote (``TORCH_TRACE=DIR``), on any machine."""

from __future__ import annotations

import linecache
from pathlib import Path

import click

from compile_lens.analysis.outcome import Outcome
from compile_lens.cli.options import just_my_code_option, output_options
from compile_lens.cli.printer import OutcomePrinter, local_trees
from compile_lens.cli.saving import open_reports, show_reports
from compile_lens.cli.terminal import echo
from compile_lens.pipeline.loaded_trace import here, read_recorded, with_divergence
from compile_lens.state.call_memory import CallMemory
from compile_lens.syntax.tree import SourceTree
from compile_lens.trace.files import TraceError, unpacked


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="RECORDED=LOCAL",
    help="Map a folder of the recording machine to one of this machine, to show source lines. Repeatable.",
)
@just_my_code_option
@output_options
def trace(
    paths: tuple[Path, ...],
    sources: tuple[str, ...],
    just_my_code: bool,
    output_format: str,
    fail_on: str,
    quiet: bool,
    verbose: bool,
) -> int:
    """Print the findings of the torch traces at each PATH: a file, or a TORCH_TRACE folder with one file per rank.

    Files may be compressed (.gz, .zst), and folders packed (.tar.gz). A report that was saved (.clens) is printed in the same way.

    The exit code is 0 if nothing was found, 1 if there are findings at or above --fail-on, and 2 if a trace cannot be read.
    """
    if reports := open_reports(paths):
        return show_reports(reports, output_format, fail_on, quiet, verbose)
    moved = []
    for pair in sources:
        recorded, found, folder = pair.partition("=")
        if not found:
            raise click.BadParameter(f"'{pair}' is not RECORDED=LOCAL.", param_hint="--source")
        moved.append((recorded, folder))
    outcomes: list[tuple[Outcome, str]] = []
    problems: list[str] = []
    for path in paths:
        ranks = []
        try:
            with unpacked(path) as files:
                for file in files:
                    try:
                        ranks.append(read_recorded(file.path, tuple(moved), just_my_code, file.name))
                    except TraceError as problem:  # the other ranks still have findings
                        problems.append(str(problem))
                outcomes += [(outcome, path.name) for outcome in with_divergence(ranks)]
        except TraceError as problem:
            problems.append(str(problem))
    if not outcomes:
        raise click.ClickException("\n".join(problems))

    def read_line(file: str, line: int) -> str:
        return linecache.getline(here(file, tuple(moved)), line)

    local = local_trees()

    def tree_of(file: str) -> SourceTree | None:
        return local(here(file, tuple(moved)))

    printer = OutcomePrinter(output_format, quiet, verbose, read_line, tree_of)
    for outcome, name in outcomes:
        CallMemory.of_user().take(outcome, f"the trace {name}")
        printer.add(outcome)
    for unread in problems:
        echo(f"compile-lens: {unread}", err=True)
    return max(printer.finish(fail_on), 2 if problems else 0)
