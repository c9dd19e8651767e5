"""``compile-lens bisect`` and ``compile-lens rebisect``: find the part of the compiler that is at fault."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click
from rich.markdown import Markdown
from rich.status import Status as Spinner
from rich.text import Text

from compile_lens.cli.options import json_option, python_option, timeout_option
from compile_lens.cli.printer import local_trees
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.terminal import echo, echo_json
from compile_lens.documents.source_lines import read_line
from compile_lens.formats.json_document import finding_json
from compile_lens.pipeline.installed_knowledge import knowledge_of
from compile_lens.repro.bisect import BisectOptions, Progress
from compile_lens.repro.bisect import bisect as run_bisection
from compile_lens.repro.bisect_document import document
from compile_lens.repro.history import recall, remember
from compile_lens.repro.verdict import Bisection, BisectionStatus, Step, differences
from compile_lens.repro.verdict_finding import verdict_findings
from compile_lens.workers.host import Host, HostError
from compile_lens.workers.interpreter import InterpreterError, find_interpreter

F = TypeVar("F", bound=Callable[..., object])
WIDEST = 140
EXIT = {
    BisectionStatus.FOUND: 1,
    BisectionStatus.NOT_REPRODUCED: 0,
    BisectionStatus.UNFIT: 2,
    BisectionStatus.STOPPED: 2,
}


def search_options(command: F) -> F:
    """The options that both verbs share."""
    for option in (
        json_option("documented in docs/bisect.md"),
        click.option("-q", "--quiet", is_flag=True, help="Show no progress."),
        timeout_option("Time limit of the bisection.", 3600.0),
        timeout_option("Time limit of one run of the repro.", name="--step-timeout"),
        python_option,
    ):
        command = option(command)
    return command


@click.command()
@click.argument("repro", type=click.Path(path_type=Path), metavar="REPRO [-- ARGUMENTS]")
@click.option("--no-ablation", is_flag=True, help="Stop where torch's own search stops; do not try options one by one.")
@click.option(
    "--at-once",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run the repro N times in parallel; use 1 if it needs exclusive access, such as a port or a file.  [default: as many as the "
    "machine has room for]",
)
@search_options
@click.pass_context
def bisect(
    context: click.Context,
    repro: Path,
    no_ablation: bool,
    at_once: int | None,
    python: str | None,
    step_timeout: float,
    timeout: float,
    quiet: bool,
    as_json: bool,
) -> int:
    """Find the part of the compiler that makes REPRO fail, down to one pass, decomposition or lowering.

    REPRO is a script such as `compile-lens repro` writes: it exits with 0 if the problem does not occur, 125 if it cannot judge, and
    anything else if it does. The search is torch's own (CompilerBisector), with private caches. The exit code is 1 if a part was found, 0
    if the problem does not occur, and 2 if there is no verdict.
    """
    options = BisectOptions(step_timeout, timeout, not no_ablation, context.obj or (), at_once)
    found = _search(repro, python, options, quiet)
    remember(found)
    _show(found, as_json, ())
    return EXIT[found.status]


@click.command()
@click.argument("repro", type=click.Path(path_type=Path), metavar="REPRO [-- ARGUMENTS]")
@search_options
@click.pass_context
def rebisect(
    context: click.Context,
    repro: Path,
    python: str | None,
    step_timeout: float,
    timeout: float,
    quiet: bool,
    as_json: bool,
) -> int:
    """Bisect REPRO again after a change of torch, the code or an option, and print what changed since the last bisection.

    The exit codes are those of `bisect`.
    """
    file = absolute(repro)
    before = recall(file)
    if before is None:
        raise click.ClickException(f"{repro} has no earlier bisection. Run `compile-lens bisect {repro}` first.")
    after = _search(repro, python, BisectOptions(step_timeout, timeout, True, context.obj or ()), quiet)
    remember(after)
    changes = tuple(differences(before, after)) or ("Nothing changed.",)
    _show(after, as_json, changes)
    return EXIT[after.status]


def absolute(file: Path) -> Path:
    """The absolute path of a file, with links kept. Raises ClickException if there is no such file."""
    path = Path(os.path.abspath(file))  # noqa: PTH100 - resolve() would follow a link
    if not path.is_file():
        raise click.ClickException(f"{file}: {'is a directory' if path.is_dir() else 'no such file'}.")
    return path


def _search(repro: Path, python: str | None, options: BisectOptions, quiet: bool) -> Bisection:
    file = absolute(repro)
    try:
        interpreter = find_interpreter(file, (), python)
        with progress(quiet, f"{repro.name}: starting torch") as tell:
            return asyncio.run(_run(interpreter, file, options, tell))
    except (HostError, InterpreterError) as problem:
        raise click.ClickException(str(problem)) from None


async def _run(interpreter: str, file: Path, options: BisectOptions, tell: Progress | None) -> Bisection:
    host = Host(interpreter)
    try:
        return await run_bisection(host, file, options, tell)
    finally:
        await host.close()


@contextmanager
def progress(quiet: bool, first: str) -> Iterator[Progress | None]:
    """Print finished steps and the current one to stderr, if that is a terminal."""
    console = SafeConsole(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    with Spinner(Text(first), console=console) as spinner:

        def report(step: Step | None, line: str) -> None:
            if step is None:
                spinner.update(Text(line))
            else:
                verdict = ("good", "green") if step.good else ("bad ", "red")
                console.print(Text.assemble(verdict, f"  {step.seconds:6.1f} s  {line}"))

        yield report


def _show(found: Bisection, as_json: bool, changes: tuple[str, ...]) -> None:
    knowledge = knowledge_of(found.python)
    if as_json:
        findings = verdict_findings(found, read_line, knowledge)
        tree_of = local_trees()
        document_of = {
            **json.loads(found.to_json()),
            "findings": [finding_json(finding, tree_of) for finding in findings],
        }
        echo_json(json.dumps(document_of, indent=2))
        return
    console = SafeConsole()
    text = document(found, knowledge, changes=changes)
    if console.is_terminal:
        console.print(Markdown(text), width=min(console.width, WIDEST))
    else:
        echo(text)
