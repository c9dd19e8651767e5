"""``compile-lens trace``: prints the findings of a trace that torch wrote (``TORCH_TRACE=DIR``), on any machine."""

from __future__ import annotations

from pathlib import Path

import click

from compile_lens.agent.runtime.regular_file import is_file
from compile_lens.cli.output_options import just_my_code_option, map_option, output_options
from compile_lens.cli.printer import OutcomePrinter
from compile_lens.cli.terminal import remark
from compile_lens.pipeline.opened_trace import OpenedTrace, TraceOptions, open_trace
from compile_lens.trace.files import TraceError

# of a saved report (formats/report_file.py)
REPORT = ".clens"


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@map_option
@click.option("--rank", "ranks", multiple=True, type=int, metavar="N", help="Show this rank only. Repeatable.")
@just_my_code_option
@output_options
def trace(
    paths: tuple[Path, ...],
    maps: tuple[tuple[str, str], ...],
    ranks: tuple[int, ...],
    just_my_code: bool,
    output_format: str,
    fail_on: str,
    quiet: bool,
    verbose: bool,
) -> int:
    """Print the findings of the torch traces at each PATH: a file, a TORCH_TRACE folder with one file per rank, or what tlparse wrote.

    Files may be compressed (.gz, .zst), and folders packed (.tar.gz). A report that was saved (.clens) is printed in the same way.
    What all ranks have in common is printed once; other formats have one run per rank.

    The exit code is 0 if nothing was found, 1 if there are findings at or above --fail-on, and 2 if a trace cannot be read.
    """
    if any(path.suffix == REPORT for path in paths):
        # imported late: a trace that was opened before opens in the time that imports take
        from compile_lens.cli.saving import open_reports, show_reports

        return show_reports(open_reports(paths), output_format, fail_on, quiet, verbose)
    options = TraceOptions(maps, (str(Path.cwd()),), just_my_code)
    opened: list[tuple[OpenedTrace, str]] = []
    problems: list[str] = []
    for path in paths:
        try:
            one = open_trace(path, options).of_ranks(ranks)
        except TraceError as problem:
            problems.append(str(problem))
            continue
        opened.append((one, path.name))
        problems += one.problems
    if not opened:
        raise click.ClickException(" ".join(problems))
    printer = OutcomePrinter(output_format, quiet, verbose)
    for one, name in opened:
        if one.is_new:
            _remember_calls(one, name)
        for outcome in one.merged() if output_format == "text" else one.outcomes:
            printer.add(outcome)
    for unread in problems:
        remark(f"{unread}")
    return max(printer.finish(fail_on), 2 if problems else 0)


def _remember_calls(opened: OpenedTrace, name: str) -> None:
    """Keep the calls of the trace, with which a file that is here can be analyzed without the program."""
    files = {call.file for outcome in opened.outcomes for call in outcome.recorded}
    if not any(map(is_file, files)):
        return
    from compile_lens.state.call_memory import CallMemory

    for outcome in opened.outcomes:
        CallMemory.of_user().take(outcome, f"the trace {name}")
