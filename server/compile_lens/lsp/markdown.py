"""Findings and regions as Markdown for hovers, readable as plain text, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import dedent

from compile_lens.analysis.finding import CallSite, Finding, Place, RegionSummary
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.pipeline.results import RegionResult
from compile_lens.shown_text import code_block, code_span, link, markdown_text
from compile_lens.wording import and_more, counted

FRAMES_SHOWN = 6
DETAIL_LINES = 30
UriOf = Callable[[str], str]


def finding_markdown(finding: Finding, uri_of: UriOf) -> str:
    """Explanation, cost, hints and call path of a finding. The editor shows the message itself."""
    parts = [_headline(finding), prose(finding.explanation or finding.message)]
    if finding.cost:
        parts.append(f"**Cost:** {markdown_text(finding.cost)}")
    if finding.hints:
        parts.append("**What to do**\n\n" + "\n".join(f"- {markdown_text(hint)}" for hint in finding.hints))
    if finding.call_path:
        parts.append("**Call path**\n\n" + "\n".join(_levels(finding.call_path, uri_of)))
    parts += [f"{markdown_text(entry.message)}: {_link(entry.place, uri_of)}" for entry in finding.related]
    if finding.detail:
        parts.append(_fenced(finding.detail))
    if finding.url:
        parts.append(link(f"More about {finding.code}", finding.url))
    return "\n\n".join(parts)


def region_markdown(results: Sequence[RegionResult]) -> str:
    """What the last run did in one region, which may have compiled several functions or modules."""
    return "\n\n---\n\n".join(_region(result.summary, result.outcome) for result in results)


def prose(value: str) -> str:
    """Plain text of several lines. Lines indented by four or more columns are code, as in a docstring."""
    blocks = groupby(value.strip().splitlines(), key=lambda line: line.startswith("    "))
    parts = (_fenced(dedent("\n".join(lines))) if indented else _paragraphs(lines) for indented, lines in blocks)
    return "\n\n".join(part for part in parts if part)


def _headline(finding: Finding) -> str:
    facts = [f"**{finding.kind.row.title}** {code_span(finding.code)}"]
    if finding.count > 1:
        facts.append(f"{finding.count} times")
    if finding.frames:
        facts.append(_frames(finding.frames))
    return " · ".join(facts)


def _frames(frames: Sequence[str]) -> str:
    shown = ", ".join(code_span(frame) for frame in frames[:FRAMES_SHOWN])
    more = and_more(len(frames) - FRAMES_SHOWN)
    return f"{'frame' if len(frames) == 1 else 'frames'} {shown}{more}"


def _levels(path: Sequence[CallSite], uri_of: UriOf) -> Iterable[str]:
    for number, site in enumerate(path, 1):
        source = f": {code_span(site.text)}" if site.text.strip() else ""
        yield f"{number}. {_link(site.place, uri_of)} in {code_span(site.function)}{source}"


def _link(place: Place, uri_of: UriOf) -> str:
    return link(f"{Path(place.file).name}:{place.line}", f"{uri_of(place.file)}#L{place.line}")


def _paragraphs(lines: Iterable[str]) -> str:
    return "\n".join(markdown_text(line) for line in lines).strip()


def _fenced(detail: str) -> str:
    lines = detail.strip("\n").splitlines()
    if len(lines) > DETAIL_LINES:
        left_out = len(lines) - DETAIL_LINES
        lines = [f"… {counted(left_out, 'line')} omitted …", *lines[-DETAIL_LINES:]]
    return code_block("\n".join(lines))


def _region(region: RegionSummary, outcome: Outcome) -> str:
    counts = [
        counted(region.graphs, "graph"),
        counted(region.breaks, "graph break"),
        counted(region.recompiles, "recompile"),
    ]
    if not region.frames:
        counts = ["not compiled in the last run"]
    elif region.compile_time_s:
        counts.append(f"compiled in {_seconds(region.compile_time_s)}")
    lines = [f"**{code_span(region.name)}** · " + " · ".join(counts)]
    if region.frames:
        lines.append(_frames(region.frames).capitalize())
    lines.append(_run(outcome))
    return "\n\n".join(lines)


def _run(outcome: Outcome) -> str:
    if not outcome.final:
        return "*Still running.*"
    ends = {
        Status.RAISED: "; the program raised an exception",
        Status.TIMEOUT: "; stopped at the time limit",
        Status.KILLED: "; the program was killed",
    }
    end = ends.get(outcome.status, "")
    torch = f", torch {markdown_text(outcome.torch)}" if outcome.torch else ""
    return f"*Last run: {_seconds(outcome.duration_s)}, depth {outcome.depth}{torch}{end}.*"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
