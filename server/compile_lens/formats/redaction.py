"""Leaves of an outcome what is no secret: codes, places, names of functions, counts and times. What is kept is listed, not what goes."""

from __future__ import annotations

import os
import re

from msgspec.structs import replace

from compile_lens.analysis.finding import CallSite, Finding, Place, RegionSummary
from compile_lens.analysis.outcome import TRACE_ENTRY, Outcome
from compile_lens.diff.identity import relative
from compile_lens.entries.entry import SCRIPT

PACKAGES = re.compile(r"(?m)^.*[/\\](?=(?:site|dist)-packages[/\\])")
RANK = re.compile(r" \(rank \d+\)$")
STOPPED = "Nothing could be analyzed (the reason was left out)."


def redacted(outcome: Outcome, root: str) -> Outcome:
    """``outcome`` without source text, values and messages of the program; paths are relative to ``root``."""
    return Outcome(
        file=_name(outcome, root),
        python="",
        torch=outcome.torch,
        depth=outcome.depth,
        entry=outcome.entry if outcome.entry in (SCRIPT, TRACE_ENTRY) else "",
        status=outcome.status,
        duration_s=outcome.duration_s,
        regions=tuple(_region(region, root) for region in outcome.regions),
        findings=tuple(_finding(finding, root) for finding in outcome.findings),
        hidden=outcome.hidden,
        known=outcome.known,
        graphs=outcome.graphs,
        compile_time_s=outcome.compile_time_s,
        failure=STOPPED if outcome.failure else "",
        functions=tuple(_region(function, root) for function in outcome.functions),
        counts=outcome.counts,
        compared=outcome.compared,
        sandbox=outcome.sandbox,
        ranks=outcome.ranks,
        compiled=tuple(replace(one, file=_path(one.file, root)) for one in outcome.compiled)
        if outcome.compiled is not None
        else None,
    )


def _name(outcome: Outcome, root: str) -> str:
    """The file of a run. A trace may be named by the command that wrote it, with its arguments."""
    if outcome.entry != TRACE_ENTRY:
        return _path(outcome.file, root)
    rank = RANK.search(outcome.file)
    return f"trace{rank[0]}" if rank is not None else "trace"


def _finding(finding: Finding, root: str) -> Finding:
    return Finding(
        code=finding.code,
        kind=finding.kind,
        severity=finding.severity,
        message=f"{finding.kind.row.title} ({finding.code})",
        place=_place(finding.place, root),
        count=finding.count,
        frames=finding.frames,
        call_path=tuple(CallSite(_place(site.place, root), site.function, "") for site in finding.call_path),
        url=finding.url,
        weight=finding.weight,
        stage=finding.stage,
        remedy=finding.remedy,
    )


def _region(region: RegionSummary, root: str) -> RegionSummary:
    return RegionSummary(
        region.name,
        _place(region.place, root),
        region.graphs,
        region.breaks,
        region.recompiles,
        region.compile_time_s,
        region.frames,
    )


def _place(place: Place, root: str) -> Place:
    return Place(_path(place.file, root), place.line, place.column, place.end_line, place.end_column)


def _path(file: str, root: str) -> str:
    """``file`` without folders of the machine: relative to ``root``, or from its package on, or its name."""
    if (inside := relative(file, root)) != file:
        return inside
    packaged = PACKAGES.sub("", file)
    return packaged if packaged != file else os.path.basename(file)  # noqa: PTH119 - a path of another machine stays text
