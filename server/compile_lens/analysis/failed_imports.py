"""Shows an error of an imported module at the line of the analyzed file that led to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from compile_lens.analysis.finding import Finding, Kind, Related, Severity
from compile_lens.analysis.outcome import Outcome


def at_own_lines(outcome: Outcome) -> Iterator[Finding]:
    """For each error that ended the run in another file, the same error where the analyzed file called or imported it.

    Someone who looks at the analyzed file would see nothing otherwise: that other file need not be open.
    """
    for finding in outcome.findings:
        if finding.kind is not Kind.RUN_ERROR or finding.severity is not Severity.ERROR:
            continue
        if finding.place.file == outcome.file:
            continue
        sites = [site for site in finding.call_path if site.place.file == outcome.file]
        if sites:
            where = f"{Path(finding.place.file).name}:{finding.place.line}"
            yield replace(
                finding,
                message=f"{finding.message.rstrip('.')} (at {where}).",
                place=sites[-1].place,
                related=(Related(finding.place, "The error was raised here"), *finding.related),
            )
