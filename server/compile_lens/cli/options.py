"""Options that several verbs share."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import TypeVar, cast

import click

from compile_lens.analysis.filters import OFF
from compile_lens.analysis.finding import Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.pipeline.job_factory import Confinement
from compile_lens.workers.access import Access, ResourceLimits, SandboxOptions
from compile_lens.workers.job import Substitution

F = TypeVar("F", bound=Callable[..., object])
NEVER = "never"


def output_options(command: F) -> F:
    """``--format``, ``--fail-on``, ``-q`` and ``-v``."""
    for option in (
        click.option(
            "-v", "--verbose", is_flag=True, help="Also show torch's own details and what the program printed."
        ),
        click.option("-q", "--quiet", is_flag=True, help="One line per finding, and nothing else."),
        click.option(
            "--fail-on",
            type=click.Choice([*(severity.value for severity in Severity), NEVER]),
            default=Severity.ERROR.value,
            show_default=True,
            help="The least severity of a finding that makes the exit code 1.",
        ),
        click.option(
            "--format",
            "output_format",
            type=click.Choice(["text", "json"]),
            default="text",
            show_default=True,
            help="json is a documented contract: docs/json.md.",
        ),
    ):
        command = option(command)
    return command


def supply_options(command: F) -> F:
    """``--stand-in`` and ``--missing-weights``: what a run makes up of what is not here."""
    for name, text in (
        (
            "--missing-weights",
            "For programs whose pretrained weights are not here: let random ones stand in, or run them as they are "
            "(docs/missing-weights.md). Off with --no-sandbox.",
        ),
        (
            "--stand-in",
            "For programs that ask for a GPU, or for other processes, that are not there: let the CPU stand in, or run them as they are "
            "(docs/gpu.md).",
        ),
    ):
        choice = click.Choice([supply.value for supply in Substitution])
        command = click.option(name, type=choice, default=Substitution.AUTO.value, show_default=True, help=text)(
            command
        )
    return command


def just_my_code_option(command: F) -> F:
    """``--just-my-code`` and ``--all-code``."""
    option = click.option(
        "--just-my-code/--all-code",
        default=True,
        show_default=True,
        help="Where to show what happens inside an installed library: at your line that calls it, or in the library's file.",
    )
    return option(command)


def sandbox_options(command: F) -> F:
    """What the program may do: ``--no-sandbox`` and its finer relatives, given to the command as ``confinement``.

    A terminal's user waits for the run, and has asked for it: its priority is not lowered, and it may use GPUs.
    """

    @functools.wraps(command)
    def with_confinement(
        *args: object,
        no_sandbox: bool,
        allow_write: tuple[str, ...],
        allow_network: bool,
        gpu: bool,
        memory: float,
        idle: float,
        **others: object,
    ) -> object:
        sandbox = SandboxOptions(tuple(map(os.path.abspath, allow_write)), allow_network, gpu, niceness=0)
        access = Access.FULL if no_sandbox else Access.SANDBOXED
        confinement = Confinement(access, sandbox, ResourceLimits(memory_gib=memory, idle_s=idle))
        return command(*args, confinement=confinement, **others)

    confined: Callable[..., object] = with_confinement
    for option in (
        click.option(
            "--idle",
            type=click.FloatRange(min=0),
            default=0.0,
            show_default="never",
            metavar="SECONDS",
            help="End a run when nothing has been compiled for so long.",
        ),
        click.option(
            "--memory",
            type=click.FloatRange(min=0),
            default=0.0,
            show_default="half of the machine's",
            metavar="GIB",
            help="What the program may use of it, in the sandbox.",
        ),
        click.option("--gpu/--no-gpu", default=True, show_default=True, help="Whether it may use GPUs."),
        click.option("--allow-network", is_flag=True, help="Let it use the network."),
        click.option(
            "--allow-write",
            multiple=True,
            type=click.Path(),
            metavar="PATH",
            help="Let it change a file or folder for good. May be given several times.",
        ),
        click.option(
            "--no-sandbox",
            is_flag=True,
            help="Run the program as your shell would: what it writes stays, and it may do all that you may.",
        ),
    ):
        confined = option(confined)
    return cast(F, confined)


def parse_severities(context: click.Context, option: click.Parameter, pairs: tuple[str, ...]) -> dict[str, str]:
    """``CODE=LEVEL`` pairs as a mapping. Raises click.BadParameter."""
    levels = [*(severity.value for severity in Severity), OFF]
    found = {}
    for pair in pairs:
        code, _, level = pair.partition("=")
        if not code or level not in levels:
            raise click.BadParameter(f"'{pair}' is not CODE=LEVEL with a level of {', '.join(levels)}.", param=option)
        found[code] = level
    return found


def exit_code(outcomes: list[Outcome], fail_on: str) -> int:
    """0 clean, 1 findings at or above ``fail_on``, 2 if a file could not be analysed."""
    if any(outcome.status is Status.FAILED for outcome in outcomes):
        return 2
    if fail_on == NEVER:
        return 0
    limit = Severity(fail_on).rank
    return int(any(finding.severity.rank <= limit for outcome in outcomes for finding in outcome.findings))
