"""Programs that would do harm: after each, every file is as it was, nothing runs, and the next request is answered.

The head of a program says what it does, in which kinds of sandbox it is run and what must come of it there: the outcome's status and
the codes of the findings; ``gpus``, if it is run once more as where a machine has GPUs; and ``nightly``, if it takes long.
``pytest tests/hostile --update-hostile -p no:xdist`` writes docs/hostile.md.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from planted_home import SECRET, Planted

from compile_lens.agent.runtime.left_folders import remove_folder
from compile_lens.agent.runtime.protocol import SandboxKind
from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.analyze import analyze
from compile_lens.temporary_folders import PREFIX
from compile_lens.workers import command
from compile_lens.workers.access import ResourceLimits, SandboxOptions
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job
from processes import Mark
from sandbox_kinds import skip_unless_offered

pytestmark = [
    pytest.mark.hostile,
    # its observers look at what all processes of the machine share
    pytest.mark.xdist_group("hostile"),
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc"),
]

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
# what was tried beside the programs: of other doors than the sandbox, and what held without leaving a program here
ATTEMPTS = Path(__file__).parent / "attempts.md"
TABLE = Path(__file__).resolve().parents[2] / "docs" / "hostile.md"
KINDS = [strongest.value for strongest in SandboxKind]
SHARED = Path("/dev/shm")
# sem_open(3) of the GNU C library makes it under such a name first
UNFINISHED_SEMAPHORE = re.compile(r"sem\.\w{6}")


@dataclass(frozen=True, slots=True)
class Program:
    """A file of the folder ``programs``, and what its head says."""

    name: str
    text: str
    does: str
    fields: dict[str, str]

    @staticmethod
    def read(file: Path) -> Program:
        text = file.read_text()
        first, *rest = [line.removeprefix("# ") for line in text.partition("\n\n")[0].splitlines()]
        return Program(file.stem, text, first, dict(line.split(": ", 1) for line in rest))

    def number(self, name: str, default: float) -> float:
        return float(self.fields.get(name, default))


class Place:
    """A planted home, and a host whose standby believes in it. What the runs came to is kept for the table."""

    def __init__(self, folder: Path) -> None:
        self.mark = Mark()
        self.planted = Planted(folder)
        self.host = Host(sys.executable, {**self.mark.environment, **self.planted.environment})
        self.cells: dict[tuple[str, str], str] = {}
        self.previous = "nothing"
        self._loop = asyncio.new_event_loop()

    def run(self, file: Path, program: Program, kind: str, gpus: bool = False) -> Outcome:
        budget = ResourceLimits(
            memory_gib=program.number("memory", 0),
            disk_gib=program.number("disk", 4),
            processes=int(program.number("processes", 512)),
            output_bytes=int(program.number("output", 1 << 28)),
            cpu_s=program.number("cpu", 0),
            idle_s=program.number("idle", 0),
        )
        sandbox = SandboxOptions(strongest=SandboxKind(kind), gpu=gpus)
        job = Job(str(file), timeout_s=program.number("timeout", 60), sandbox=sandbox, budget=budget)
        return self._loop.run_until_complete(analyze(self.host, job))

    def close(self) -> None:
        self._loop.run_until_complete(self.host.close())
        self._loop.close()
        self.planted.close()


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("hostile")
    place = Place(folder)
    yield place
    # each program was the request after another; this is the one after the last
    after = place.planted.workspace("after", "print('answered')\n", [])
    for kind in sorted({kind for _, kind in place.cells}):
        outcome = place.run(after, Program("after", "", "", {}), kind)
        assert (outcome.status.value, outcome.output) == ("ok", "answered\n")
    place.close()
    assert place.mark.none_left()
    remove_folder(str(folder / "caches"))  # folders in one another, too deep for pytest to delete
    if pytestconfig.getoption("--update-hostile"):
        TABLE.write_text(table({**known_cells(), **place.cells}))


CASES = [
    pytest.param(
        program,
        kind,
        gpus,
        id=f"{program.name}-{kind}" + ("-gpus" if gpus else ""),
        marks=[pytest.mark.nightly] if "nightly" in program.fields else [],
    )
    for program in map(Program.read, PROGRAMS)
    for kind in KINDS
    if kind in program.fields
    for gpus in (False, True)
    if not gpus or ("gpus" in program.fields and kind != SandboxKind.PYTHON.value)
]


def all_are_deleted() -> bool:
    """Whether no scratch folder is left in the end: what takes moments goes after the answer."""
    for _ in range(300):
        if not list(Path(tempfile.gettempdir()).glob(f"{PREFIX}{os.getpid()}-*")):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.usefixtures("shared_memory")
@pytest.mark.parametrize(("program", "kind", "gpus"), CASES)
def test_nothing_is_harmed(
    program: Program, kind: str, gpus: bool, place: Place, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_unless_offered(kind)
    monkeypatch.setattr(command, "has_device_to_show", lambda: True)
    planted = place.planted
    file = planted.workspace(program.name, program.text, program.fields.get("beside", "").split())
    hello = place.host.hello
    previous = f"after {place.previous}: "
    place.previous = f"{program.name} ({kind})"
    before, shared = planted.state(hello and hello.pid), set(SHARED.iterdir())
    outcome = place.run(file, program, kind, gpus)

    assert planted.state(hello and hello.pid) == before
    standby = place.host.hello
    assert standby is not None
    assert hello is None or standby.pid == hello.pid, "the standby was lost"
    assert place.mark.alive() == [standby.pid]
    assert not planted.visited()
    assert not abandoned(shared)
    assert all_are_deleted()
    assert SECRET not in outcome.output
    assert outcome.sandbox in ("", kind)

    expected, *codes = program.fields[kind].split()
    told = f"{previous}{outcome.findings}\n{outcome.output}"
    assert (outcome.status.value, [finding.code for finding in outcome.findings]) == (expected, codes), told
    assert expected != "ok" or program.fields.get("prints", "") in outcome.output
    for finding in outcome.findings:
        assert finding.place.file == str(file), told
        assert not finding.code.startswith("denied") or finding.place.line > program.text.count("\n#"), told
    if not gpus:
        place.cells[program.name, kind] = cell(outcome, planted, file)

    if not pytestconfig.getoption("--update-hostile"):
        # the words may differ: which of many files comes first, where a program was when its time was up
        in_table = known_cells()[program.name, kind]
        came_to = (in_table.partition(".")[0], re.findall(r"`([a-z-]+)`:", in_table))
        assert came_to == (expected, codes), "run with --update-hostile -p no:xdist"


def abandoned(before: set[Path]) -> set[Path]:
    """New shared memory that no process uses, and that stays: other tests' browsers and workers have some of their own meanwhile, and a
    worker that is killed while it makes a semaphore leaves an empty file."""
    new = {file for file in set(SHARED.iterdir()) - before if not UNFINISHED_SEMAPHORE.fullmatch(file.name)}
    for _ in range(20):
        if new:  # one that another process has just made is mapped, or has its own name, a moment later
            maps = "".join(text_of(folder / "maps") for folder in Path("/proc").iterdir() if folder.name.isdigit())
            new = {file for file in new if str(file) not in maps and file.exists()}
        if not new:
            break
        time.sleep(0.05)
    return new


def text_of(file: Path) -> str:
    """Its text; '' if the process is gone."""
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""


def cell(outcome: Outcome, planted: Planted, file: Path) -> str:
    """What came of a run, in a few words that are the same each time."""
    said = [f"`{finding.code}`: {finding.message}" for finding in outcome.findings] or list(outcome.notes[:1])
    text = f"{outcome.status.value}. {' '.join(said)}"
    for path, short in ((str(file.parent), "."), (str(planted.home), "~"), (str(planted.temporary), "$TMPDIR")):
        text = text.replace(path, short)
    text = re.sub(r"compile-lens-run-[\w-]+|tmp\w{8}", "…", text)
    text = re.sub(r"\b\d{4,}\b", "…", text)
    return re.sub(r"\s+", " ", text.replace("|", "/")).strip()[:300]


def known_cells() -> dict[tuple[str, str], str]:
    """The cells of programs that are not run now."""
    rows = (line.strip("| ").split(" | ") for line in TABLE.read_text().splitlines() if line.startswith("| `"))
    padded = ((name.strip("`"), [*cells, "", "", ""]) for name, _, *cells in rows)
    return {(name, kind): cell.strip("| ") for name, cells in padded for kind, cell in zip(KINDS, cells, strict=False)}


def table(cells: dict[tuple[str, str], str]) -> str:
    head = """\
