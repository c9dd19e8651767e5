"""Findings and regions as Markdown for hovers, readable as plain text, too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import dedent

from compile_lens.analysis.finding import CallSite, Finding, Kind, Place, RegionSummary
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.lsp.convert import sentence
from compile_lens.lsp.internal_frames import without_internal_frames
from compile_lens.pipeline.results import RegionOutcome
from compile_lens.shown_text import code_block, code_span, link, markdown_text
from compile_lens.wording import and_more, counted
from compile_lens.workers.job import Depth

FRAMES_SHOWN = 6
DETAIL_LINES = 30
UriOf = Callable[[str], str]


def finding_markdown(
    finding: Finding, uri_of: UriOf, fixes: Sequence[str] = (), says_message: bool = True, whole: bool = False
) -> str:
    """What happened, why, what to do about it, what it costs, and then the rest.

    ``fixes`` are Markdown for the fixes that can be applied. Without ``says_message``, the reader sees the message already.
    ``whole``: tracebacks with the compiler's own frames.
    """
    why, more = _why(finding)
    parts = [*([_headline(finding), markdown_text(sentence(finding))] if says_message else []), why]
    to_do = [*fixes, *(markdown_text(hint) for hint in finding.hints)]
    if to_do:
        parts.append("**What to do**\n\n" + "\n".join(f"- {entry}" for entry in to_do))
    if finding.cost:
        parts.append(f"**Cost:** {markdown_text(finding.cost)}")
    parts.append(more)
    if finding.call_path:
        parts.append("**Call path**\n\n" + "\n".join(_levels(finding.call_path, uri_of)))
    parts += [f"{markdown_text(entry.message)}: {_link(entry.place, uri_of)}" for entry in finding.related]
    if detail := finding.detail if whole else _detail(finding):
        parts.append(_fenced(detail))
    last = [_frames(finding.frames).capitalize()] if finding.frames else []
    if finding.url:
        last.append(link(f"More about {finding.code}", finding.url))
    parts.append(" · ".join(last))
    return "\n\n".join(part for part in parts if part)


def _detail(finding: Finding) -> str:
    """The evidence for a hover. The traceback of a compile error is the compiler's own, and its words are the explanation."""
    is_told = finding.kind is Kind.COMPILE_ERROR and bool(finding.explanation)
    return "" if is_told else without_internal_frames(finding.detail)


def _why(finding: Finding) -> tuple[str, str]:
    """The paragraph that explains the finding, and the others."""
    paragraphs = [part for part in re.split(r"\n\s*\n", finding.explanation.strip()) if part.strip()]
    first = next((part for part in paragraphs if not part.startswith("Stage:")), "")
    others = [part for part in paragraphs if part is not first]
    return prose(first), prose("\n\n".join(others))


def region_markdown(results: Sequence[RegionOutcome]) -> str:
    """What the last run did in one region, which may have compiled several functions or modules."""
    return "\n\n---\n\n".join(_region(result.summary, result.outcome) for result in results)


def prose(value: str) -> str:
    """Plain text of several lines. Lines indented by four or more columns are code, as in a docstring."""
    blocks = groupby(value.strip().splitlines(), key=lambda line: line.startswith("    "))
    parts = (_fenced(dedent("\n".join(lines))) if indented else _paragraphs(lines) for indented, lines in blocks)
    return "\n\n".join(part for part in parts if part)


def _headline(finding: Finding) -> str:
    return f"**{finding.kind.row.title}** {code_span(finding.code)}"


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
    if not region.frames:
        counts = ["not compiled in the last run"]
    elif not region.graphs:
        counts = ["no graph"]
    else:
        counts = [counted(region.graphs, "graph")]
    counts += [counted(number, noun) for number, noun in _events(region) if number]
    if is_compile_time(region, outcome):
        counts.append(f"compiled in {_seconds(region.compile_time_s)}")
    lines = [f"**{code_span(region.name)}** · " + " · ".join(counts)]
    if region.frames:
        lines.append(_frames(region.frames).capitalize())
    lines.append(_run(outcome))
    return "\n\n".join(lines)


def _events(region: RegionSummary) -> tuple[tuple[int, str], ...]:
    return (region.breaks, "graph break"), (region.recompiles, "recompile")


def is_compile_time(region: RegionSummary, outcome: Outcome) -> bool:
    """Whether the seconds of a region are those that its user waits: a run that stops after Dynamo compiles less, and what it does
    take is mostly the import of the compiler."""
    return outcome.depth == Depth.INDUCTOR.value and region.graphs > 0 and region.compile_time_s >= 0.05


def _run(outcome: Outcome) -> str:
    if not outcome.final:
        return "*Still running.*"
    ends = {
        Status.RAISED: "; the program raised an exception",
        Status.TIMEOUT: "; stopped at the time limit",
        Status.KILLED: "; the program was killed",
        Status.IDLE: "; stopped early, because it compiled nothing more (`compileLens.budget.idle`)",
    }
    end = ends.get(outcome.status, "")
    torch = f", torch {markdown_text(outcome.torch)}" if outcome.torch else ""
    return f"*Last run: {_seconds(outcome.duration_s)}, depth {outcome.depth}{torch}{end}.*"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
