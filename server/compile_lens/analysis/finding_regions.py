"""Which findings are of a compile region: those of its frames, and those at its lines."""

from __future__ import annotations

from collections.abc import Collection

from compile_lens.analysis.finding import Finding
from compile_lens.syntax.regions import Region


def is_of_region(finding: Finding, region: Region, frames: Collection[str]) -> bool:
    """Whether ``finding`` of the region's file is of ``region``, whose frames in the run are ``frames``."""
    first, last = region.target_line or region.line, region.target_end_line or region.end_line
    is_within = min(first, region.line) <= finding.place.line <= max(last, region.end_line)
    return is_within or not set(frames).isdisjoint(finding.frames)