# Hostile and careless programs in the sandbox

`pytest tests/hostile --update-hostile -p no:xdist` runs these programs on Linux and writes this page. Without the option, the test
checks the page.
After each program, the test also checks that:

- every file of a planted home directory, the workspace and the temporary folder has the same content, mode, owner, time, extended
  attributes and inode flags, and the folders around them have the same modes;
- another process of the user and the standby have the same limits, priority, processors and policy; a terminal, System V objects, a
  message queue and an abstract socket are untouched;
- no process, shared memory or scratch folder is left, and no service was reached;
- the next request is answered.

The columns are the kinds of sandbox ([SECURITY.md](../SECURITY.md)): `overlay` on Linux with namespaces, `landlock` on Linux without
them, `python` elsewhere. A program runs only in the kinds that it is meant to test.

| program | what it does | overlay | landlock | python |
|---|---|---|---|---|
"""
    rows = [
        f"| `{program.name}` | {program.does} | "
        + " | ".join(cells.get((program.name, kind), "") for kind in KINDS)
        + " |\n"
        for program in map(Program.read, PROGRAMS)
    ]
    return head + "".join(rows) + ATTEMPTS.read_text()


def test_there_are_many_programs() -> None:
    assert len(PROGRAMS) >= 60
    assert all({"overlay", "landlock", "python"} & set(Program.read(file).fields) for file in PROGRAMS)
