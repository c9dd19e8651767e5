"""Starts a script in place of this process as a shell would: nothing of the agent is left but the sandbox that was entered."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import NoReturn

from .protocol import OwnInterpreter, SandboxKind


def is_confined(kind: str) -> bool:
    """Whether the kernel restricts what this process starts, too."""
    return kind in (SandboxKind.OVERLAY.value, SandboxKind.LANDLOCK.value)


def become(wanted: OwnInterpreter, file: str, arguments: tuple[str, ...]) -> NoReturn:
    """Run ``file`` in a new interpreter, which has the number, the limits and the output of this process. Raises OSError."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, file, *arguments], variables_of(wanted, os.environ))


def variables_of(wanted: OwnInterpreter, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of that interpreter."""
    kept = {name: value for name, value in environment.items() if not name.startswith(wanted.without)}
    return {**kept, **wanted.variables}
