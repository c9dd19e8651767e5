"""Finds what a repro is about: the finding, region or frame of a run that the user selected."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from compile_lens.analysis.finding import Finding, Kind, Severity
from compile_lens.analysis.outcome import Outcome
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.repro.capture import CapturedRegion
from compile_lens.repro.expressions import CannotWrite
from compile_lens.syntax.tree import SourceTree
from compile_lens.trace.report import CompileReport

FINDING = re.compile(r"^(?P<code>[\w-]+)?(?:@(?P<line>\d+))?$")
SCRIPT, UNIT_TEST, ISSUE, FOLDER = "script", "unittest", "issue", "folder"


@dataclass(frozen=True, slots=True)
class Selection:
    """What the user selected; empty selects the most important finding. ``finding`` is ``CODE@LINE``, ``CODE`` or ``@LINE``."""

    region: str = ""
    frame: str = ""
    finding: str = ""

    @property
    def title(self) -> str:
        """A phrase for messages."""
        if self.finding:
            return f"finding {self.finding}"
        return f"frame {self.frame}" if self.frame else f"region {self.region}" if self.region else "finding"

    @property
    def where(self) -> str:
        """A phrase for the editor, where the user sees the lines: ``line 6``, `` `step` ``."""
        match = FINDING.match(self.finding) if self.finding else None
        if match is not None and match["line"]:
            return f"line {match['line']}"
        return f"`{self.region}`" if self.region else "the first finding"


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a repro. ``name`` is that of the region."""

    region: CapturedRegion
    name: str
    finding: Finding | None = None
    frames: tuple[str, ...] = ()


def default_name(selection: Selection, file: Path, form: str = SCRIPT) -> str:
    """A file name for the selection: ``repro_GB0059_12.py``, ``test_repro_…py``, ``issue_…md``, or a folder ``issue_…``."""
    about = (
        selection.finding
        or selection.region
        or (f"frame_{selection.frame}" if selection.frame else file.name.partition(".")[0])
    )
    name = re.sub(r"[^0-9A-Za-z]+", "_", about).strip("_") or "region"
    names = {SCRIPT: f"repro_{name}.py", UNIT_TEST: f"test_repro_{name}.py", ISSUE: f"issue_{name}.md"}
    return names.get(form, f"issue_{name}")


def find_selected(outcome: Outcome, selection: Selection) -> Finding | None:
    """The selected finding, or the most important one if nothing is selected. None if there is none."""
    if selection.finding:
        match = FINDING.match(selection.finding)
        if match is None:
            raise CannotWrite(f"'{selection.finding}' is not CODE@LINE, such as GB0059@12.")
        code, line = match["code"], match["line"]
        fitting = [f for f in outcome.findings if (not code or f.code.lower() == code.lower())]
        fitting = [f for f in fitting if not line or f.place.line == int(line)]
        return min(fitting, key=_rank, default=None)
    if selection.frame:
        return min((f for f in outcome.findings if selection.frame in f.frames), key=_rank, default=None)
    if selection.region:
        return None
    return min(
        (f for f in outcome.findings if f.kind.row.repro_order and f.severity is not Severity.HINT),
        key=_rank,
        default=None,
    )


def _rank(finding: Finding) -> tuple[int, bool, int, float]:
    order = finding.kind.row.repro_order or len(Kind)
    return finding.severity.rank, not finding.frames, order, -finding.weight


def find_subject(
    selection: Selection,
    finding: Finding | None,
    captured: tuple[CapturedRegion, ...],
    report: CompileReport,
    file: str,
    tree: SourceTree | None,
) -> Subject:
    """The region that the selection is about. Raises CannotWrite with one sentence if there is none."""
    index = RegionIndex(report, file, tree)
    names = {region.number: _name(region, index, report) for region in captured}
    if not captured:
        raise CannotWrite("The run called no compile region, so there are no inputs for a repro.")
    if selection.region:
        fitting = [region for region in captured if names[region.number] == selection.region]
        if not fitting:
            known = ", ".join(dict.fromkeys(names.values()))
            raise CannotWrite(f"The run did not call a region '{selection.region}'. It called: {known}.")
        return Subject(fitting[0], selection.region)
    frames = (selection.frame,) if selection.frame else finding.frames if finding is not None else ()
    if frames:
        fitting = [region for region in captured if any(set(call.frames) & set(frames) for call in region.calls)]
        fitting = fitting or _by_report(frames, captured, report)
        if not fitting:
            raise CannotWrite(f"Frame {frames[0]} does not belong to a compile region that the run called.")
        return Subject(fitting[0], names[fitting[0].number], finding, frames)
    if finding is not None:
        if finding.kind is Kind.COMPILE_ERROR and report.failed_calls:
            raise CannotWrite(
                f"{finding.code} at line {finding.place.line} comes from {report.failed_calls[0].call}; "
                "repros of exports are not supported."
            )
        region = _at(finding, captured, index) or captured[-1]
        return Subject(region, names[region.number], finding)
    if len(captured) > 1:
        known = ", ".join(dict.fromkeys(names.values()))
        raise CannotWrite(f"There is no finding and more than one region. Choose one with --region: {known}.")
    return Subject(captured[0], names[captured[0].number])


def _by_report(
    frames: tuple[str, ...], captured: tuple[CapturedRegion, ...], report: CompileReport
) -> list[CapturedRegion]:
    numbers = {c.region for c in report.compilations if c.compile_id in frames}
    if len(captured) == 1 and numbers == {None}:
        return list(captured)  # torch 2.6 does not record the region of a frame; there is only one candidate
    return [region for region in captured if region.number in numbers]


def _at(finding: Finding, captured: tuple[CapturedRegion, ...], index: RegionIndex) -> CapturedRegion | None:
    for region in captured:
        found = index.of_call(region.number)
        if found is not None and finding.place.file == index.file:
            first, last = found.target_line or found.line, found.target_end_line or found.end_line
            if first <= finding.place.line <= last or found.line <= finding.place.line <= found.end_line:
                return region
    return None


def _name(region: CapturedRegion, index: RegionIndex, report: CompileReport) -> str:
    found = index.of_call(region.number)
    if found is not None:
        return found.name
    return next((call.name for call in report.regions if call.region == region.number), "region")
