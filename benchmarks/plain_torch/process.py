"""The process of ``watch.py``: a program in, what torch says of it out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from compile_lens.trace.report import CompileReport

SCRIPT = Path(__file__).with_name("watch.py")
ADDRESS = re.compile(r"(?<=, )\d{9,}(?=\))")
# advice behind a guard, in torch's log alone
HINT = re.compile(r"(?: \(HINT: [^()]*\)|\. Guard failed on a parameter, consider using .*)$")

# file, line and code of a break, and how often
Breaks = Counter[tuple[str, int, str]]
# compile id, function, file and line, and the guards that failed, one per earlier entry
Recompiles = list[tuple[str, str, str, int, list[str]]]
# files and lines, outermost first
Stack = tuple[tuple[str, int], ...]


class Lost(Exception):
    """The plain run ended without an answer; its text says how."""


@dataclass(frozen=True, slots=True)
class Said:
    """What torch says of one program. ``broken`` has the code and stack of each break, ``fixed`` the value and stack of each
    size that became fixed; ``message`` and ``where`` are of what was ``raised``.
    """

    breaks: Breaks
    recompiles: Recompiles
    hit_limit: bool
    raised: str
    message: str = ""
    where: Stack = ()
    broken: tuple[tuple[str, Stack], ...] = ()
    fixed: tuple[tuple[str, Stack], ...] = ()
    side_effects: tuple[str, ...] = ()


class PlainTorch:
    """The other process. ``environment`` is added to this one's; a program that takes longer than ``deadline_s`` is ended."""

    def __init__(self, cache: Path, deadline_s: int = 600, environment: Mapping[str, str] | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="plain-torch-")
        self._process = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(deadline_s)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache), **(environment or {})},
            cwd=self._folder.name,
            text=True,
        )

    def run(self, file: Path) -> Said:
        """What torch says of ``file``. Raises Lost."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{file}\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "lost" in answer:
            raise Lost(f"the plain run of {file.name} ended with wait status {answer['lost']}")
        return Said(
            breaks=Counter((one["file"], one["line"], one["code"]) for one in answer["breaks"]),
            recompiles=[
                (one["id"], one["function"], one["file"], one["line"], [plain_guard(guard) for guard in one["guards"]])
                for one in answer["recompiles"]
            ],
            hit_limit=bool(answer["limits"]),
            raised=answer["raised"],
            message=answer["message"],
            where=_stack(answer["where"]),
            broken=tuple((one["code"], _stack(one["stack"])) for one in answer["breaks"]),
            fixed=tuple((one["value"], _stack(one["stack"])) for one in answer["fixed"]),
            side_effects=tuple(answer["side_effects"]),
        )

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
        self._folder.cleanup()


def _stack(lines: list[list[object]]) -> Stack:
    return tuple((str(file), int(str(line))) for file, line in lines)


def recompiles_of(report: CompileReport) -> Recompiles:
    """The recompiles of a report of this project, in the form of what a plain torch says."""
    return [
        (
            compilation.compile_id,
            compilation.name,
            compilation.file,
            compilation.line,
            [plain_guard(f"{failure.against}: {failure.guard}") for failure in compilation.recompile.failures],
        )
        for compilation in report.compilations
        if compilation.recompile is not None
    ]


def plain_guard(guard: str) -> str:
    """A guard without the line of source that torch sets behind it, its hint, and addresses of one process."""
    return HINT.sub("", ADDRESS.sub("", guard.partition("  # ")[0].rstrip()))
