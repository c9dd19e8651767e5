"""The programs whose findings are to be fixed: fixtures and corpora, and programs written after the fixes were."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
OWN = Path(__file__).parent / "own"
SEEN, UNSEEN, DRAWN, DRAWN_LATER, WRITTEN_LATER = "seen", "unseen", "drawn", "drawn later", "written later"
# files of own/ whose programs were made after the fixes, and are counted apart
_LATER = {"drawn": DRAWN, "drawn_later": DRAWN_LATER, "written_later": WRITTEN_LATER}
_PROGRAM = re.compile(r"^# program: (\w+)\n", re.MULTILINE)
_CARETS = re.compile(r"^[ \t]*#[ \d-]*(?:\s*\^+ .*|\d+-\d+ .*)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Program:
    """A program. ``group`` is ``seen`` where it was looked at while the fixes were written, ``drawn`` or ``drawn later`` where it was
    cut out of a public package afterwards, ``written later`` where it was written after all fixes; ``name`` tells it from the others."""

    group: str
    name: str
    text: str


def all_programs() -> Iterator[Program]:
    """Every program, whether or not it has a finding."""
    for file in sorted((ROOT / "tests" / "fixtures").glob("*.py")):
        if file.name.startswith(("break_", "recompile_", "error_fullgraph", "error_data_dependent", "performance_")):
            yield Program(SEEN, file.stem, without_notation(file.read_text(encoding="utf-8")))
    for file in sorted((ROOT / "tests" / "corpus" / "programs").glob("*.py")):
        yield from _parts(SEEN, file)
    for file in sorted(OWN.glob("*.py")):
        yield from _parts(_LATER.get(file.stem, UNSEEN), file)


def _parts(group: str, file: Path) -> Iterator[Program]:
    head, *rest = _PROGRAM.split(file.read_text(encoding="utf-8"))
    for name, body in zip(rest[::2], rest[1::2], strict=True):
        yield Program(group, f"{file.stem}/{name}", without_notation(head + body))


def without_notation(text: str) -> str:
    """A program without the comments that say what is found."""
    return _CARETS.sub("", text)
