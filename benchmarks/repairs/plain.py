"""Runs fixed programs with a plain torch, and reads its own log."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.repairs.kept import Row, changing, digest_of, read_rows

TIMEOUT_S = 180


def plainly(number: int, wanted: Callable[[Row], bool]) -> None:
    """Fill ``plain`` of so many rows that are ``wanted`` and whose fix helps: what ``TORCH_LOGS`` says of the fixed program.

    Each row is kept as soon as it is known, if the fixed text is still the one that ran.
    """
    ready = [row for row in read_rows() if _is_ready(row) and wanted(row)]
    step = max(1, len(ready) // max(1, number))
    with tempfile.TemporaryDirectory() as caches:
        for row in ready[::step][:number]:
            said = _said(row.fixed_file.read_text(encoding="utf-8"), row.kind, caches)
            with changing() as rows:
                for each in rows:
                    if (each.fixed_file, each.fixed) == (row.fixed_file, row.fixed):
                        each.plain = said


def _is_ready(row: Row) -> bool:
    file = row.fixed_file
    # the log does not tell how many errors the program has caught
    is_told = row.kind != "compile-error" or _leaves_no_error(row)
    is_there = row.fix_kind == "change" and not row.plain and file.exists()
    return is_told and is_there and digest_of(file.read_text(encoding="utf-8")) == row.fixed


def _leaves_no_error(row: Row) -> bool:
    return "→ 0 errors" in row.effect


def as_verified(row: Row) -> bool:
    """Whether a plain run of a row's program ended, and has as many of the kind of finding as the effect of the fix says."""
    if row.kind == "compile-error":
        return row.plain == "0 breaks" and _leaves_no_error(row)
    noun = "recompile" if row.kind.startswith("recompile") else "break"
    told = re.search(rf"→ (\d+) {noun}", row.effect)
    return told is not None and row.plain == _counted(int(told[1]), noun)


def graph_breaks(text: str, file: Path) -> str:
    """How many breaks torch's own log has of a program that is run as ``file``: ``3 breaks``."""
    with tempfile.TemporaryDirectory() as caches:
        return _run(text, file, "Graph break in user code", "break", caches)


def _said(text: str, kind: str, caches: str) -> str:
    is_recompile = kind.startswith("recompile")
    wanted = "Recompiling function" if is_recompile else "Graph break in user code"
    with tempfile.TemporaryDirectory() as folder:
        return _run(text, Path(folder) / "program.py", wanted, "recompile" if is_recompile else "break", caches)


def _run(text: str, file: Path, wanted: str, noun: str, caches: str) -> str:
    file.write_text(text, encoding="utf-8")
    environment = {**os.environ, "TORCH_LOGS": "graph_breaks,recompiles", "TORCHINDUCTOR_CACHE_DIR": caches}
    done = subprocess.run(
        [sys.executable, str(file)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        cwd=file.parent,
    )
    found = (done.stderr + done.stdout).count(wanted)
    ended = "" if done.returncode == 0 else f", exit code {done.returncode}"
    return f"{_counted(found, noun)}{ended}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
