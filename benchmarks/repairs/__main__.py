"""Analyzes the programs, tries the fixes for each finding until one helps, and writes docs/repairs.md.

What is done is kept in a file, so that a run can be continued. ``--page`` only writes the page from it.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.repairs.page import write_page
from benchmarks.repairs.plain import plainly
from benchmarks.repairs.programs import Program, all_programs
from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import FixKind, apply_fix, tokens_changed
from compile_lens.fixes.offer import fixes_for
from compile_lens.fixes.verify import CandidateFix, Verifier, can_compare, why_not_verified
from compile_lens.pipeline.analyze import analyze
from compile_lens.syntax.tree import parse
from compile_lens.workers.host import Host
from compile_lens.workers.job import Job

KINDS = (Kind.GRAPH_BREAK, Kind.RECOMPILE, Kind.RECOMPILE_LIMIT, Kind.COMPILE_ERROR)
KEPT = Path(".cache/repairs.jsonl")
PLAIN = 30


@dataclass
class Row:
    """One finding of a program, and what came of its fixes. ``fix`` is the best one that helps, '' for none.

    ``tried`` are the rules that were tried, ``why`` says what each did. ``plain`` is what torch's raw trace says of the fixed program.
    """

    group: str
    program: str
    text: str
    kind: str
    code: str
    message: str
    fix: str = ""
    fix_kind: str = ""
    effect: str = ""
    equal: bool | None = None
    tokens: int = 0
    seconds: float = 0.0
    tried: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    fixed: str = ""
    plain: str = ""


async def repair(host: Host, program: Program, folder: Path) -> list[Row]:
    """A row for each break and recompile of a program in its own file."""
    file = folder / "program.py"
    file.write_text(program.text, encoding="utf-8")
    job = Job(str(file), text=program.text, timeout_s=60.0)
    before = await analyze(host, job)
    digest = hashlib.sha256(program.text.encode()).hexdigest()[:12]
    rows = []
    findings = [f for f in before.unfiltered if f.kind in KINDS and f.place.file == str(file)]
    verifier = Verifier(analyze, job, program.text, before)
    for finding in findings:
        row = Row(program.group, program.name, digest, finding.kind.value, finding.code, finding.message)
        started = time.monotonic()
        if can_compare(before, longest_s=30.0):
            await _try(host, verifier, finding, row)
        else:
            row.why = (why_not_verified(before, longest_s=30.0),)
        row.seconds = round(time.monotonic() - started, 2)
        rows.append(row)
    return rows or [Row(program.group, program.name, digest, "", "", before.status.value)]


async def _try(host: Host, verifier: Verifier, finding: Finding, row: Row) -> None:
    """Try fixes until one that changes nothing else helps; leaving code out of compilation counts as less."""
    tried: list[CandidateFix] = []
    fixes = [
        fix
        for fix in fixes_for(finding, parse(verifier.text), verifier.before.unfiltered)
        if fix.kind not in (FixKind.IGNORE, FixKind.UNSAFE)
    ]
    for fix in fixes:
        effect = await verifier.effect(host, fix)
        tried.append(CandidateFix(finding, fix, effect, tokens_changed(verifier.text, fix)))
        if tried[-1].helps and fix.kind is FixKind.CHANGE:
            break
    row.tried = tuple(candidate.fix.rule for candidate in tried)
    row.why = tuple(f"{candidate.fix.rule}: {candidate.words}" for candidate in tried)
    best = min((each for each in tried if each.helps), key=lambda c: c.rank, default=None)
    if best is not None and best.effect is not None:
        row.fix, row.fix_kind, row.effect = best.fix.rule, best.fix.kind.value, best.words
        row.equal, row.tokens = best.effect.results.equal, best.tokens
        row.fixed = apply_fix(verifier.text, best.fix)


async def run(only: str, limit: int) -> None:
    """Go on where an earlier run stopped."""
    known = {(row["program"], row["text"]) for row in kept()}
    host = Host(sys.executable)
    done = 0
    with tempfile.TemporaryDirectory() as folder, KEPT.open("a", encoding="utf-8") as file:  # noqa: ASYNC230 - nothing else runs
        for program in all_programs():
            digest = hashlib.sha256(program.text.encode()).hexdigest()[:12]
            if (program.name, digest) in known or only not in f"{program.group} {program.name}" or done >= limit:
                continue
            done += 1
            for row in await repair(host, program, Path(folder)):
                file.write(json.dumps(asdict(row)) + "\n")
                file.flush()
                print(f"{row.program}: {row.code} {row.fix or '-'} ({row.fix_kind}) {row.effect or row.why}")
    await host.close()


def kept() -> list[dict[str, object]]:
    """The rows so far."""
    return [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines()] if KEPT.exists() else []


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repairs", description=__doc__)
    parser.add_argument("--only", default="", help="Programs whose group or name contains this.")
    parser.add_argument("--limit", type=int, default=10_000, help="At most so many programs.")
    parser.add_argument(
        "--plain", type=int, default=0, help="Run so many fixed programs plainly, with torch's own log."
    )
    parser.add_argument("--page", action="store_true", help="Only write the page.")
    options = parser.parse_args()
    KEPT.parent.mkdir(exist_ok=True)
    if options.plain:
        rows = kept()
        plainly(rows, options.plain)
        KEPT.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif not options.page:
        asyncio.run(run(options.only, options.limit))
    write_page(kept())
