"""The process of ``plain_torch.py``, and both sides of the comparison in one form."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from compile_lens.analysis.finding import Kind
from warm_host import Analysed

SCRIPT = Path(__file__).with_name("plain_torch.py")
ADDRESS = re.compile(r"(?<=, )\d{9,}(?=\))")

# file, line and code of a break, and how often
Breaks = Counter[tuple[str, int, str]]
# compile id, function, file and line, and the guards that failed, one per earlier entry
Recompiles = list[tuple[str, str, str, int, list[str]]]


@dataclass(frozen=True, slots=True)
class Said:
    """What torch says of one program."""

    breaks: Breaks
    recompiles: Recompiles
    hit_limit: bool
    raised: str


class PlainTorch:
    """The other process: a path in, what torch says out."""

    def __init__(self, cache: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache)},
            text=True,
        )

    def run(self, file: Path) -> Said:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{file}\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "lost" not in answer, f"the plain run of {file.name} ended with wait status {answer['lost']}"
        return Said(
            breaks=Counter((one["file"], one["line"], one["code"]) for one in answer["breaks"]),
            recompiles=[
                (one["id"], one["function"], one["file"], one["line"], [plain_guard(guard) for guard in one["guards"]])
                for one in answer["recompiles"]
            ],
            hit_limit=bool(answer["limits"]),
            raised=answer["raised"],
        )

    def close(self) -> None:
        self._process.communicate()


def plain_torch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlainTorch]:
    plain = PlainTorch(tmp_path_factory.mktemp("inductor"))
    yield plain
    plain.close()


def breaks_of(ours: Analysed) -> Breaks:
    """The findings that are breaks, as shown to the user."""
    counted: Breaks = Counter()
    for finding in ours.outcome.findings:
        if finding.kind is Kind.GRAPH_BREAK:
            counted[finding.place.file, finding.place.line, finding.code] += finding.count
    return counted


def recompiles_of(ours: Analysed) -> Recompiles:
    """The recompiles of the report that the findings are made of."""
    return [
        (
            compilation.compile_id,
            compilation.name,
            compilation.file,
            compilation.line,
            [plain_guard(f"{failure.against}: {failure.guard}") for failure in compilation.recompile.failures],
        )
        for compilation in ours.report.compilations
        if compilation.recompile is not None
    ]


def plain_guard(guard: str) -> str:
    """A guard without the line of source that torch sets behind it, and without addresses of one process."""
    return ADDRESS.sub("", guard.partition("  # ")[0].rstrip())
