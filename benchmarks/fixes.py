"""How soon after a run the fixes of its findings are verified, in the order in which an editor verifies them."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.table.figure import Figure, Of
from compile_lens.fixes.next_fix import fixes_of_each, next_fix
from compile_lens.fixes.verify import Verifier
from compile_lens.lsp.fix_checks import MOST
from compile_lens.pipeline.analyze import analyze
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job

EXAMPLES = Path(__file__).parents[1] / "examples"
GOAL_S = 2.0


async def measure() -> list[Figure]:
    """Each example in a standby that has run it before: until each finding has a fix that helps, and until all were tried."""
    host = Host(sys.executable)
    figures = []
    try:
        for file in sorted(EXAMPLES.glob("*.py")):
            figures += await _of(host, file)
    finally:
        await host.close()
    return figures


async def _of(host: Host, file: Path) -> list[Figure]:
    text = file.read_text(encoding="utf-8")
    job = Job(str(file), text=text, timeout_s=60.0)
    await analyze(host, job)
    began = time.perf_counter()
    before = await analyze(host, job)
    run_s = time.perf_counter() - began
    findings = list(before.findings)
    offered = fixes_of_each(text, findings, before.torch)
    verifier = Verifier(analyze, job, text, before)
    helped: dict[str, tuple[float, int]] = {}
    began = time.perf_counter()
    while len(verifier.known) < MOST and (fix := next_fix(offered, verifier.known)) is not None:
        await verifier.effect(host, fix)
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
            f"`{file.name}`: the last finding with a fix",
            last_s,
            "s",
            run_s,
            "the run",
            GOAL_S,
            Of.VALUE,
            note,
        ),
        Figure(f"`{file.name}`: all fixes", all_s, "s", run_s, "the run"),
    ]
