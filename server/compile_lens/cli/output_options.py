"""Options about what is printed, of verbs that run nothing, too: what they import is there in a moment."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import click

from compile_lens.analysis.finding import Severity
from compile_lens.analysis.outcome import Outcome, Status

F = TypeVar("F", bound=Callable[..., object])
NEVER = "never"


def output_options(command: F) -> F:
    """``--format``, ``--fail-on``, ``-q`` and ``-v``."""
    for option in (
        click.option("-v", "--verbose", is_flag=True, help="Also print torch's own text and the program's output."),
        click.option("-q", "--quiet", is_flag=True, help="Print one line per finding and nothing else."),
        click.option(
            "--fail-on",
            type=click.Choice([*(severity.value for severity in Severity), NEVER]),
            default=Severity.ERROR.value,
            show_default=True,
            help="Exit with 1 if a finding has at least this severity.",
        ),
        click.option(
            "--format",
            "output_format",
            type=click.Choice(["text", "json", "sarif", "github", "junit"]),
            default="text",
            show_default=True,
            help="Output format: for people, for programs (docs/json.md), or for CI services (docs/ci.md).",
        ),
    ):
        command = option(command)
    return command


def json_option(what: str) -> Callable[[F], F]:
    """``--format`` and its short form ``--json``, for a command that takes ``as_json``; ``what`` says what the JSON holds."""

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def with_format(*args: object, output_format: str, as_json: bool, **others: object) -> object:
            return command(*args, as_json=as_json or output_format == "json", **others)

        decorated: Callable[..., object] = with_format
        for option in (
            click.option("--json", "as_json", is_flag=True, help="Short for --format json."),
            click.option(
                "--format",
                "output_format",
                type=click.Choice(["text", "json"]),
                default="text",
                show_default=True,
                help=f"Output format. The JSON is {what}.",
            ),
        ):
            decorated = option(decorated)
        return cast(F, decorated)

    return decorate


def just_my_code_option(command: F) -> F:
    """``--just-my-code`` and ``--all-code``."""
    option = click.option(
        "--just-my-code/--all-code",
        default=True,
        show_default=True,
        help="Show findings in installed libraries at your line that calls them, or in the library's file.",
    )
    return option(command)


def exit_code(outcomes: list[Outcome], fail_on: str) -> int:
    """0 clean, 1 findings at or above ``fail_on``, 2 if a file could not be analyzed."""
    if any(outcome.status is Status.FAILED for outcome in outcomes):
        return 2
    if fail_on == NEVER:
        return 0
    limit = Severity(fail_on).rank
    return int(any(finding.severity.rank <= limit for outcome in outcomes for finding in outcome.findings))


def map_option(command: F) -> F:
    """``--map``, and ``--source``, its earlier name; the command gets pairs of folders as ``maps``."""
    option = click.option(
        "--map",
        "--source",
        "maps",
        multiple=True,
        metavar="RECORDED=LOCAL",
        callback=_parse_maps,
        help="Map a folder of the recording machine to one of this machine. Repeatable.  [default: find files by the end of their path and "
        "their content]",
    )
    return option(command)


def _parse_maps(context: click.Context, option: click.Parameter, pairs: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    found = []
    for pair in pairs:
        recorded, is_pair, folder = pair.partition("=")
        if not is_pair or not recorded:
            raise click.BadParameter(f"'{pair}' is not RECORDED=LOCAL.", param=option)
        found.append((recorded, str(Path(folder).absolute())))
    return tuple(found)
