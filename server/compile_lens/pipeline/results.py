"""Keeps the findings of the newest run of each open document, moved with the edits since.

A run may find something in another file (a module that the script imports). It is shown there, and goes with the run
that found it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from compile_lens.analysis.dimensions import DynamicParameter
from compile_lens.analysis.finding import Finding, Place, RegionSummary
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.analysis.outcome_parts import CompiledFunction
from compile_lens.analysis.run_errors import at_own_lines
from compile_lens.documents.documents import file_key
from compile_lens.documents.moves import LineEdit, move_finding, move_place, move_region

# parts of an outcome that have places
MOVED = ("findings", "regions", "functions", "dynamic", "unfiltered", "compiled")

EditsOf = Callable[[str], list[LineEdit] | None]


@dataclass(frozen=True, slots=True)
class Known:
    """The newest outcome of one document, its findings and regions moved to where they are now."""

    outcome: Outcome
    findings: tuple[Finding, ...]
    regions: tuple[RegionSummary, ...]
    functions: tuple[RegionSummary, ...] = ()
    dynamic: tuple[DynamicParameter, ...] = ()
    unfiltered: tuple[Finding, ...] = ()
    compiled: tuple[CompiledFunction, ...] | None = None


@dataclass(frozen=True, slots=True)
class RegionOutcome:
    """What happened in a region or function, and the outcome of the run that says so."""

    summary: RegionSummary
    outcome: Outcome


@dataclass(slots=True)
class Results:
    """Findings by the document that was run, and by the file that they are in."""

    # by the document, and the name of what is beside its own outcome: a class that was analyzed as if compiled
    _known: dict[tuple[str, str], Known] = field(default_factory=dict)
    _stamps: dict[str, int] = field(default_factory=dict)
    _count: int = 0

    def publish(self, uri: str, outcome: Outcome, edits_of: EditsOf, beside: str = "") -> set[str]:
        """Take a partial or final outcome of the document ``uri``; the keys of the files whose findings changed.

        ``edits_of(file key)`` gives the edits made to a file since the run began, None if they are not known. A partial
        outcome adds to what the last run found; the final one takes its place. What is published ``beside`` under a name
        leaves the document's own outcome as it is.
        """
        key_of_run = (uri, beside)
        known = Known(
            outcome,
            (*outcome.findings, *at_own_lines(outcome)),
            outcome.regions,
            outcome.functions,
            outcome.dynamic,
            outcome.unfiltered,
            outcome.compiled,
        )
        for key in {file_key(place.file) for place in _places(outcome)}:
            known = _moved(known, key, edits_of(key))
        last = self._known.get(key_of_run)
        if last is not None and not outcome.final:
            known = replace(
                known,
                findings=_merged_findings(known.findings, last.findings),
                regions=_merged_regions(known.regions, last.regions),
                functions=_merged_regions(known.functions, last.functions),
            )
        return self._replace(key_of_run, known)

    def edit(self, key: str, edits: Iterable[LineEdit]) -> set[str]:
        """Move what is known along with edits of the file ``key``; the keys of the files whose findings changed."""
        changed: set[str] = set()
        for run, known in list(self._known.items()):
            moved = _moved(known, key, edits)
            if moved != known:
                changed |= self._replace(run, moved)
        return changed

    def forget(self, uri: str) -> set[str]:
        """Drop what runs of the document ``uri`` found; the keys of the files whose findings changed."""
        return {key for run in list(self._known) if run[0] == uri for key in self._replace(run, None)}

    def forget_beside(self, uri: str, name: str) -> set[str]:
        """Drop what was published beside the document's own outcome."""
        return self._replace((uri, name), None)

    def unfiltered_files(self) -> set[str]:
        """The files that the runs were of, and those with findings, hidden ones included."""
        return {
            file
            for known in self._known.values()
            for file in (known.outcome.file, *(finding.place.file for finding in known.unfiltered))
        }

    def filter_again(self, choose: Callable[[Outcome, tuple[Finding, ...]], tuple[Finding, ...]]) -> set[str]:
        """Choose anew what is shown of what the runs found; the keys of the files whose findings changed."""
        changed: set[str] = set()
        for run, known in list(self._known.items()):
            if known.unfiltered:
                shown = choose(known.outcome, known.unfiltered)
                again = replace(
                    known, findings=(*shown, *at_own_lines(msgspec.structs.replace(known.outcome, findings=shown)))
                )
                changed |= self._replace(run, again)
        return changed

    def outcome(self, uri: str, beside: str = "") -> Outcome | None:
        """The newest outcome of the document ``uri``, or what was published beside it."""
        known = self._known.get((uri, beside))
        return known.outcome if known else None

    def torch(self, uri: str) -> str:
        """The version of torch that the newest outcome of the document ``uri`` is of; '' while there is none."""
        outcome = self.outcome(uri)
        return outcome.torch if outcome is not None else ""

    def moved(self, uri: str) -> Outcome | None:
        """The newest outcome of the document ``uri`` with its places where they are now; None if it is not whole.

        It is whole if the run came to its end, no edit took a place away, and, where places have moved, nothing names lines in words.
        """
        known = self._known.get((uri, ""))
        if known is None or not known.outcome.final or known.outcome.status is not Status.OK:
            return None
        outcome = known.outcome
        now = msgspec.structs.replace(
            outcome,
            findings=known.findings[: len(outcome.findings)],
            regions=known.regions,
            functions=known.functions,
            dynamic=known.dynamic,
            unfiltered=known.unfiltered,
            compiled=known.compiled,
        )
        lost = len(known.findings) < len(outcome.findings) + len(tuple(at_own_lines(outcome))) or any(
            len(getattr(now, part) or ()) < len(getattr(outcome, part) or ()) for part in MOVED
        )
        return None if lost or (now != outcome and _names_lines(outcome)) else now

    def of_run(self, uri: str) -> tuple[Finding, ...]:
        """What the newest outcome of the document ``uri`` found, in any file."""
        known = self._known.get((uri, ""))
        return known.findings if known else ()

    def beside(self, uri: str) -> list[str]:
        """The names of what was published beside the document's own outcome."""
        return [name for of, name in self._known if of == uri and name]

    def idle_files(self) -> list[str]:
        """The names of the files whose run was ended because it compiled nothing more."""
        ended = (known.outcome for known in self._known.values() if known.outcome.status is Status.IDLE)
        return sorted({Path(outcome.file).name for outcome in ended})

    def findings(self, key: str, with_beside: bool = True) -> tuple[Finding, ...]:
        """What is to be shown in the file ``key``, each (place, code) once, in the order of the text. What is published beside the
        outcome of a document comes after it."""
        runs = sorted(self._known.items(), key=lambda entry: bool(entry[0][1]))
        chosen = (known for (_, beside), known in runs if with_beside or not beside)
        here = (f for known in chosen for f in known.findings if file_key(f.place.file) == key)
        return tuple(sorted(_merged_findings(here, ()), key=lambda finding: _order(finding.place)))

    def regions(self, key: str) -> list[RegionOutcome]:
        """What happened in the regions of the file ``key``."""
        return [
            RegionOutcome(region, known.outcome)
            for (_, beside), known in self._known.items()
            if not beside
            for region in known.regions
            if file_key(region.place.file) == key
        ]

    def functions(self, key: str) -> list[RegionOutcome]:
        """What happened in the functions of the file ``key`` that were compiled."""
        return [
            RegionOutcome(function, known.outcome)
            for (_, beside), known in self._known.items()
            if not beside
            for function in known.functions
            if file_key(function.place.file) == key
        ]

    def dynamic(self, key: str) -> list[DynamicParameter]:
        """The parameters in the file ``key`` with something dynamic."""
        return [p for known in self._known.values() for p in known.dynamic if file_key(p.place.file) == key]

    def files(self) -> set[str]:
        """The keys of the files in which there is something to show."""
        return {file_key(finding.place.file) for known in self._known.values() for finding in known.findings}

    def total(self) -> int:
        """How many findings there are to show, in all files."""
        return sum(len(self.findings(key)) for key in self.files())

    def hidden(self) -> int:
        """How many findings the cap per file left out."""
        return sum(known.outcome.hidden for known in self._known.values())

    def stamp(self, key: str) -> int:
        """A number that changes whenever the findings of the file ``key`` do."""
        return self._stamps.get(key, 0)

    def _replace(self, run: tuple[str, str], known: Known | None) -> set[str]:
        before = self._known.pop(run, None)
        if known is not None:
            self._known[run] = known
        old = _by_file(before.findings if before else ())
        new = _by_file(known.findings if known else ())
        changed = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
        if changed:
            self._count += 1
            self._stamps.update(dict.fromkeys(changed, self._count))
        return changed


