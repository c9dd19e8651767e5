"""Applies what the user does not want to see: severities per kind or code, ignore comments, and a cap per file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from compile_lens.analysis.finding import Finding, Kind, Place, Severity
from compile_lens.late_pattern import pattern
from compile_lens.syntax.tree import SourceTree

CODE = "unused-ignore"
OFF = "off"
# "# compile-lens: ignore[GB0059, recompile] the log is wanted"
IGNORE = pattern(r"#\s*compile-lens:\s*ignore\[(?P<codes>[^\]]*)\]")
DEFAULT_CAP = 200


class Filters(Struct, frozen=True):
    """``severities`` maps a code or a kind to a severity's name, or ``off``; a code goes before its kind. ``cap`` is per file.

    ``just_my_code``: what happens inside libraries is kept_by_file at the line that called them, rather than where it happens.
    """

    severities: Mapping[str, str] = field(default_factory=dict)
    cap: int = DEFAULT_CAP
    just_my_code: bool = True


class Filtered(Struct, frozen=True):
    """What is left to show; ``hidden`` counts what the cap left out, per file."""

    findings: tuple[Finding, ...]
    hidden: Mapping[str, int]


class _Ignore(Struct):
    place: Place
    codes: tuple[str, ...]
    covers: int
    used: bool = False


def apply(
    findings: tuple[Finding, ...],
    filters: Filters,
    file: str,
    tree_of: Callable[[str], SourceTree | None],
    completed: bool,
) -> Filtered:
    """Apply ``filters`` and the ignore comments. An ignore of ``file`` that matches nothing is itself a finding, once the run has
    ``completed``: before, what it is for may not have happened yet."""
    ignores = {name: list(_ignores(name, tree_of(name))) for name in {file, *(f.place.file for f in findings)}}
    kept = [finding for finding in findings if not _is_ignored(finding, ignores[finding.place.file])]
    if completed:
        # a prediction is no finding of a run
        kept += [_unused(i) for i in ignores[file] if not i.used and set(i.codes) != {Kind.PREDICTION.value}]
    leveled = [changed for finding in kept if (changed := _with_severity(finding, filters.severities)) is not None]
    kept_by_file: Counter[str] = Counter()
    hidden: Counter[str] = Counter()
    result = []
    # the cap keeps the worst, in the order of the file
    allowed = {
        id(f)
        for f in sorted(leveled, key=lambda f: (f.severity.rank, -f.weight))
        if _take(f, kept_by_file, filters.cap)
    }
    for finding in leveled:
        if id(finding) in allowed:
            result.append(finding)
        else:
            hidden[finding.place.file] += 1
    return Filtered(tuple(result), hidden)


def _take(finding: Finding, kept_by_file: Counter[str], cap: int) -> bool:
    kept_by_file[finding.place.file] += 1
    return kept_by_file[finding.place.file] <= cap


def _with_severity(finding: Finding, severities: Mapping[str, str]) -> Finding | None:
    wanted = severities.get(finding.code) or severities.get(finding.kind.value)
    if finding.kind is Kind.PREDICTION and severities.get(finding.code) != OFF:
        # the level of a code is for breaks that happened
        wanted = severities.get(finding.kind.value)
    if wanted is None:
        return finding
    return None if wanted == OFF else replace(finding, severity=Severity(wanted))


def _ignores(file: str, tree: SourceTree | None) -> Iterator[_Ignore]:
    """The ignore comments of a file. One at the end of a line is for that line; one on a line of its own, for the next line of code."""
    if tree is None or "compile-lens" not in tree.text:
        return
    for number, text in enumerate(tree.lines, 1):
        match = IGNORE.search(text)
        if match is None:
            continue
        covers = number
        if text.lstrip().startswith("#"):
            following = range(number + 1, len(tree.lines) + 1)
            covers = next(
                (n for n in following if (line := tree.line_text(n).strip()) and not line.startswith("#")), number
            )
        codes = tuple(code.strip() for code in match["codes"].split(",") if code.strip())
        yield _Ignore(Place(file, number, match.start() + 1, number, match.end() + 1), codes, covers)


def _is_ignored(finding: Finding, ignores: list[_Ignore]) -> bool:
    ignored = False
    for ignore in ignores:
        if finding.place.line <= ignore.covers <= finding.place.end_line and (
            finding.code in ignore.codes or finding.kind.value in ignore.codes
        ):
            ignore.used = ignored = True
    return ignored


def _unused(ignore: _Ignore) -> Finding:
    codes = ", ".join(ignore.codes) or "no code"
    return Finding(
        code=CODE,
        kind=Kind.UNUSED_IGNORE,
        severity=Severity.INFORMATION,
        message=f"This ignore comment ({codes}) matches no finding.",
        place=ignore.place,
        explanation="Remove the comment, or correct its codes: a code such as `GB0059`, or a kind such as `recompile`.",
    )
