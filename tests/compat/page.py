"""Makes docs/compatibility.md of the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.compat.differences import DIFFERENCES, Difference, explanation, unexplained
from tests.compat.environments import numbers
from tests.compat.results import Result

PAGE = Path(__file__).parents[2] / "docs" / "compatibility.md"
CHECKS = ("doctor", "emulated GPU", "fixtures", "programs", "repros", "bisection", "explanations")
HEAD = """# torch and Python versions

`make compat` tries Compile Lens with each torch and each Python that a machine can get, and writes this page. Only the agent runs in the
interpreter that is tried; the rest runs in its own.

| check | what must be right |
|---|---|
| doctor | Dynamo supports the Python, and all private names of torch that Compile Lens uses are there |
| emulated GPU | programs recorded on a GPU with torch 2.11 have the same codes at the same lines ([gpu.md](gpu.md)) |
| fixtures | each program in `tests/fixtures` has the codes at the lines that are written in it |
| programs | each of the small programs in `tests/corpus/programs` has the codes at the lines that are written in it |
| repros | a repro of a break, of a recompile and of an error reproduces it ([repro.md](repro.md)) |
| bisection | a bug that Inductor is told to have is found ([bisect.md](bisect.md)) |
| explanations | the installed torch is read, and one name of each kind is explained from it ([explain.md](explain.md)) |

## Results

A cell has the number of programs that came out right, of those that were tried. A difference that torch itself makes counts as right; the
next section names each.

"""


def render(results: Sequence[Result]) -> str:
    """The page."""
    rows = [
        f"| {result.torch} | {result.python} | {' | '.join(_cells(result))} |\n" for result in results if result.checks
    ]
    sections = [HEAD, f"| torch | Python | {' | '.join(CHECKS)} |\n|---|---|{'---|' * len(CHECKS)}\n", *rows]
    if listed := [_listed(row, versions) for row, versions in _explained(results)]:
        sections += [
            "\n## What torch does differently\n\n| program | versions | what torch does |\n|---|---|---|\n",
            *listed,
        ]
    for title, lines in (("What fails", list(_failures(results))), ("What was not tried", list(_left_out(results)))):
        if lines:
            sections += [f"\n## {title}\n\n| torch | Python | what |\n|---|---|---|\n", *lines]
    return "".join(sections)


def _cells(result: Result) -> Iterator[str]:
    by_name = {check.name: check for check in result.checks}
    for name in CHECKS:
        check = by_name.get(name)
        if check is None:
            yield "–"
        else:
            wrong = sum(explanation(result, each) is None for each in check.deviations)
            yield f"{check.tried - wrong} of {check.tried}"


def _explained(results: Sequence[Result]) -> Iterator[tuple[Difference, list[str]]]:
    """Each row that was met, with the releases of torch where it was."""
    met: dict[Difference, list[str]] = {}
    for result in results:
        for check in result.checks:
            for each in check.deviations:
                if row := explanation(result, each):
                    met.setdefault(row, []).append(".".join(map(str, numbers(result.torch))))
    return ((row, list(dict.fromkeys(met[row]))) for row in DIFFERENCES if row in met)


def _listed(row: Difference, versions: list[str]) -> str:
    return f"| `{row.program}` | {', '.join(versions)} | {_escaped(row.why)} |\n"


def _failures(results: Sequence[Result]) -> Iterator[str]:
    for result in results:
        for each in unexplained(result):
            lacks = f"no {each.lacks}" if each.lacks else ""
            told = "; ".join(filter(None, (lacks, each.has)))
            yield f"| {result.torch} | {result.python} | `{each.program}`: {_escaped(told)} |\n"


def _left_out(results: Sequence[Result]) -> Iterator[str]:
    for result in results:
        for what in filter(None, (result.failure, *(what for check in result.checks for what in check.left_out))):
            yield f"| {result.torch} | {result.python} | {_escaped(what)} |\n"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
