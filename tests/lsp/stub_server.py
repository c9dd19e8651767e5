"""A server whose analysis is scripted by comments in the file, so that tests of the protocol need neither torch nor time.

``# finding CODE`` makes a finding of that line; ``# in FILE LINE`` makes one in another file; ``# partial`` anywhere
publishes the first finding before the rest; ``# compiles FILE`` compiles the regions of another file, too;
``# skip NAME`` leaves a region out; ``# wait`` goes on once the file's ``.go`` is there; ``# hang`` runs until it
is cancelled; ``# fail SENTENCE`` cannot be analyzed; ``# crash`` is a bug of ours. An interpreter below a folder
``torchless`` has no torch. ``# traced as FILE`` says what torch is to have written.
``# check hangs`` is ``# hang`` for the check of a fix alone.
Each run and each host says what it does on standard error.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from compile_lens.agent.runtime.protocol import Hello
from compile_lens.analysis.filters import Filters, apply
from compile_lens.analysis.finding import CallSite, Finding, Kind, Place, RegionSummary, Related, Severity
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.lsp.serving import create_server, serve
from compile_lens.pipeline.analyze import NO_FILTERS
from compile_lens.syntax.regions import find_regions
from compile_lens.syntax.tree import parse
from compile_lens.workers.host import HostError
from compile_lens.workers.job import Job
from compile_lens.workers.wire import Frame, TraceRecord


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class StubHost:
    """A host that starts at once, unless its interpreter is a folder without torch."""

    def __init__(self, python: str) -> None:
        self.python = python
        self.hello: Hello | None = None
        self.agent_folder = ""

    async def start(self) -> None:
        if self.hello is None:
            say(f"start {self.python}")
        if "torchless" in self.python:
            raise HostError(
                f"{self.python} has no torch. Choose an interpreter that has it, or install torch in this one."
            )
        self.hello = Hello(0, "2.13.0", "3.11", True, 0.0, ())

    async def close(self) -> None:
        say(f"close {self.python}")


def finding(file: str, line: int, text: str, code: str) -> Finding:
    column = len(text) - len(text.lstrip()) + 1
    end = len(text.split("#")[0].rstrip()) + 1
    place = Place(file, line, column, line, end)
    return Finding(
        code=code,
        kind=Kind.GRAPH_BREAK,
        severity=Severity.WARNING,
        message=f"Graph break {code}",
        place=place,
        explanation="Dynamo does not know *this*.",
        hints=("Move it out.", "Use torch.cond."),
        count=2 if code.endswith("2") else 1,
        frames=("0/0",),
        related=(Related(Place(file, 1, 1, 1, 7), "the import"),),
        call_path=(CallSite(place, "main", text.strip()),),
        url=f"https://example.invalid/{code.lower()}",
        cost="one more graph",
        detail="Traceback: __init__",
    )


async def analyze(
    host: StubHost,
    job: Job,
    on_partial: Callable[[Outcome], None] | None = None,
    filters: Filters = NO_FILTERS,
    watch: Callable[[Frame], None] = lambda _: None,
) -> Outcome:
    try:
        text = job.text if job.text is not None else Path(job.file).read_text()
    except OSError:
        return Outcome(job.file, host.python, "", "", "", Status.FAILED, 0.0, failure=f"{job.file}: no such file.")
    # the check of a fix tells nothing while it runs
    what = "check" if on_partial is None else "run"
    compared = " compared" if job.compare else ""
    varied = f" varied={list(job.vary.names)}" if job.vary is not None else ""
    unsaved = job.text is not None
    say(
        f"{what} {Path(job.file).name} unsaved={unsaved} argv={list(job.argv)} depth={job.depth.value}{compared}{varied}"
    )
    if on_partial is not None:
        say(f"entry {job.entry}")
    findings = [
        finding(job.file, number, line, match[1])
        for number, line in enumerate(text.split("\n"), 1)
        if (match := re.search(r"# finding (\w+)", line))
    ]
    for name, line in re.findall(r"# in (\S+) (\d+)", text):
        other = str(Path(job.file).parent / name)
        findings.append(finding(other, int(line), Path(other).read_text().split("\n")[int(line) - 1], "GB0099"))
    compiled = [str(Path(job.file).parent / name) for name in re.findall(r"# compiles (\S+)", text)]
    filtered = apply(tuple(findings), filters, job.file, lambda _: parse(text), True)
    outcome = Outcome(
        file=job.file,
        python=host.python,
        torch="2.13.0",
        depth=job.depth.value,
        entry=job.entry,
        status=Status.OK,
        duration_s=1.25,
        findings=filtered.findings,
        hidden=sum(filtered.hidden.values()),
        unfiltered=tuple(findings),
        regions=tuple(
            RegionSummary(r.name, Place(path, r.line, r.column, r.end_line, r.end_column), 2, 1, 0, 0.5, ("0/0", "1/0"))
            for path, source in [(job.file, text), *((other, Path(other).read_text()) for other in compiled)]
            for r in find_regions(source)
            if f"# skip {r.name}\n" not in source
        ),
    )
    if match := re.search(r"# traced as (\S+)", text):
        watch(TraceRecord(Path(job.file).with_name(match[1]).read_bytes()))
    if "# partial" in text and on_partial is not None:
        on_partial(replace(outcome, findings=outcome.findings[:1], final=False))
    if "# hang" in text or (on_partial is None and "# check hangs" in text):
        try:
            await asyncio.Event().wait()
        finally:
            say(f"cancelled {Path(job.file).name}")
    while "# wait" in text and not Path(job.file).with_suffix(".go").exists():
        await asyncio.sleep(0.01)
    if "# crash" in text:
        raise ZeroDivisionError("a bug of ours")
    if match := re.search("# fail (.+)", text):
        return replace(outcome, status=Status.FAILED, failure=match[1], findings=(), regions=())
    return outcome


if __name__ == "__main__":
    sys.exit(serve(server=create_server(StubHost, analyze)))
