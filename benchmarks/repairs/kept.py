"""What came of the findings of each program, kept in the repository, so that a part can be renewed and the others stay."""

from __future__ import annotations

import dataclasses
import datetime
import fcntl
import hashlib
import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.repairs.programs import ROOT, Program

KEPT = ROOT / "benchmarks" / "results" / "repairs.jsonl"
# the fixed programs, for their plain runs
FIXED = ROOT / ".cache" / "repairs"


@dataclass(frozen=True, slots=True)
class Version:
    """The code that a row was made with: a commit, and the day."""

    commit: str
    day: str


@dataclass
class Row:
    """One finding of a program, and what came of its fixes. ``fix`` is the best one that helps, '' for none.

    ``text`` is a digest of the program, '' where it is not known. ``tried`` are the rules that were tried, ``why`` says what each did.
    ``plain`` is what torch's own log says of the fixed program, of whose text ``fixed`` is a digest. ``commit`` and ``day`` tell the code
    that the row was made with.
    A program without a finding has one row without a code.
    """

    group: str
    program: str
    text: str
    kind: str
    code: str
    message: str
    fix: str = ""
    fix_kind: str = ""
    effect: str = ""
    equal: bool | None = None
    tokens: int = 0
    seconds: float = 0.0
    tried: Sequence[str] = ()
    why: Sequence[str] = ()
    plain: str = ""
    fixed: str = ""
    commit: str = ""
    day: str = ""

    @property
    def fixed_file(self) -> Path:
        """Where the fixed program is while it waits for a plain run."""
        name = hashlib.sha256(f"{self.program} {self.text} {self.message} {self.fix}".encode()).hexdigest()[:16]
        return FIXED / f"{name}.py"


def digest(program: Program) -> str:
    """What tells a program's text from another."""
    return digest_of(program.text)


def digest_of(text: str) -> str:
    """What tells a text from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def this_version() -> Version:
    """The commit of this checkout, and today."""
    asked = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return Version(asked.stdout.strip(), datetime.date.today().isoformat())


def read_rows(file: Path = KEPT) -> list[Row]:
    """All rows that are kept."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [Row(**json.loads(line)) for line in lines]


def write_rows(rows: Iterable[Row], file: Path = KEPT) -> None:
    """Keep these rows, and no others. A reader finds the old ones or the new ones, never a part."""
    written = file.with_suffix(".part")
    text = "".join(json.dumps(dataclasses.asdict(row), ensure_ascii=False) + "\n" for row in rows)
    written.write_text(text, encoding="utf-8")
    written.replace(file)


@contextmanager
def alone(folder: Path = KEPT.parent) -> Iterator[None]:
    """Let other processes that change what is kept in ``folder`` wait: none writes back what it read before another one wrote."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def changing(file: Path = KEPT) -> Iterator[list[Row]]:
    """The rows that are kept, to be changed in place."""
    with alone(file.parent):
        rows = read_rows(file)
        yield rows
        write_rows(rows, file)


def renewed(rows: Iterable[Row], program: Program, new: Sequence[Row]) -> list[Row]:
    """The rows with those of ``program`` replaced, where they were; at the end for a new program.

    A plain run of the same fixed text stays.
    """
    kept: list[Row] = []
    place = -1
    said: dict[tuple[str, str, str], str] = {}
    for row in rows:
        if (row.group, row.program) == (program.group, program.name):
            place = len(kept) if place < 0 else place
            said[row.kind, row.message, row.fixed] = row.plain
        else:
            kept.append(row)
    place = len(kept) if place < 0 else place
    for row in new:
        if row.fixed and not row.plain:
            row.plain = said.get((row.kind, row.message, row.fixed), "")
    return [*kept[:place], *new, *kept[place:]]


def of_present_programs(rows: Iterable[Row], programs: Iterable[Program]) -> list[Row]:
    """The rows in the order of the programs, without those of programs that are gone."""
    order = {(program.group, program.name): number for number, program in enumerate(programs)}
    present = [row for row in rows if (row.group, row.program) in order]
    return sorted(present, key=lambda row: order[row.group, row.program])


def is_current(rows: Iterable[Row], program: Program, commit: str = "") -> bool:
    """Whether rows of this very text are kept; if ``commit`` is given, of that commit."""
    own = [row for row in rows if (row.group, row.program) == (program.group, program.name)]
    return bool(own) and all(row.text == digest(program) and commit in ("", row.commit) for row in own)
