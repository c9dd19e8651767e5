"""``--save run.clens`` and its way back: reports that are files of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from typing import TypeVar, cast

import click

from compile_lens.analysis.outcome import Outcome
from compile_lens.cli.printer import OutcomePrinter, local_trees
from compile_lens.cli.terminal import remark
from compile_lens.documents.source_file import source_if_named
from compile_lens.documents.source_lines import read_line as read_local_line
from compile_lens.formats.report_file import (
    ReportFileError,
    SavedReport,
    is_report_file,
    read_report_file,
    report_bytes,
)
from compile_lens.pipeline.opened_trace import OpenedTrace
from compile_lens.state.atomic_file import write_named
from compile_lens.syntax.tree import SourceTree, parse

F = TypeVar("F", bound=Callable[..., object])
ReadSource = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Saving:
    """Where the report is to be saved, if anywhere."""

    file: Path | None
    redact: bool

    def save(self, outcomes: Sequence[Outcome], read_source: ReadSource = source_if_named) -> int:
        """Write the report file. Returns an exit code: 2 if it cannot be written."""
        if self.file is None:
            return 0
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            write_named(self.file, report_bytes(outcomes, read_source, str(Path.cwd()), self.redact))
        except OSError as error:
            remark(f"{self.file} cannot be written: {error.strerror}.")
            return 2
        return 0


def saving_options(command: F) -> F:
    """``--save`` and ``--redact``; the command gets them as ``saving``."""

    @wraps(command)
    def with_saving(*args: object, save: Path | None, redact: bool, **others: object) -> object:
        if redact and save is None:
            raise click.UsageError("--redact applies to the saved report: add --save FILE.")
        return command(*args, saving=Saving(save, redact), **others)

    decorated: Callable[..., object] = with_saving
    decorated = redact_option(decorated)
    decorated = click.option(
        "--save",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE.clens",
        help="Save the report, with the source of the files that have findings. `compile-lens trace FILE.clens` opens it.",
    )(decorated)
    return cast(F, decorated)


def redact_option(command: F) -> F:
    """``--redact``."""
    return click.option(
        "--redact",
        is_flag=True,
        help="Leave source text, values and messages of the program out of the saved report.",
    )(command)


def open_reports(paths: Sequence[Path]) -> list[SavedReport]:
    """The report files at ``paths``; none if they are traces. Raises click.ClickException."""
    named = [path for path in paths if is_report_file(path)]
    if named and len(named) < len(paths):
        raise click.UsageError("Saved reports and traces cannot be opened together.")
    try:
        return [read_report_file(path, Path.cwd()) for path in named]
    except ReportFileError as problem:
        raise click.ClickException(str(problem)) from None


def show_reports(reports: list[SavedReport], output_format: str, fail_on: str, quiet: bool, verbose: bool) -> int:
    """Print ``reports`` as the run itself was printed. Returns the exit code."""
    printer = OutcomePrinter(output_format, quiet, verbose, _lines_of(reports), trees_of(reports))
    for saved in reports:
        ranks = OpenedTrace(saved.name, saved.outcomes)
        for outcome in ranks.merged() if output_format == "text" else saved.outcomes:
            printer.add(outcome)
    return printer.finish(fail_on)


def trees_of(reports: Sequence[SavedReport]) -> Callable[[str], SourceTree | None]:
    """What parses the source in ``reports``; for other files, that of this machine."""
    local = local_trees()

    @cache
    def tree_of(file: str) -> SourceTree | None:
        text = next((saved.sources[file] for saved in reports if file in saved.sources), None)
        return local(file) if text is None else parse(text)

    return tree_of


def _lines_of(reports: Sequence[SavedReport]) -> Callable[[str, int], str]:
    lines: dict[str, list[str]] = {}
    for saved in reports:
        # a redacted report was made without the text, and what is here may be another
        lines |= {file: text.splitlines() for file, text in saved.sources.items()}

    def read_line(file: str, line: int) -> str:
        if file not in lines:
            return read_local_line(file, line)
        return lines[file][line - 1] if 0 < line <= len(lines[file]) else ""

    return read_line
