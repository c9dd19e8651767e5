"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from compile_lens.analysis.filters import OFF
from compile_lens.analysis.finding import Severity
from compile_lens.session.outcome import Outcome, Status

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


def just_my_code_option(command: F) -> F:
    """``--just-my-code`` and ``--all-code``."""
    option = click.option(
        "--just-my-code/--all-code",
        default=True,
        show_default=True,
        help="Where to show what happens inside an installed library: at your line that calls it, or in the library's file.",
    )
    return option(command)


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
