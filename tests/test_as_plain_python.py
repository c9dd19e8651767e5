"""Programs that look at themselves print the same in a background run as with ``python FILE``, but for what docs/differences.md lists.

The programs are the cells of ``tests/data/self_inspecting/*.py``. ``# differs: SUBJECT`` names a row of that page's table.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from compile_lens.workers.job import Job
from warm_host import WarmHost

FOLDER = Path(__file__).parent / "data" / "self_inspecting"
PAGE = Path(__file__).parent.parent / "docs" / "differences.md"
CELL = re.compile(r"^# %% (.+)\n", re.MULTILINE)
DIFFERS = re.compile(r"^# differs: (.+)$", re.MULTILINE)
ROW = re.compile(r"^\| \*\*(.+?)\*\* \|", re.MULTILINE)
COMPILES = re.compile(r"compile|_dynamo|_inductor|export")
WITH_TORCH = "with_torch"
# of the one who runs the tests; set for both, or for none
LEFT_OUT = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONHASHSEED", "OMP_NUM_THREADS")


@dataclass(frozen=True)
class Program:
    """One cell."""

    archive: str
    name: str
    text: str

    @property
    def differs(self) -> str:
        """The row of the table that lists its difference; '' if there is none."""
        found = DIFFERS.search(self.text)
        return found.group(1) if found else ""

    def write(self, folder: Path) -> Path:
        """Its file, in a folder of its own."""
        own = folder / re.sub(r"\W", "_", self.name)
        own.mkdir()
        file = own / "program_itself.py"
        file.write_text(self.text, encoding="utf-8")
        return file


def programs() -> list[Program]:
    found = []
    for file in sorted(FOLDER.glob("[!_]*.py")):
        _, *parts = CELL.split(file.read_text(encoding="utf-8"))
        found += [Program(file.stem, name, text) for name, text in zip(parts[::2], parts[1::2], strict=True)]
    return sorted(found, key=lambda program: bool(COMPILES.search(program.text)))


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in LEFT_OUT and "PYTEST" not in name}


class Plain:
    """``python FILE``: in a process of its own, or in a fork of one that has imported torch."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None

    def run(self, program: Program, file: Path) -> str:
        if program.archive != WITH_TORCH:
            done = subprocess.run(
                [sys.executable, str(file)],
                cwd=file.parent,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
            )
            return done.stdout.decode("utf-8", "replace")
        output = file.with_suffix(".output")
        self._ask(f"{'+' if COMPILES.search(program.text) else ''}{file} {output}\n")
        return output.read_text(encoding="utf-8", errors="replace")

    def _ask(self, line: str) -> None:
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, str(FOLDER / "_plain.py")],
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.write(line)
        self._server.stdin.flush()
        assert self._server.stdout.readline() == "over\n"

    def close(self) -> None:
        if self._server is not None:
            self._server.communicate()


@pytest.fixture(scope="module")
def plain() -> Iterator[Plain]:
    made = Plain()
    yield made
    made.close()


@pytest.fixture(scope="module")
def background() -> Iterator[WarmHost]:
    made = WarmHost(environment())
    yield made
    made.close()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(each, id=f"{each.archive}-{each.name}", marks=pytest.mark.xdist_group("as_plain_python"))
        for each in programs()
    ],
)
def test_program_prints_what_it_prints_without_us(
    program: Program, plain: Plain, background: WarmHost, tmp_path: Path
) -> None:
    file = program.write(tmp_path)
    expected = plain.run(program, file)
    found = background.run(Job(str(file))).output
    if program.differs:
        assert found != expected, f"it no longer differs: take `# differs: {program.differs}` away"
        assert program.differs in ROW.findall(PAGE.read_text(encoding="utf-8"))
    else:
        assert found == expected


def test_there_are_many_of_them() -> None:
    names = [(program.archive, program.name) for program in programs()]
    assert len(names) == len(set(names)) >= 60