def _moved(known: Known, key: str, edits: Iterable[LineEdit] | None) -> Known:
    def here(file: str) -> bool:
        return file_key(file) == key

    if edits is None:
        return replace(
            known,
            findings=tuple(finding for finding in known.findings if not here(finding.place.file)),
            unfiltered=tuple(finding for finding in known.unfiltered if not here(finding.place.file)),
            regions=tuple(region for region in known.regions if not here(region.place.file)),
            functions=tuple(function for function in known.functions if not here(function.place.file)),
            dynamic=tuple(parameter for parameter in known.dynamic if not here(parameter.place.file)),
            compiled=known.compiled and tuple(one for one in known.compiled if not here(one.file)),
        )
    findings, regions, functions, dynamic = known.findings, known.regions, known.functions, known.dynamic
    unfiltered, compiled = known.unfiltered, known.compiled
    for edit in edits:
        findings, unfiltered = _moved_findings(findings, edit, here), _moved_findings(unfiltered, edit, here)
        regions = _moved_regions(regions, edit, here)
        functions = _moved_regions(functions, edit, here)
        dynamic = tuple(_moved_dynamic(dynamic, edit, here))
        compiled = compiled and tuple(_moved_compiled(compiled, edit, here))
    return replace(
        known,
        findings=findings,
        unfiltered=unfiltered,
        regions=regions,
        functions=functions,
        dynamic=dynamic,
        compiled=compiled,
    )


