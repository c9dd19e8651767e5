"""Reads from ``.vscode/launch.json`` how a workspace starts a file: arguments, environment and folder."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from compile_lens.regular_file import read_regular_text
from compile_lens.workers.job import Job

PYTHON = frozenset({"python", "debugpy"})
_VARIABLE = re.compile(r"\$\{(\w+)(?::([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class Launch:
    """One configuration that starts a file."""

    name: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str | None = None

    def of(self, job: Job) -> Job:
        """``job``, started so. Arguments that were given stay."""
        return replace(
            job,
            argv=job.argv or self.arguments,
            env={**job.env, **self.environment},
            cwd=self.folder or job.cwd,
            launch=self.name,
        )


def find_launch(file: Path, root: Path | None) -> Launch | None:
    """The configuration of the workspace ``root`` that starts ``file`` by its name, or None. One that cannot be read is none."""
    if root is None:
        return None
    try:
        configurations = _read(read_regular_text(root / ".vscode" / "launch.json"))["configurations"]
        found = next(c for c in configurations if _starts(c, file, root))
        return _launch(found, file, root)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, StopIteration, RecursionError):
        return None


def _read(text: str) -> Any:
    """JSON with comments and trailing commas. Raises ValueError."""
    try:
        return json.loads(text)
    except ValueError:
        import json5  # a hundred times slower, and not needed by most

        return json5.loads(text)


def _starts(configuration: Mapping[str, Any], file: Path, root: Path) -> bool:
    """Whether it names ``file``: ``${file}`` is any, with arguments that are for none in particular."""
    program = str(configuration.get("program", ""))
    if configuration.get("type") not in PYTHON or configuration.get("request") != "launch" or "${file}" in program:
        return False
    path = _expanded(program, file, root)
    return os.path.normpath(root / path) == os.path.normpath(file)


def _launch(configuration: Mapping[str, Any], file: Path, root: Path) -> Launch:
    given = configuration.get("args", [])
    arguments = shlex.split(given) if isinstance(given, str) else [str(argument) for argument in given]
    environment = {
        str(k): _expanded(str(v), file, root) for k, v in configuration.get("env", {}).items() if v is not None
    }
    folder = configuration.get("cwd")
    return Launch(
        str(configuration.get("name", "")),
        tuple(_expanded(argument, file, root) for argument in arguments),
        environment,
        str(root / _expanded(str(folder), file, root)) if folder else str(root),
    )


def _expanded(text: str, file: Path, root: Path) -> str:
    """``text`` with VS Code's variables that name files, folders and the environment; others are left as they are."""
    known = {
        "workspaceFolder": str(root),
        "workspaceRoot": str(root),
        "workspaceFolderBasename": root.name,
        "file": str(file),
        "fileDirname": str(file.parent),
        "fileBasename": file.name,
        "fileBasenameNoExtension": file.stem,
        "relativeFile": os.path.relpath(file, root),
        "userHome": str(Path.home()),
        "pathSeparator": os.sep,
    }

    def value(match: re.Match[str]) -> str:
        if match[1] == "env":
            return os.environ.get(match[2] or "", "")
        return known.get(match[1], match[0])

    return _VARIABLE.sub(value, text)
