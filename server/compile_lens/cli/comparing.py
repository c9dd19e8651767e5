"""``--baseline`` and ``--since``: a check that shows, and fails by, new findings alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from compile_lens.agent.runtime.regular_file import is_file
from compile_lens.analysis.outcome import Outcome
from compile_lens.cli.printer import local_trees
from compile_lens.cli.terminal import remark
from compile_lens.cli.text_output import display_path
from compile_lens.diff.baseline import BaselineError, Known, baseline_text, read_baseline
from compile_lens.diff.budget import BadBudget, Budget, budget_of_pairs
from compile_lens.diff.gate import Gate
from compile_lens.pipeline.revisions import RevisionError, job_at, revision
from compile_lens.state.atomic_file import write_beside
from compile_lens.wording import counted
from compile_lens.workers.interpreter import InterpreterError, find_interpreter
from compile_lens.workers.job import Job

DEFAULT_BASELINE = "compile-lens.json"
F = TypeVar("F", bound=Callable[..., object])

# analyzes jobs with one interpreter (None: the nearest one of each) and passes on each outcome
Analyze = Callable[[list[Job], str | None, Callable[[Outcome], None]], Coroutine[Any, Any, None]]


def comparing_options(command: F) -> F:
    """``--baseline``, ``--update-baseline`` and ``--since``."""
    for option in (
        click.option(
            "--since",
            metavar="REV",
            help="Show only findings that the files did not have in this git revision. They are run in both.",
        ),
        click.option(
            "--update-baseline",
            is_flag=True,
            help=f"Write the findings of these files to the baseline: {DEFAULT_BASELINE}, unless --baseline names another.",
        ),
        click.option(
            "--baseline",
            type=click.Path(dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Show only findings that are not in this file. What no longer occurs is removed from it.",
        ),
    ):
        command = option(command)
    return command


def budget_option(command: F) -> F:
    """``--budget``."""
    option = click.option(
        "--budget",
        multiple=True,
        metavar="LIMIT=N",
        callback=_parse_budget,
        help="Fail if a file exceeds this limit: max-breaks, max-recompiles, max-graphs, max-skipped, max-syncs, "
        "max-compile-seconds, or own-code-only=true. Repeatable.",
    )
    return option(command)


def _parse_budget(context: click.Context, option: click.Parameter, pairs: tuple[str, ...]) -> Budget:
    try:
        return budget_of_pairs(pairs)
    except BadBudget as problem:
        raise click.BadParameter(str(problem), param=option) from None


@dataclass(frozen=True, slots=True)
class Comparing:
    """What the findings of a check are compared with, if anything."""

    baseline: Path | None = None
    updates: bool = False
    since: str | None = None

    def __post_init__(self) -> None:
        if self.since and (self.baseline or self.updates):
            raise click.UsageError("--since and a baseline cannot be combined.")

    @property
    def compares(self) -> bool:
        """Whether findings are compared with known ones, or become known."""
        return bool(self.since) or self.baseline is not None or self.updates

    @property
    def hides_known(self) -> bool:
        """Whether only new findings are shown."""
        return bool(self.since) or (self.baseline is not None and not self.updates)

    def gate(self, jobs: list[Job], python: str | None, analyze: Analyze) -> Gate | None:
        """What decides which findings are new. For ``--since`` it runs ``jobs`` as they were. Raises click.ClickException."""
        try:
            if self.since:
                known, root = _known_since(self.since, jobs, python, analyze)
                return Gate(known, local_trees(), root, self.since, lambda file: is_file(Path(root, file)))
            if not self.compares:
                return None
            file = self._file
            known = read_baseline(file) if file.exists() or not self.updates else {}
        except (BaselineError, RevisionError) as problem:
            raise click.ClickException(str(problem)) from None
        folder = file.absolute().parent
        return Gate(known, local_trees(), str(folder), display_path(str(file)), lambda one: is_file(folder / one))

    @property
    def _file(self) -> Path:
        return self.baseline or Path(DEFAULT_BASELINE)

    def remember(self, gate: Gate) -> None:
        """Write the baseline: all findings if that was asked for, otherwise without those that are gone."""
        if self.since:
            return
        known = gate.found if self.updates else gate.remaining
        if known == gate.known and self._file.exists():
            return
        before, after = _size(gate.known), _size(known)
        name = display_path(str(self._file))
        try:
            write_beside(self._file, baseline_text(known))
        except OSError as error:
            remark(f"{name} cannot be written: {error.strerror}.")
            return
        if self.updates:
            remark(f"wrote {name} ({counted(after, 'finding')}).")
        elif after < before:
            gone = counted(before - after, "finding")
            remark(f"removed {gone} from {name}, which no longer occur. Commit it.")


def _size(known: Known) -> int:
    return sum(map(len, known.values()))


def _known_since(name: str, jobs: list[Job], python: str | None, analyze: Analyze) -> tuple[Known, str]:
    """The findings that the files of ``jobs`` had in a revision, and the root of the repository."""
    with revision(name, Path(jobs[0].file)) as found:
        gate = Gate({}, local_trees(), str(found.folder), name, lambda _: True)
        earlier: dict[str, list[Job]] = {}
        for job in jobs:
            old = job_at(job, found)
            if old is None:  # its file is new, and so is all that it has
                continue
            try:
                # the environment of the working tree is not in the revision
                earlier.setdefault(find_interpreter(Path(job.file), (), python), []).append(old)
            except InterpreterError:  # told when the file itself is run
                continue

        def take(outcome: Outcome) -> None:
            gate.judge(outcome)

        for interpreter, batch in earlier.items():
            asyncio.run(analyze(batch, interpreter, take))
        return gate.found, str(found.root)
