"""The small programs of ``tests/corpus/programs`` with another interpreter: the same codes at the same lines of each."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.compat.environments import Interpreter, numbers
from tests.compat.fixtures import CODES_SINCE, counted, listed
from tests.compat.results import Check, Deviation

from compile_lens.workers.job import Depth
from fixture_notation import Expected, read
from test_fixtures import PROGRAMS, as_expected
from warm_host import WarmHost

HEADER = re.compile(r"^# program: (?P<name>\w+)$")


def check_programs(host: WarmHost, interpreter: Interpreter) -> Check:
    """What each gives otherwise than is written in it; lines are counted from the program's header."""
    with_codes = numbers(interpreter.torch) >= CODES_SINCE
    tried, deviations = 0, []
    for file in PROGRAMS:
        program = read(file.read_text(encoding="utf-8"))
        outcome = host.analyze(file, Depth.DYNAMO).outcome
        here = [finding for finding in outcome.findings if Path(finding.place.file) == file]
        expected = by_program(program.lines, program.expected)
        found = by_program(program.lines, as_expected(program, here))
        for name in names(program.lines):
            tried += 1
            lacks, has = counted("", expected[name], with_codes), counted("", found[name], with_codes)
            if lacks != has:
                deviations.append(Deviation(name, listed(lacks - has), listed(has - lacks)))
    return Check("programs", tried, tuple(deviations))


def names(lines: Iterable[str]) -> list[str]:
    """The programs of a file, in order."""
    return [match["name"] for match in map(HEADER.match, lines) if match]


def by_program(lines: Sequence[str], findings: Iterable[Expected]) -> dict[str, tuple[Expected, ...]]:
    """The findings in each program of a file, their lines counted from its header; '' has those above the first."""
    starts = [(number, match["name"]) for number, match in enumerate(map(HEADER.match, lines), 1) if match]
    split: dict[str, Counter[Expected]] = defaultdict(Counter)
    for one in findings:
        start, name = max(((at, name) for at, name in starts if at <= one.line), default=(0, ""))
        moved = Expected(one.line - start, 0, 0, 0, one.code, one.count)
        split[name][moved] += 1
    return defaultdict(tuple, {name: tuple(found.elements()) for name, found in split.items()})
