"""``compile-lens doctor``: checks that everything an analysis needs works."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import asdict
from pathlib import Path

import click
from rich.text import Text

from compile_lens.cli.options import json_option
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.terminal import echo_json, remark
from compile_lens.pipeline.doctor import Check, CheckState, examine, worst
from compile_lens.shown_text import visible_name
from compile_lens.workers.caches import cache_root
from compile_lens.workers.environment_report import ask_environment
from compile_lens.workers.host import HostError
from compile_lens.workers.interpreter import InterpreterError, about_tracked, find_interpreter, tracked_interpreters

MARKS = {
    CheckState.OK: ("✓", "green"),
    CheckState.NOTE: ("–", "dim"),
    CheckState.WARNING: ("!", "yellow"),
    CheckState.PROBLEM: ("✗", "red"),
}


@click.command()
@click.option("--python", metavar="PATH", help="Interpreter to check.  [default: the nearest one that has torch]")
@json_option("a list of checks with name, state, says and remedy")
def doctor(python: str | None, as_json: bool) -> int:
    """Check the interpreter, torch, compiler, GPU, caches and environment, and say how to fix problems.

    The exit code is 0 if analyses can run, 1 if they cannot.
    """
    near = Path.cwd() / "program.py"
    for left_out in tracked_interpreters(near) if python is None else ():
        remark(f"{about_tracked(left_out)}")
    try:
        interpreter = find_interpreter(near, explicit=python)
        facts = asyncio.run(ask_environment(interpreter, os.environ))
    except (InterpreterError, HostError) as error:
        raise click.ClickException(str(error)) from None
    checks = examine(facts, cache_root(os.environ))
    if as_json:
        echo_json(json.dumps([{**asdict(check), "state": check.state.value} for check in checks], indent=2))
    else:
        _show(checks)
    return int(worst(checks) is CheckState.PROBLEM)


def _show(checks: list[Check]) -> None:
    console = SafeConsole()
    for check in checks:
        mark, style = MARKS[check.state]
        console.print(
            Text.assemble((f"{mark} ", style), (check.name, "bold"), f": {visible_name(check.says)}"), soft_wrap=True
        )
        if check.remedy:
            console.print(Text(f"    {visible_name(check.remedy)}", "yellow"), soft_wrap=True)
