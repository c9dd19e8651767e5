"""What the product finds is what torch says: every fixture and example against a plain run of torch in another process.

The other side, ``plain_torch.py``, hooks Dynamo directly and never sees a trace.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compile_lens.analysis.finding import Kind
from compile_lens.session.outcome import Status
from warm_host import Analysed, WarmHost

ADDRESS = re.compile(r"(?<=, )\d{9,}(?=\))")
HERE = Path(__file__).parent
PROGRAMS = [*sorted((HERE / "fixtures").glob("[!_]*.py")), *sorted((HERE.parent / "examples").glob("*.py"))]


class PlainTorch:
    """The other process: a path in, what torch says out."""

    def __init__(self, cache: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "plain_torch.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache)},
            text=True,
        )

    def run(self, file: Path) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{file}\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert "lost" not in answer, f"the plain run of {file.name} ended with wait status {answer['lost']}"
        return answer

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="session")
def plain_torch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlainTorch]:
    plain = PlainTorch(tmp_path_factory.mktemp("inductor"))
    yield plain
    plain.close()


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.stem)
def test_breaks_and_recompiles_are_those_of_torch(file: Path, warm_host: WarmHost, plain_torch: PlainTorch) -> None:
    ours, torchs = warm_host.analyse(file), plain_torch.run(file)
    assert breaks_of_ours(ours) == Counter((one["file"], one["line"], one["code"]) for one in torchs["breaks"])
    assert recompiles_of_ours(ours) == [
        (one["id"], one["function"], one["file"], one["line"], [plain_guard(guard) for guard in one["guards"]])
        for one in torchs["recompiles"]
    ]
    found = [finding for finding in ours.outcome.findings if finding.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT)]
    in_findings = Counter(frame for finding in found for frame in finding.frames)
    assert in_findings == Counter(one["id"] for one in torchs["recompiles"])
    assert any(finding.kind is Kind.RECOMPILE_LIMIT for finding in found) == bool(torchs["limits"])
    assert (ours.outcome.status is Status.RAISED) == bool(torchs["raised"])


def breaks_of_ours(ours: Analysed) -> Counter[tuple[str, int, str]]:
    counted: Counter[tuple[str, int, str]] = Counter()
    for finding in ours.outcome.findings:
        if finding.kind is Kind.GRAPH_BREAK:
            counted[finding.place.file, finding.place.line, finding.code] += finding.count
    return counted


def recompiles_of_ours(ours: Analysed) -> list[tuple[str, str, str, int, list[str]]]:
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
