"""How soon after a run the fixes of its findings are verified, in the order in which an editor verifies them."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from benchmarks.table.figure import Figure, Of
from compile_lens.fixes.fix import FixKind
from compile_lens.fixes.offer import fixes_for
from compile_lens.fixes.verify import CandidateFix, Verifier
from compile_lens.lsp.fix_checks import candidates_in_turn
from compile_lens.pipeline.analyze import analyze
from compile_lens.syntax.tree import parse
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
    tree, findings = parse(text), list(before.findings)
    offered = {finding: set(fixes_for(finding, tree, findings)) for finding in findings}
    verifier = Verifier(analyze, job, text, before)
    helped: dict[str, float] = {}
    began, tried = time.perf_counter(), 0
    for fix in candidates_in_turn(text, findings):
        effect = await verifier.effect(host, fix)
        tried += 1
        for finding, fixes in offered.items():
            if fix in fixes and fix.kind is FixKind.CHANGE and CandidateFix(finding, fix, effect).is_proven:
                helped.setdefault(f"{finding.code}@{finding.place.line}", time.perf_counter() - began)
    if not tried:
        return []
    all_s = time.perf_counter() - began
    note = f"{len(helped)} of {len(findings)} findings have one that helps; {tried} fixes tried"
    return [
        Figure(
            f"`{file.name}`: the last finding with a fix",
            max(helped.values(), default=0.0),
            "s",
            run_s,
            "the run",
            GOAL_S,
            Of.VALUE,
            note,
        ),
        Figure(f"`{file.name}`: all fixes", all_s, "s", run_s, "the run"),
    ]
