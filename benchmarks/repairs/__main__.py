"""Analyzes the programs, tries the fixes for each finding until one helps, and writes docs/repairs.md.

What came of each program is kept in benchmarks/results/repairs.jsonl. Programs that are new, or whose text has changed, are run;
``--again`` also runs those whose rows were made with another commit. ``--page`` only writes the page.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.repairs.kept import (
    FIXED,
    KEPT,
    Row,
    Version,
    alone,
    changing,
    digest,
    digest_of,
    is_current,
    of_present_programs,
    read_rows,
    renewed,
    this_version,
)
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
# a busy machine is slow, which is no property of a fix
LONGEST_S = 300.0


async def repair(host: Host, program: Program, folder: Path, version: Version) -> list[Row]:
    """A row for each break and recompile of a program in its own file."""
    file = folder / "program.py"
    file.write_text(program.text, encoding="utf-8")
    job = Job(str(file), text=program.text, timeout_s=LONGEST_S)
    before = await analyze(host, job)
    blank = Row(
        program.group,
        program.name,
        digest(program),
        "",
        "",
        before.status.value,
        commit=version.commit,
        day=version.day,
    )
    rows = []
    findings = [f for f in before.unfiltered if f.kind in KINDS and f.place.file == str(file)]
    verifier = Verifier(analyze, job, program.text, before)
    for finding in findings:
        row = replace(blank, kind=finding.kind.value, code=finding.code, message=finding.message)
        started = time.monotonic()
        if can_compare(before, LONGEST_S):
            await _try(host, verifier, finding, row)
        else:
            row.why = (why_not_verified(before, LONGEST_S),)
        row.seconds = round(time.monotonic() - started, 2)
        rows.append(row)
    return rows or [blank]


async def _try(host: Host, verifier: Verifier, finding: Finding, row: Row) -> None:
    """Try fixes until one that changes nothing else helps; leaving code out of compilation counts as less."""
    tried: list[CandidateFix] = []
    fixes = [
        fix
        for fix in fixes_for(finding, parse(verifier.text), verifier.before.unfiltered, verifier.before.torch)
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
        FIXED.mkdir(parents=True, exist_ok=True)
        text = apply_fix(verifier.text, best.fix)
        row.fixed = digest_of(text)
        row.fixed_file.write_text(text, encoding="utf-8")


async def run(wanted: Callable[[Program], bool], limit: int, again: bool) -> None:
    """Run the programs that are ``wanted`` and have no current rows; each program's rows are kept as soon as it is done."""
    version = this_version()
    host = Host(sys.executable)
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        for program in all_programs():
            if (
                not wanted(program)
                or is_current(read_rows(), program, version.commit if again else "")
                or done >= limit
            ):
                continue
            done += 1
            new = await repair(host, program, Path(folder), version)
            with changing() as rows:
                rows[:] = renewed(rows, program, new)
            for row in new:
                print(
                    f"{row.program}: {row.code} {row.fix or '-'} ({row.fix_kind}) {row.effect or row.why}", flush=True
                )
    await host.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repairs", description=__doc__)
    parser.add_argument(
        "--only", action="append", default=[], help="Programs whose group or name contains this; may be repeated."
    )
    parser.add_argument("--limit", type=int, default=10_000, help="At most so many programs.")
    parser.add_argument("--again", action="store_true", help="Also those whose rows another commit made.")
    parser.add_argument(
        "--plain", type=int, default=0, help="Run so many fixed programs plainly, with torch's own log."
    )
    parser.add_argument("--page", action="store_true", help="Only write the page.")
    options = parser.parse_args()

    def is_wanted(program: Program) -> bool:
        return not options.only or any(part in f"{program.group} {program.name}" for part in options.only)

    KEPT.parent.mkdir(exist_ok=True)
    if options.plain:
        wanted = {program.name for program in all_programs() if is_wanted(program)}
        plainly(options.plain, lambda row: row.program in wanted)
    elif not options.page:
        asyncio.run(run(is_wanted, options.limit, options.again))
    with alone():
        write_page(of_present_programs(read_rows(), all_programs()))
