"""``compile-lens diff``: what changed between two analyses, whatever they are of."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass
from pathlib import Path

import click

from compile_lens.agent.runtime.regular_file import read_regular
from compile_lens.analysis.filters import Filters
from compile_lens.analysis.finding import Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.cli.analyzing import check_jobs
from compile_lens.cli.options import NEVER, depth_option, python_option, sandbox_options, timeout_option
from compile_lens.cli.printer import local_trees
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.saving import trees_of
from compile_lens.cli.terminal import echo, echo_json
from compile_lens.diff.comparison import AnalysisComparison, Side, compare
from compile_lens.diff.identity import TreeOf
from compile_lens.diff.sides import Unreadable, side_of_outcomes, side_of_report
from compile_lens.entries.entry import AUTOMATIC
from compile_lens.formats.comparison import to_json, to_markdown, to_text
from compile_lens.formats.comparison_page import to_html
from compile_lens.formats.report_file import ReportFileError, is_report_file, read_report_file
from compile_lens.pipeline.file_analysis import EntrySelection
from compile_lens.pipeline.job_factory import Confinement, make_job
from compile_lens.pipeline.opened_trace import TraceOptions, open_trace
from compile_lens.pipeline.revisions import RevisionError, revision
from compile_lens.pipeline.workspace import workspace_root
from compile_lens.trace.files import TraceError
from compile_lens.trace.records import UNREADABLE
from compile_lens.workers.interpreter import InterpreterError, find_interpreter
from compile_lens.workers.job import Depth

# of all kinds: what a cap hides could not be compared
EVERYTHING = Filters(cap=2**31)
# bytes of a report
LARGEST_REPORT = 1 << 28


@click.command(name="diff")
@click.argument("before")
@click.argument("after")
@depth_option("How far to compile what is run.")
@python_option
@timeout_option("Time limit per run.")
@sandbox_options
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "markdown", "html"]),
    default="text",
    show_default=True,
    help="Output format. Use markdown for a pull request, html for a page of its own.",
)
@click.option(
    "--fail-on",
    type=click.Choice([*(severity.value for severity in Severity), NEVER]),
    default=NEVER,
    show_default=True,
    help="Exit with 1 if a new finding has at least this severity.",
)
def diff(
    before: str,
    after: str,
    depth: str,
    python: str | None,
    timeout: float,
    confinement: Confinement,
    output_format: str,
    fail_on: str,
) -> int:
    """Compare two analyses: which findings are new, gone or changed, and what happened to graphs and compile time.

    BEFORE and AFTER are each a Python file, a Python file in a git revision (REV:FILE), a trace (a file or a TORCH_TRACE folder), or a
    saved report (`--save FILE.clens`, or the output of --format json). Python files are run; kernels take `--depth inductor`.
    """
    runner = _Runner(Depth(depth), python, timeout, confinement)
    try:
        comparison = compare(runner.side(before), runner.side(after))
    except (Unreadable, ReportFileError, TraceError, RevisionError, InterpreterError) as problem:
        raise click.ClickException(str(problem)) from None
    if output_format == "json":
        echo_json(to_json(comparison))
    elif output_format == "markdown":
        echo(to_markdown(comparison))
    elif output_format == "html":
        echo(to_html(comparison))
    else:
        SafeConsole().print(to_text(comparison), soft_wrap=True)
    return _exit_code(comparison, fail_on)


def _exit_code(comparison: AnalysisComparison, fail_on: str) -> int:
    if fail_on == NEVER:
        return 0
    limit = Severity(fail_on).rank
    return int(any(Severity(one.severity).rank <= limit for one in comparison.new))


@dataclass(frozen=True, slots=True)
class _Runner:
    """Makes a side of what the user named."""

    depth: Depth
    python: str | None
    timeout: float
    confinement: Confinement

    def side(self, operand: str) -> Side:
        """The side that ``operand`` names. Raises Unreadable, TraceError, RevisionError and InterpreterError."""
        path = Path(operand)
        if not path.exists():
            return self._of_revision(operand)
        if path.suffix == ".py":
            return self._run(operand, path.absolute(), Path.cwd(), self.python)
        if is_report_file(path):
            saved = read_report_file(path, Path.cwd())
            return _side(operand, list(saved.outcomes), trees_of([saved]))
        if path.suffix == ".json":
            try:
                return side_of_report(operand, json.loads(read_regular(path, LARGEST_REPORT)))
            except (OSError, *UNREADABLE) as error:
                raise Unreadable(f"{operand} is not a report of compile-lens ({error}).") from None
        outcomes = list(open_trace(path, TraceOptions(folders=(str(Path.cwd()),), compiled=True)).outcomes)
        return _side(operand, outcomes, local_trees())

    def _of_revision(self, operand: str) -> Side:
        name, colon, file = operand.partition(":")
        if not colon or not name or not file:
            raise Unreadable(f"{operand}: no such file. A file in a git revision is REV:FILE.")
        near = Path(file).absolute()
        with revision(name, next(folder for folder in near.parents if folder.is_dir())) as found:
            old = found.path_of(str(near))
            if not old.is_file():
                raise Unreadable(f"{file} does not exist in {name}.")
            # the environment of the working tree is not in the revision
            interpreter = find_interpreter(near, (), self.python)
            return self._run(operand, old, found.path_of(str(Path.cwd())), interpreter)

    def _run(self, name: str, file: Path, folder: Path, python: str | None) -> Side:
        job = make_job(
            str(file),
            str(folder),
            workspace_root(file),
            depth=self.depth,
            timeout_s=self.timeout,
            confinement=self.confinement,
        )
        outcomes: list[Outcome] = []
        selection = EntrySelection(AUTOMATIC, ())
        asyncio.run(check_jobs([job], python, selection, EVERYTHING, outcomes.append, show_progress=True))
        for outcome in outcomes:
            if outcome.status is Status.FAILED:
                raise Unreadable(f"{name}: {outcome.failure}")
        return side_of_outcomes(name, outcomes, local_trees(), str(folder))


def _side(name: str, outcomes: list[Outcome], tree_of: TreeOf) -> Side:
    """The side of a run from elsewhere: its files are told from the folder that all of them are in."""
    folders = {os.path.dirname(finding.place.file) for one in outcomes for finding in one.findings}  # noqa: PTH120
    try:
        root = os.path.commonpath(folders) if folders else ""
    except ValueError:  # different drives, or relative and absolute names
        root = ""
    return side_of_outcomes(name, outcomes, tree_of, root)
