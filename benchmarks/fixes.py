"""How soon after a run the fixes of its findings are verified, in the order in which an editor verifies them, and two at a time."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.table.figure import Figure, Of
from compile_lens.analysis.filters import Filters
from compile_lens.analysis.outcome import Outcome
from compile_lens.fixes.look_ahead import LookAhead
from compile_lens.fixes.next_fix import fixes_of_each
from compile_lens.fixes.verify import Verifier
from compile_lens.lsp.fix_checks import MOST
from compile_lens.pipeline.analyze import analyze
from compile_lens.pipeline.host_pool import HostPool
from compile_lens.pipeline.scheduler import Reason
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job
from compile_lens.workers.room import has_room

EXAMPLES = Path(__file__).parents[1] / "examples"
GOAL_S = 2.0


async def measure() -> list[Figure]:
    """Each example in a standby that has run it before: until each finding has a fix that helps, and until all were tried."""
    hosts: HostPool[Host] = HostPool(Host)
    figures = []
    try:
        second = hosts.second(sys.executable)
        await second.start()
        for file in sorted(EXAMPLES.glob("*.py")):
            figures += await _of(hosts, file, "one at a time")
        if has_room():
            hosts.take_part(sys.executable, second)
            for file in sorted(EXAMPLES.glob("*.py")):
                figures += await _of(hosts, file, "two at a time", GOAL_S)
    finally:
        await hosts.close()
    return figures


async def _of(hosts: HostPool[Host], file: Path, how: str, goal_s: float | None = None) -> list[Figure]:
    text = file.read_text(encoding="utf-8")
    job = Job(str(file), text=text, timeout_s=60.0)
    host = hosts.host(sys.executable)
    await analyze(host, job)
    await analyze(hosts.second(sys.executable), job)
    began = time.perf_counter()
    before = await analyze(host, job)
    run_s = time.perf_counter() - began
    findings = list(before.findings)
    offered = fixes_of_each(text, findings, before.torch)
    verifier = Verifier(_at_either, job, text, before)
    checks = LookAhead(
        offered,
        verifier,
        lambda fix: verifier.find_effect(hosts, fix),
        MOST,
        lambda: hosts.width(sys.executable),
        lambda: verifier.run_eagerly(hosts),
    )
    helped: dict[str, tuple[float, int]] = {}
    began = time.perf_counter()
    async with checks.tried() as fixes:
        async for _ in fixes:
            for each in offered:
                if each.is_served(verifier.known):
                    code = f"{each.finding.code}@{each.finding.place.line}"
                    helped.setdefault(code, (time.perf_counter() - began, len(verifier.known)))
    if not verifier.known:
        return []
    all_s = time.perf_counter() - began
    last_s, tries = max(helped.values(), default=(0.0, 0))
    note = (
        f"{len(helped)} of {len(findings)} findings have one that helps, after {tries} of {len(verifier.known)} tries"
    )
    return [
        Figure(
            f"`{file.name}`, {how}: the last finding with a fix",
            last_s,
            "s",
            run_s,
            "the run",
            goal_s,
            Of.VALUE,
            note,
        ),
        Figure(f"`{file.name}`, {how}: all fixes", all_s, "s", run_s, "the run"),
    ]


async def _at_either(hosts: HostPool[Host], job: Job, on_partial: None, filters: Filters) -> Outcome:
    async with hosts.turn_at_either(sys.executable, Reason.CHECKED) as host:
        return await analyze(host, job, on_partial, filters)
