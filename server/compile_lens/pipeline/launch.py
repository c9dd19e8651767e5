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

from compile_lens.agent.runtime.protocol import SERVICE_VARIABLES
from compile_lens.agent.runtime.regular_file import read_regular_text
from compile_lens.late_pattern import pattern
from compile_lens.workers.access import Access
from compile_lens.workers.job import Job
from compile_lens.workers.secret_variables import hidden

PYTHON = frozenset({"python", "debugpy"})
# a text, which may look like a comment, or a comment; an open one goes on to the end
_COMMENT = pattern(r'"(?:[^"\\]|\\.)*(?:"|\Z)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LAST_COMMA = pattern(r'("(?:[^"\\]|\\.)*(?:"|\Z))|,(?=\s*[\]}])', re.DOTALL)
# of arguments in one text, which take long to take apart, and of each argument and value; no system starts a program with more
# (execve(2), MAX_ARG_STRLEN)
LONGEST_ARGUMENTS = 131_072
# of all of them, with the variables in them filled in: six megabytes are what Linux takes of a program's whole environment
MOST_GIVEN = 6_000_000
LONGEST_NAME = 200
_VARIABLE = pattern(r"\$\{(\w+)(?::([^}$]*))?\}")


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


def find_launch(file: Path, root: Path | None, access: Access = Access.SANDBOXED) -> Launch | None:
    """The configuration of the workspace ``root`` that starts ``file`` by its name, or None. One that cannot be read is none.

    It may pass on variables of this process: those that look like secrets, or lead to services, only with full ``access``.
    """
    if root is None:
        return None
    try:
        configurations = _read(read_regular_text(root / ".vscode" / "launch.json"))["configurations"]
        found = next(c for c in configurations if _starts(c, file, root))
        if access is Access.FULL:
            return _launch(found, file, root, dict(os.environ))
        kept = {name: value for name, value in os.environ.items() if name not in SERVICE_VARIABLES}
        return _launch(found, file, root, {**kept, **hidden(kept)})
    except (OSError, ValueError, TypeError, KeyError, AttributeError, StopIteration, RecursionError):
        return None


def _read(text: str) -> Any:
    """JSON with comments and trailing commas, as VS Code reads it. Raises ValueError.

    Not by the library json5: that takes half a minute for a megabyte, which a workspace may have put there, and 60 ms for a usual file.
    """
    try:
        return json.loads(text)
    except ValueError:
        plain = _COMMENT.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
        return json.loads(_LAST_COMMA.sub(lambda match: match[1] or "", plain))


def _starts(configuration: Mapping[str, Any], file: Path, root: Path) -> bool:
    """Whether it names ``file``: ``${file}`` is any, with arguments that are for none in particular."""
    program = str(configuration.get("program", ""))
    if configuration.get("type") not in PYTHON or configuration.get("request") != "launch" or "${file}" in program:
        return False
    path = _expanded(program, file, root, {})
    return os.path.normpath(root / path) == os.path.normpath(file)


def _launch(configuration: Mapping[str, Any], file: Path, root: Path, variables: Mapping[str, str]) -> Launch:
    room = MOST_GIVEN

    def expanded(value: Any) -> str:
        nonlocal room
        text = _expanded(str(value), file, root, variables)
        room -= len(text)
        if room < 0:
            raise ValueError("arguments")
        return text

    given = configuration.get("args", [])
    if isinstance(given, str) and len(given) > LONGEST_ARGUMENTS:
        raise ValueError("arguments")
    arguments = shlex.split(given) if isinstance(given, str) else [str(argument) for argument in given]
    environment = {str(k): expanded(v) for k, v in configuration.get("env", {}).items() if v is not None}
    folder = configuration.get("cwd")
    return Launch(
        str(configuration.get("name", ""))[:LONGEST_NAME],
        tuple(map(expanded, arguments)),
        environment,
        str(root / expanded(folder)) if folder else str(root),
    )


def _expanded(text: str, file: Path, root: Path, variables: Mapping[str, str]) -> str:
    """``text`` with VS Code's variables that name files, folders and the environment; others are left as they are.

    Raises ValueError where that makes it longer than any system takes: each variable may be a thousand times as long as its name.
    """
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

    room = LONGEST_ARGUMENTS

    def value(match: re.Match[str]) -> str:
        nonlocal room
        found = variables.get(match[2] or "", "") if match[1] == "env" else known.get(match[1], match[0])
        room -= len(found)
        if room < 0:
            raise ValueError("variables")
        return found

    return _VARIABLE.sub(value, text)
