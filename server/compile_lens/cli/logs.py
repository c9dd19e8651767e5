"""``compile-lens logs``: prints the environment variables that show more about each finding of a file."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.cli.bisect import absolute
from compile_lens.cli.options import json_option, python_option
from compile_lens.cli.terminal import echo, echo_json, remark
from compile_lens.pipeline.analyze import analyze
from compile_lens.pipeline.job_factory import make_job
from compile_lens.repro.logs import LogRun, command_of, document, known_stages, log_runs
from compile_lens.repro.write import fails
from compile_lens.workers.host import Host
from compile_lens.workers.interpreter import InterpreterError, find_interpreter
from compile_lens.workers.job import Depth, Job


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE [-- ARGUMENTS]")
@click.option("--code", metavar="CODE", help="Only findings of this code or kind, such as GB0170 or recompile.")
@click.option("--line", type=click.IntRange(min=1), metavar="N", help="Only findings at this line.")
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in Kind]),
    help="Print the logs for this kind of finding, without a run.",
)
@click.option("--stage", type=click.Choice(known_stages()), help="With --kind compile-error: the stage that failed.")
@click.option(
    "--depth",
    type=click.Choice([depth.value for depth in Depth]),
    help="How far to compile when FILE runs."
    "  [default: dynamo, and the full depth unless the program already fails or has the findings of --code and --line]",
)
@python_option
@json_option("a list of commands with the lines of the findings that they show more about")
@click.pass_context
def logs(
    context: click.Context,
    file: Path,
    code: str | None,
    line: int | None,
    kind: str | None,
    stage: str | None,
    depth: str | None,
    python: str | None,
    as_json: bool,
) -> int:
    """Print commands that show more about the findings of FILE, with TORCH_LOGS, TORCH_TRACE and other variables.

    FILE runs to find them, unless --kind is given. The exit code is 1 if there are no such findings.
    """
    path = absolute(file)
    arguments: tuple[str, ...] = context.obj or ()
    try:
        interpreter = find_interpreter(path, (), python)
    except InterpreterError as problem:
        raise click.ClickException(str(problem)) from None
    command = command_of(interpreter, file, arguments)
    if kind is not None:
        runs = log_runs(Kind(kind), stage=stage or "")
        if as_json:
            echo_json(_as_json([(f"Logs for {kind}", runs)], command))
        else:
            echo(document(f"Logs for {kind}", runs, command))
        return 0
    depths = (Depth(depth),) if depth is not None else (Depth.DYNAMO, Depth.INDUCTOR)
    jobs = [make_job(str(path), str(Path.cwd()), depth=d, arguments=arguments, timeout_s=120.0) for d in depths]

    def is_enough(outcome: Outcome) -> bool:
        if code or line:
            return any(_is_meant(finding, code, line) for finding in outcome.findings)
        return fails(outcome)

    outcome = asyncio.run(_analyze(interpreter, jobs, is_enough))
    if outcome.status is Status.FAILED:
        raise click.ClickException(outcome.failure)
    chosen = [finding for finding in outcome.findings if _is_meant(finding, code, line)]
    if not chosen:
        remark(f"{file} has no such findings.")
        return 1
    groups = [(title, log_runs(f.kind, f.code, f.stage)) for title, f in _one_of_each(chosen)]
    if as_json:
        echo_json(_as_json(groups, command))
        return 0
    for title, runs in groups:
        echo(document(title, runs, command))
    return 0


def _as_json(groups: Sequence[tuple[str, Sequence[LogRun]]], command: Sequence[str]) -> str:
    return json.dumps(
        [
            {
                "about": title,
                "title": run.title,
                "environment": dict(run.environment),
                "shows": run.shows,
                "line": run.line(command),
            }
            for title, runs in groups
            for run in runs
        ],
        indent=2,
    )


async def _analyze(interpreter: str, jobs: Sequence[Job], is_enough: Callable[[Outcome], bool]) -> Outcome:
    """The outcome of the first job that is enough, else of the last."""
    host = Host(interpreter, os.environ)
    try:
        for job in jobs:
            outcome = await analyze(host, job)
            if outcome.status is Status.FAILED or is_enough(outcome):
                break
        return outcome
    finally:
        await host.close()


def _is_meant(finding: Finding, code: str | None, line: int | None) -> bool:
    is_line = line is None or finding.place.line <= line <= finding.place.end_line
    return is_line and (code is None or code in (finding.code, finding.kind.value))


def _one_of_each(findings: Iterable[Finding]) -> Iterable[tuple[str, Finding]]:
    """One finding for each set of logs, with the lines of all that share it."""
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(log_runs(finding.kind, finding.code, finding.stage), []).append(finding)
    for group in groups.values():
        lines = ", ".join(str(line) for line in sorted({finding.place.line for finding in group}))
        codes = ", ".join(sorted({finding.code for finding in group}))
        yield f"Logs for {codes} (line {lines})", group[0]
