"""Writes a report for maintainers as one folder: text, repro, smaller repro, bisection, environment, and a link to a new issue."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote_plus

from compile_lens.repro.beside import copy_values
from compile_lens.repro.bisect import BisectOptions, bisect
from compile_lens.repro.contract import Criterion
from compile_lens.repro.history import remember
from compile_lens.repro.issue import collect_versions, issue_sections, issue_title
from compile_lens.repro.minify import MinifyOptions, minify
from compile_lens.repro.script_runs import ScriptRuns
from compile_lens.repro.source import COMPILED, JUDGED, RULE
from compile_lens.repro.verdict import Bisection
from compile_lens.repro.write import Written
from compile_lens.shown_text import code_block
from compile_lens.state.atomic_file import write_beside
from compile_lens.workers.host import Host

REPORT, LINK, ENVIRONMENT, BISECTION = "issue.md", "new-issue.url.txt", "environment.txt", "bisection.json"
# Dynamo alone breaks graphs and recompiles: no other part can be at fault
SEARCHED = frozenset({Criterion.RAISES, Criterion.DIFFERS, Criterion.CRASHES, Criterion.ANY})
# the lines of torch's environment report that a link has room for
NAMED = ("PyTorch version", "Python version", "OS:", "CUDA used", "ROCM used")


@dataclass(frozen=True, slots=True)
class IssueFolder:
    """A folder on disk. ``link`` opens a new issue with the report filled in; ``said`` are the results of the searches."""

    folder: Path
    title: str
    link: str
    said: tuple[str, ...]


async def write_issue_folder(
    host: Host,
    written: Written,
    folder: Path,
    bisection: Bisection | None,
    limit_s: float,
    progress: Callable[[str], None] = lambda _: None,
) -> IssueFolder:
    """Minify and bisect the repro ``written`` where its problem occurs, and write everything to ``folder``, which is made.

    ``bisection`` is one that the user has. ``limit_s`` limits each of the searches. Raises HostError and OSError.
    """
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    said: list[str] = []
    code, file = written.script.body, written.file
    if written.reproduces:
        smaller, sentence = await _smaller(host, written, folder, limit_s, progress)
        said.append(f"Minified: {sentence}")
        if smaller is not None:
            file, code = smaller
    if bisection is None and written.reproduces and written.expected.criterion in SEARCHED:
        progress(f"bisecting {written.file.name}")
        bisection = await bisect(host, written.file, BisectOptions(limit_s=limit_s))
        remember(bisection)
    if bisection is not None:
        said.append(f"Bisected: {bisection.sentence}")
    progress("collecting versions")
    versions = await collect_versions(ScriptRuns(host, written.job))
    reported = replace(written, file=file)
    sections = await asyncio.to_thread(issue_sections, reported, versions, bisection, code)
    title = issue_title(written)
    link = issue_link(title, _in_link(sections, code, versions), REPORT)
    files = {REPORT: "\n\n".join(sections) + "\n", ENVIRONMENT: f"{versions}\n", LINK: f"{link}\n"}
    if bisection is not None:
        files[BISECTION] = bisection.to_json() + "\n"
    await asyncio.to_thread(_write, folder, written, files)
    return IssueFolder(folder, title, link, tuple(said))


async def _smaller(
    host: Host, written: Written, folder: Path, limit_s: float, progress: Callable[[str], None]
) -> tuple[tuple[Path, str] | None, str]:
    """The file and the code of the smaller repro, if there is one that fails in the same way; and what came of the search."""
    progress(f"minifying {written.file.name}")
    target = folder / f"{written.file.stem}_min.py"
    options = MinifyOptions(limit_s=limit_s)
    found = await minify(host, written.file, target.with_suffix(".pt"), options, lambda now: progress(str(now)))
    if not found.text or not found.verified:
        return None, found.sentence
    await asyncio.to_thread(write_beside, target, found.text)
    lines = found.text.splitlines(keepends=True)
    return (target, "".join(itertools.dropwhile(lambda line: line.startswith("#"), lines))), found.sentence


def _in_link(sections: list[str], code: str, versions: str) -> list[str]:
    """The report in short: what is compiled without how it is judged, and the first versions."""
    subject = code.partition(RULE.format(COMPILED))[2].partition(RULE.format(JUDGED))[0].strip()
    kept = [section for section in sections[1:] if not section.startswith(("## Minimal", "## Logs", "## Versions"))]
    first = "\n".join(line for line in versions.splitlines() if line.startswith(NAMED))
    described, *others = kept
    what = [f"## What is compiled\n\n{code_block(subject, 'python')}"] if subject else []
    return [described, *what, f"## Versions\n\n{code_block(first, '')}", *others]


def _write(folder: Path, written: Written, files: dict[str, str]) -> None:
    for name, text in files.items():
        write_beside(folder / name, text)
    if written.data is not None and written.data.parent != folder:
        copy_values(written.data, folder / written.data.name)


NEW_ISSUE = "https://github.com/pytorch/pytorch/issues/new"
# GitHub answers 414 to longer ones (8 KiB)
LONGEST_URL = 8_000
LONGEST_TITLE = 200
CUT = "\n\n*The rest of the report is in `{file}`: paste it here, or attach the file.*\n"


def issue_link(title: str, sections: Sequence[str], file: str) -> str:
    """The link, with as many leading ``sections`` of the report as its length allows; ``file`` has all of them.

    PyTorch's issue forms take no values from a link, so it opens a blank issue.
    """
    title = title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"
    link = f"{NEW_ISSUE}?title={quote_plus(title)}&body="
    body = "\n\n".join(sections)
    if len(link) + len(quote_plus(body)) <= LONGEST_URL:
        return link + quote_plus(body)
    rest = quote_plus(CUT.format(file=file))
    kept = ""
    for section in sections:
        longer = kept + quote_plus(f"{section}\n\n")
        if len(link) + len(longer) + len(rest) > LONGEST_URL:
            break
        kept = longer
    return f"{link}{kept}{rest}"
