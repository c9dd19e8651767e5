"""The fixtures of the tests with another interpreter: the codes at the lines that are written in them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tests.compat.environments import Interpreter, numbers
from tests.compat.results import Check, Deviation

from compile_lens.workers.job import Depth
from fixture_notation import Expected, depth_of, is_compared, is_varied, read
from test_fixtures import FIXTURES, as_expected, parts
from warm_host import WarmHost

# a module that a program imports and an environment may lack
OPTIONAL = re.compile(r"^(?:from|import) (transformers|numpy)\b", re.MULTILINE)
# torch gives graph breaks a code
CODES_SINCE = (2, 9)
CODE = re.compile(r"/GB\d{4}$")
BARE_CODE = re.compile(r"\bGB\d{4}$")


def check_fixtures(host: WarmHost, interpreter: Interpreter, missing: frozenset[str]) -> Check:
    """What each gives otherwise than is written in it. ``missing``: modules that are not installed there."""
    tried, deviations, left_out = 0, [], []
    for file in FIXTURES:
        lacking = missing.intersection(OPTIONAL.findall(file.read_text(encoding="utf-8")))
        if lacking:
            left_out.append(f"{file.stem}: {', '.join(sorted(lacking))} is not installed")
            continue
        tried += 1
        expected, found = _compare(host, file, numbers(interpreter.torch) >= CODES_SINCE)
        if expected != found:
            deviations.append(Deviation(file.stem, listed(expected - found), listed(found - expected)))
    return Check("fixtures", tried, tuple(deviations), tuple(left_out))


def without_code(code: str) -> str:
    """What a torch without codes gives."""
    return BARE_CODE.sub("graph-break", CODE.sub("", code))


def _compare(host: WarmHost, file: Path, with_codes: bool) -> tuple[Counter[str], Counter[str]]:
    """What is written in a fixture and its parts, and what was found: ``LINE CODE``, with counts."""
    text = file.read_text(encoding="utf-8")
    outcome = host.analyze(file, Depth(depth_of(text)), is_compared(text), is_varied(text)).outcome
    expected: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for path in [file, *parts(file)]:
        program = read(path.read_text(encoding="utf-8"))
        here = [finding for finding in outcome.findings if Path(finding.place.file) == path]
        prefix = "" if path == file else f"{path.name}:"
        expected += counted(prefix, program.expected, with_codes)
        found += counted(prefix, as_expected(program, here), with_codes)
    return expected, found


def listed(findings: Counter[str]) -> str:
    """``LINE CODE`` of each, with counts."""
    return ", ".join(f"{what} x{count}" if count > 1 else what for what, count in sorted(findings.items()))


def counted(prefix: str, findings: tuple[Expected, ...], with_codes: bool) -> Counter[str]:
    """How often each ``LINE CODE`` was found."""
    found: Counter[str] = Counter()
    for one in findings:
        code = one.code if with_codes else without_code(one.code)
        found[f"{prefix}{one.line} {code}"] += one.count
    return found
