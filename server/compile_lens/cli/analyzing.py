"""Runs the files of a command: one after the other, several at once, or on a cluster, with progress on stderr."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.status import Status as Spinner
from rich.text import Text

from compile_lens.analysis.filters import Filters
from compile_lens.analysis.outcome import Outcome
from compile_lens.cli.options import Amount
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.text_output import display_path
from compile_lens.pipeline.file_analysis import EntrySelection, FileRequest, Hosts, OnOutcome
from compile_lens.pipeline.many_files import InOrder, analyze_files
from compile_lens.pipeline.ray_cluster import Cluster, ClusterError
from compile_lens.state.call_memory import CallMemory
from compile_lens.wording import counted
from compile_lens.workers.cache_limit import DEFAULT_LIMIT_BYTES, limit
from compile_lens.workers.caches import cache_root
from compile_lens.workers.job import Job

F = TypeVar("F", bound=Callable[..., object])
RAY = "ray"


def executor_options(command: F) -> F:
    """``-j``, ``--executor`` and what a file reserves on a cluster."""
    for option in (
        click.option(
            "--gpus-per-file",
            type=Amount(min=0),
            default=0.0,
            show_default=True,
            metavar="N",
            help="GPUs that Ray reserves for each file.",
        ),
        click.option(
            "--cpus-per-file",
            type=Amount(min=0),
            default=1.0,
            show_default=True,
            metavar="N",
            help="Processors that Ray reserves for each file.",
        ),
        click.option(
            "--executor",
            metavar="ray[=ADDRESS]",
            callback=_check_executor,
            help="Analyze the files on a Ray cluster (pip install 'compile-lens[ray]'), where they have the same paths. "
            " [default: on this machine]",
        ),
        click.option(
            "-j",
            "--jobs",
            "slots",
            type=click.IntRange(min=1),
            default=1,
            show_default=True,
            metavar="N",
            help="Analyze N files at once.",
        ),
    ):
        command = option(command)
    return command


def _check_executor(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    if value is not None and value.partition("=")[0] != RAY:
        raise click.BadParameter(f"'{value}' is not ray or ray=ADDRESS.", param=option)
    return value


def cluster_of(executor: str | None, cpus: float, gpus: float) -> Cluster | None:
    """The cluster that the options name, None for this machine."""
    return Cluster(executor.partition("=")[2], cpus, gpus) if executor is not None else None


async def check_jobs(
    jobs: Sequence[Job],
    python: str | None,
    selection: EntrySelection,
    filters: Filters,
    on_outcome: OnOutcome,
    show_progress: bool,
    kept_hosts: Hosts | None = None,
    cluster: Cluster | None = None,
) -> None:
    """Analyze each job by its entries and pass each outcome to ``on_outcome``, in the order of the jobs.

    ``kept_hosts`` are left to the caller to close. Raises click.ClickException if there is no cluster.
    """
    request = FileRequest(python, selection, filters)
    hosts = kept_hosts or Hosts()
    try:
        with _progress(jobs, show_progress) as progress:

            def deliver(outcome: Outcome) -> None:
                CallMemory.of_user().take_run(outcome)
                with progress.aside():
                    on_outcome(outcome)

            in_order = InOrder(deliver)

            def done(index: int, outcomes: list[Outcome]) -> None:
                progress.done()
                in_order.add(index, outcomes)

            if cluster is not None:
                await cluster.analyze(jobs, request, done)
            else:
                await analyze_files(jobs, request, hosts, done, progress.partial)
    except ClusterError as problem:
        raise click.ClickException(str(problem)) from None
    finally:
        if kept_hosts is None:
            await close_hosts(hosts)


async def close_hosts(hosts: Hosts) -> None:
    """End the processes of ``hosts``, and keep the caches to their size."""
    await hosts.close()
    limit(cache_root(os.environ), DEFAULT_LIMIT_BYTES)


class _Silent:
    """No progress: stderr is no terminal, or nobody asked."""

    partial: OnOutcome | None = None

    def done(self) -> None:
        """A file is done."""

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is printed in the block is not mixed with the progress."""
        yield


class _OneFile(_Silent):
    """A line that tells how far the only file is."""

    def __init__(self, spinner: Spinner, file: str) -> None:
        self._spinner = spinner
        self._name = display_path(file)
        self.partial = self._tell

    def _tell(self, outcome: Outcome) -> None:
        found = counted(len(outcome.findings), "finding")
        self._spinner.update(Text(f"{self._name}: {counted(outcome.graphs, 'graph')}, {found}"))

    @contextmanager
    def aside(self) -> Iterator[None]:
        self._spinner.stop()
        yield
        self._spinner.start()


class _ManyFiles(_Silent):
    """One bar for all files."""

    def __init__(self, bar: Progress, number: int) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=number)

    def done(self) -> None:
        self._bar.advance(self._task)

    @contextmanager
    def aside(self) -> Iterator[None]:
        self._bar.stop()
        yield
        self._bar.start()


@contextmanager
def _progress(jobs: Sequence[Job], enabled: bool) -> Iterator[_Silent]:
    console = SafeConsole(stderr=True)
    if not enabled or not console.is_terminal or not jobs:
        yield _Silent()
    elif len(jobs) == 1:
        with Spinner(Text(f"{display_path(jobs[0].file)}: starting"), console=console) as spinner:
            yield _OneFile(spinner, jobs[0].file)
    else:
        columns = (TextColumn("Analyzing"), BarColumn(), MofNCompleteColumn(), TextColumn("files"))
        with Progress(*columns, console=console, transient=True) as bar:
            yield _ManyFiles(bar, len(jobs))
