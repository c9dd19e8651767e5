"""Reads defaults of options from ``[tool.compile-lens]`` of the nearest ``pyproject.toml``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from compile_lens.agent.runtime.regular_file import read_regular
from compile_lens.cli.terminal import echo, remark

FILE = "pyproject.toml"
TABLE = "compile-lens"
# key → the parameter of a verb that it is the default of. What chooses an executable or opens the sandbox is missing on purpose: a
# repository that someone has cloned must not decide that.
KEYS = {
    "depth": "depth",
    "timeout": "timeout",
    "entry": "entry",
    "severity": "severities",
    "max-findings": "max_findings",
    "just-my-code": "just_my_code",
    "stand-in": "stand_in",
    "missing-weights": "missing_weights",
    "missing-data": "missing_data",
    "missing-modules": "missing_modules",
    "fail-on": "fail_on",
    "format": "output_format",
    "baseline": "baseline",
    "budget": "budget",
    "map": "maps",
}
# keys that are tables, with an example
TABLES = {"severity": '{ GB0059 = "off" }', "budget": "{ max-breaks = 0 }", "map": '{ "/cluster/job" = "." }'}
VERBS = ("check", "vary", "predict", "trace")


def project_defaults(folder: Path) -> dict[str, dict[str, Any]]:
    """The defaults for each verb, as click's ``default_map``. Raises click.ClickException for what cannot be used."""
    file = next((place / FILE for place in (folder, *folder.parents) if (place / FILE).is_file()), None)
    if file is None:
        return {}
    try:
        text = read_regular(file).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return {}  # other tools say so; nothing here depends on it
    if f"[tool.{TABLE}]" not in text and f"[tool.{TABLE}." not in text:
        return {}
    options = _options(_table(file, text), file)
    return dict.fromkeys(VERBS, options)


def named_by_project(option: str) -> str:
    """The name of the file that has a default for ``option`` of the command that runs; '' where the user has passed it, or nobody did."""
    source = click.get_current_context().get_parameter_source(option)
    return FILE if source is click.core.ParameterSource.DEFAULT_MAP else ""


def _table(file: Path, text: str) -> Mapping[str, Any]:
    if sys.version_info < (3, 11):
        remark(f"{file}: [tool.{TABLE}] is ignored: reading it needs Python 3.11.")
        return {}
    import tomllib

    try:
        tools = tomllib.loads(text).get("tool")
    except RecursionError:
        raise click.ClickException(f"{file} cannot be read: it nests too deeply.") from None
    except ValueError as error:
        raise click.ClickException(f"{file} cannot be read: {error}.") from None
    table = tools.get(TABLE) if isinstance(tools, Mapping) else None
    return table if isinstance(table, Mapping) else {}


def _is_inside(file: Path, chosen: Path) -> bool:
    """Whether a baseline is the project's: ``--update-baseline`` writes it, so a repository does not choose a file elsewhere."""
    try:
        return Path(os.path.realpath(chosen)).is_relative_to(os.path.realpath(file.parent))
    except ValueError:  # no system has such a name
        return False


def _options(table: Mapping[str, Any], file: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in table.items():
        if key not in KEYS:
            import difflib

            near = difflib.get_close_matches(key, KEYS, 1)
            known = f"Did you mean {near[0]}?" if near else f"Its options are {', '.join(KEYS)}."
            raise click.ClickException(f"{file}: [tool.{TABLE}] has no option '{key}'. {known}")
        if key in TABLES:
            if not isinstance(value, Mapping):
                raise click.ClickException(f"{file}: {key} must be a table, as in {key} = {TABLES[key]}.")
            value = [f"{name}={inner if key == 'map' else str(inner).lower()}" for name, inner in value.items()]
        if key == "baseline":
            chosen = file.parent / str(value)
            if not _is_inside(file, chosen):
                echo(
                    f"compile-lens: {file}: the baseline is ignored: it is outside of this folder. "
                    f"To use it, pass --baseline {chosen}.",
                    err=True,
                )
                continue
            value = str(chosen)
        found[KEYS[key]] = value
    return found
