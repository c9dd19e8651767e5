"""Programs for the stub analysis (see ``stub_server.py``)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

# settings with which the user is not asked whether files may run
ALWAYS = {"run": {"enabled": "always"}}
HEAD = "import torch\n\n\n@torch.compile\ndef f(x):\n"
ONE = HEAD + "    print(x)  # finding GB0001\n    return x\n"
# the line and the range of the finding in ONE, from 0
LINE = 5
RANGE = {"start": {"line": 5, "character": 4}, "end": {"line": 5, "character": 12}}
HANGS = ONE + "pass  # hang\n"


def write(root: Path, text: str, name: str = "train.py") -> Path:
    file = root / name
    file.write_bytes(text.encode())
    return file


def log(root: Path) -> list[str]:
    """What the stub server said so far."""
    return (root.parent / "server.log").read_text(errors="replace").splitlines()


def runs(root: Path) -> list[str]:
    """The runs of the stub server so far."""
    return [line for line in log(root) if line.startswith("run ")]


async def ran(root: Path, times: int) -> None:
    """Wait until the stub server has run files ``times`` times."""
    await until(lambda: len(runs(root)) >= times)


async def logged(root: Path, line: str) -> None:
    """Wait until the stub server has said ``line``."""
    await until(lambda: line in log(root))


async def until(condition: Callable[[], bool], told: Callable[[], object] = lambda: "") -> None:
    """Wait for something outside of this process; ``told`` is what is known about it where it does not come."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"it never came to that\n{told()}"
        await asyncio.sleep(0.01)