def _moved_findings(findings: tuple[Finding, ...], edit: LineEdit, here: Callable[[str], bool]) -> tuple[Finding, ...]:
    moved = (move_finding(finding, edit, here) for finding in findings)
    return tuple(finding for finding in moved if finding is not None)


def _moved_dynamic(
    dynamic: Iterable[DynamicParameter], edit: LineEdit, here: Callable[[str], bool]
) -> Iterable[DynamicParameter]:
    for parameter in dynamic:
        place = move_place(parameter.place, edit) if here(parameter.place.file) else parameter.place
        if place is not None:
            yield msgspec.structs.replace(parameter, place=place)


def _moved_compiled(
    compiled: Iterable[CompiledFunction], edit: LineEdit, here: Callable[[str], bool]
) -> Iterable[CompiledFunction]:
    for one in compiled:
        if not here(one.file):
            yield one
        elif (place := move_place(Place(one.file, one.line, 1, one.line, 1), edit)) is not None:
            yield msgspec.structs.replace(one, line=place.line)


def _moved_regions(
    regions: tuple[RegionSummary, ...], edit: LineEdit, here: Callable[[str], bool]
) -> tuple[RegionSummary, ...]:
    moved = (move_region(region, edit, here) for region in regions)
    return tuple(region for region in moved if region is not None)


def _names_lines(outcome: Outcome) -> bool:
    """Whether something that is not moved with edits is about lines of the file."""
    words = (
        text
        for finding in outcome.unfiltered or outcome.findings
        for text in (finding.message, finding.explanation, finding.cost, finding.detail, *finding.hints)
    )
    # a line of another file is where it was
    line = re.compile(rf"\blines? \d|\b{re.escape(Path(outcome.file).name)}:\d")
    others = (outcome.calls, outcome.not_called, outcome.passed_over)
    return any(others) or any(line.search(text) for text in (*words, *outcome.notes))


def _merged_findings(first: Iterable[Finding], then: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each (place, code) once, as ``first`` tells it where it does."""
    found: dict[tuple[Place, str], Finding] = {}
    for finding in (*first, *then):
        found.setdefault((finding.place, finding.code), finding)
    return tuple(found.values())


def _merged_regions(first: Iterable[RegionSummary], then: Iterable[RegionSummary]) -> tuple[RegionSummary, ...]:
    first = tuple(first)
    places = {region.place for region in first}
    return (*first, *(region for region in then if region.place not in places))


def _places(outcome: Outcome) -> Iterable[Place]:
    yield from (finding.place for finding in outcome.findings)
    yield from (region.place for region in (*outcome.regions, *outcome.functions))
    yield from (parameter.place for parameter in outcome.dynamic)


def _by_file(findings: Iterable[Finding]) -> Mapping[str, list[Finding]]:
    files: dict[str, list[Finding]] = {}
    for finding in findings:
        files.setdefault(file_key(finding.place.file), []).append(finding)
    return files


def _order(place: Place) -> tuple[int, int, int, int]:
    return place.line, place.column, place.end_line, place.end_column
