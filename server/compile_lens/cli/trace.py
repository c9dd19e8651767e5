"""``compile-lens trace``: prints the findings of a trace that torch wrote (``TORCH_TRACE=DIR``), on any machine."""

from __future__ import annotations

import linecache
from pathlib import Path

import click

from compile_lens.cli.options import just_my_code_option, output_options
from compile_lens.cli.printer import OutcomePrinter
from compile_lens.cli.terminal import echo
from compile_lens.pipeline.loaded_trace import here, read_recorded
from compile_lens.state.call_memory import CallMemory
from compile_lens.trace.records import TraceError, trace_files


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
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
    path: Path,
    sources: tuple[str, ...],
    just_my_code: bool,
    output_format: str,
    fail_on: str,
    quiet: bool,
    verbose: bool,
) -> int:
    """Print the findings of the torch trace at PATH: a file, or a TORCH_TRACE folder with one file per rank.

    The exit code is 0 if nothing was found, 1 if there are findings at or above --fail-on, and 2 if a trace cannot be read.
    """
    moved = []
    for pair in sources:
        recorded, found, local = pair.partition("=")
        if not found:
            raise click.BadParameter(f"'{pair}' is not RECORDED=LOCAL.", param_hint="--source")
        moved.append((recorded, local))
    outcomes, problems = [], []
    try:
        for file in trace_files(path):
            try:
                outcomes.append(read_recorded(file, tuple(moved), just_my_code))
            except TraceError as problem:  # the other ranks still have findings
                problems.append(str(problem))
    except TraceError as problem:
        raise click.ClickException(str(problem)) from None
    if not outcomes:
        raise click.ClickException("\n".join(problems))

    def read_line(file: str, line: int) -> str:
        return linecache.getline(here(file, tuple(moved)), line)

    printer = OutcomePrinter(output_format, quiet, verbose, read_line)
    for outcome in outcomes:
        CallMemory.of_user().take(outcome, f"the trace {path.name}")
        printer.add(outcome)
    for unread in problems:
        echo(f"compile-lens: {unread}", err=True)
    return max(printer.finish(fail_on), 2 if problems else 0)
