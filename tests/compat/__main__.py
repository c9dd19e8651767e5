"""``python -m tests.compat`` tries every torch × Python; options narrow that down."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
from tests.compat.differences import unexplained
from tests.compat.environments import (
    PYTHONS,
    TORCHES,
    CannotInstall,
    Interpreter,
    ask,
    find_python,
    has_builds,
    make,
    remove,
)
from tests.compat.page import CHECKS, PAGE, render
from tests.compat.results import Result, load, store

# the tests' modules import each other by their bare names
sys.path.append(str(Path(__file__).parents[1]))


@click.command()
@click.option(
    "--torch", "torches", multiple=True, metavar="VERSION", help="Try this torch only, such as 2.11 or newest."
)
@click.option("--python", "pythons", multiple=True, metavar="VERSION", help="Try this Python only, such as 3.12.")
@click.option(
    "--interpreter", "given", multiple=True, metavar="PATH", help="Try this interpreter, which has torch, instead."
)
@click.option("--check", "wanted", multiple=True, type=click.Choice(CHECKS), help="Run this check only.")
@click.option("--page", is_flag=True, help="Only write the page, from the results so far.")
def main(
    torches: tuple[str, ...], pythons: tuple[str, ...], given: tuple[str, ...], wanted: tuple[str, ...], page: bool
) -> None:
    """Try Compile Lens with each torch on each Python, and write the results to tests/compat/results.json and docs/compatibility.md.

    The exit code is 1 if something is wrong that is not listed in tests/compat/differences.py.
    """
    if not page:
        with tempfile.TemporaryDirectory(prefix="compile-lens-compat-") as folder:
            os.environ["XDG_STATE_HOME"] = f"{folder}/state"
            interpreters = (
                _given(given) if given else _made(Path(folder), torches or tuple(TORCHES), pythons or PYTHONS)
            )
            for found in interpreters:
                store([found if isinstance(found, Result) else _try(found, wanted)])
    PAGE.write_text(render(load()), encoding="utf-8")
    sys.exit(any(unexplained(result) for result in load()))


def _given(paths: tuple[str, ...]) -> Iterator[Interpreter]:
    for path in paths:
        interpreter = ask(path)
        if interpreter is None or not interpreter.torch:
            raise click.ClickException(f"{path} cannot import torch.")
        yield interpreter


def _made(folder: Path, torches: tuple[str, ...], pythons: tuple[str, ...]) -> Iterator[Interpreter | Result]:
    for version in pythons:
        python = find_python(version)
        for torch in torches:
            if not has_builds(torch, version):
                continue
            if python is None:
                yield Result(torch, version, failure="this Python was not found on the machine")
                continue
            environment = folder / f"{torch}-{version}"
            try:
                yield make(environment, python, torch)
            except CannotInstall as problem:
                yield Result(torch, version, failure=f"cannot be installed: {problem}")
            finally:
                remove(environment)


def _try(interpreter: Interpreter, wanted: tuple[str, ...]) -> Result:
    from tests.compat.checks import run_checks

    click.echo(f"torch {interpreter.torch}, Python {interpreter.python}")
    checks = []
    for check in run_checks(interpreter, wanted):
        checks.append(check)
        click.echo(f"  {check.name}: {check.tried} tried, {len(check.deviations)} otherwise")
    return Result(interpreter.torch, interpreter.python, tuple(checks))


main()
