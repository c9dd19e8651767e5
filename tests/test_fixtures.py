"""Each program in ``tests/fixtures`` gives exactly the findings that are written under its lines.

``pytest tests/test_fixtures.py --update-fixtures`` writes what is found into the programs; read the diff before committing it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.outcome import Status
from fixture_notation import Annotated, Expected, difference, read, write
from warm_host import WarmHost, one_worker_each

FOLDER = Path(__file__).parent / "fixtures"
# programs of many small functions, each for one of torch's codes of graph breaks; nothing else that is found there is compared
CORPUS = sorted((Path(__file__).parent / "corpus" / "graph_breaks").glob("[!_]*.py"))
# many small programs in a file, each below ``# program: NAME``
PROGRAMS = sorted((Path(__file__).parent / "corpus" / "programs").glob("*.py"))
# a file whose name begins with an underscore is a part of the fixture that imports it
FIXTURES = sorted(FOLDER.glob("[!_]*.py"))
TORCHS_PAGE = re.compile(r"/(gb\d{4})\.html$")
IMPORTED_PART = re.compile(r"^from (_\w+) import|^import (_\w+)", re.MULTILINE)


@pytest.mark.parametrize("file", one_worker_each([*FIXTURES, *CORPUS, *PROGRAMS]))
def test_findings_are_those_written_under_the_lines(
    file: Path, warm_host: WarmHost, pytestconfig: pytest.Config
) -> None:
    check(file, warm_host, update=pytestconfig.getoption("--update-fixtures"))


def check(file: Path, host: WarmHost, update: bool = False) -> None:
    """Analyze one fixture, and compare or write what is found in it and in its parts."""
    outcome = host.analyze_fixture(file).outcome
    assert outcome.status in (Status.OK, Status.RAISED), outcome.failure or outcome.output
    programs = {path: read(path.read_text(encoding="utf-8")) for path in [file, *parts(file)]}
    found: dict[Path, list[Finding]] = defaultdict(list)
    for finding in outcome.findings:
        if file in CORPUS and not TORCHS_PAGE.search(finding.url or ""):
            continue
        found[Path(finding.place.file)].append(finding)
    elsewhere = sorted(str(path) for path in found if path not in programs)
    assert not elsewhere, f"findings in files that are no part of the fixture: {elsewhere}"
    differences = ""
    for path, program in programs.items():
        actual = as_expected(program, found[path])
        if update:
            path.write_text(write(program.lines, actual), encoding="utf-8")
        elif actual != program.expected:
            differences += f"{path.name}\n{difference(program.lines, program.expected, actual)}\n"
    if differences:
        pytest.fail(f"the findings are not those written in the fixture:\n{differences}", pytrace=False)


def parts(file: Path) -> list[Path]:
    names = IMPORTED_PART.findall(file.read_text(encoding="utf-8"))
    return [file.with_name(f"{first or second}.py") for first, second in names]


def as_expected(program: Annotated, findings: Iterable[Finding]) -> tuple[Expected, ...]:
    def counted(line: int) -> int:
        return program.counted.get(line, 0)

    places = ((finding.place, finding) for finding in findings)
    return tuple(
        sorted(
            Expected(
                counted(place.line),
                place.column,
                counted(place.end_line),
                place.end_column,
                _code(finding),
                finding.count,
            )
            for place, finding in places
        )
    )


def _code(finding: Finding) -> str:
    page = TORCHS_PAGE.search(finding.url or "")
    torchs = page[1].upper() if page else finding.code
    return finding.code if torchs == finding.code else f"{finding.code}/{torchs}"


def test_notation_comes_back() -> None:
    lines = ("run(x)", "\tif x:", "    y = f(", "        x)", "    print('é👩‍🔬', y)")
    expected = (
        Expected(1, 1, 1, 7, "run-error"),
        Expected(2, 5, 2, 6, "GB0170", 3),
        Expected(3, 9, 4, 11, "GB0059"),
        Expected(5, 5, 5, 20, "recompile-limit"),
        Expected(5, 11, 5, 16, "fullgraph-break/GB0059", 2),
    )
    text = write(lines, expected)
    assert read(text).lines == lines
    assert read(text).expected == expected
    assert difference(lines, expected, expected) == ""
    assert "+#   ^ GB0059" in difference(lines, expected, [*expected, Expected(2, 5, 2, 6, "GB0059")])


def test_there_are_fixtures_of_every_family() -> None:
    families = {file.stem.partition("_")[0] for file in FIXTURES}
    assert families == {"break", "recompile", "error", "clean", "performance", "numbers", "varied", "stand"}
    assert len(FIXTURES) >= 30
