"""The tool that offers fixes: each is tried, and comes with its effect and its diff."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.outcome import Outcome
from compile_lens.assistants.answers import (
    LEFT_OUT,
    TEXT,
    array_of,
    by_weight,
    finding_id,
    object_of,
    place_text,
)
from compile_lens.assistants.bench import LONGEST_RUN_S, Bench, Source, Tell, Way
from compile_lens.assistants.checking import selected
from compile_lens.assistants.quoting import quoted, quoted_lines
from compile_lens.fixes.fix import Edit, FixKind, apply_fix
from compile_lens.fixes.habits import in_order
from compile_lens.fixes.offer import fixes_for
from compile_lens.fixes.verify import CandidateFix, Verifier, can_compare, why_not_verified
from compile_lens.pipeline.analyze import analyze
from compile_lens.state.fix_choices import FixChoices, Learned
from compile_lens.syntax.tree import parse

LONGEST_DIFF = 3_000
# findings whose fixes are tried in one call
MOST_FINDINGS = 8
KEEPS = {
    FixKind.CHANGE: "keeps the program's meaning",
    FixKind.SEPARATE: "compiles each kind of call separately",
    FixKind.SKELETON: "has to be completed",
    FixKind.LOSSY: "loses something, such as printed text",
    FixKind.KEEP: "turns a later break into an error",
    FixKind.EXCLUDE: "leaves the code out of compilation",
    FixKind.UNSAFE: "unsafe: drops guards",
    FixKind.IGNORE: "accepts the finding",
}
FIX: dict[str, Any] = {
    **dict.fromkeys(("finding", "place", "rule", "title", "effect", "keeps", "diff"), TEXT),
    "helps": {"type": "boolean"},
}
FIXES = {
    "file": TEXT,
    "fixes": array_of(object_of(FIX, *FIX)),
    "without_fix": array_of(TEXT),
    "left_out": LEFT_OUT,
}


async def fixes(bench: Bench, given: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """The fixes for the findings of a file, or for one of them: the best first, harmful ones left out."""
    source = await bench.source(given["file"], given.get("text"))
    root = bench.ground.root(source.file)
    learned = await asyncio.to_thread(FixChoices.of_user().recall, root) if root is not None else Learned()
    async with bench.running(source, Way(given.get("entry", "")), tell) as ran:
        wanted = given.get("finding")
        findings = selected(ran.outcome, wanted) if wanted else by_weight(ran.outcome.findings)[:MOST_FINDINGS]
        findings = [finding for finding in findings if finding.place.file == source.file]
        # what the user ignores as a rule comes last
        findings.sort(key=lambda finding: learned.ignores(finding.code))
        verifier = Verifier(analyze, ran.job, source.text, ran.outcome)
        offered: list[CandidateFix] = []
        for number, finding in enumerate(findings, 1):
            tell(f"fixes of finding {number} of {len(findings)}")
            if can_compare(ran.outcome, LONGEST_RUN_S):
                offered += await verifier.candidates(ran.host, finding)
            else:
                offered += _unverified(finding, source, ran.outcome)
    shown = in_order((one for one in offered if one.is_offered), learned)
    return {
        "file": source.file,
        "fixes": [_fix_answer(one, source) for one in _once(shown)],
        "without_fix": [
            f"{finding_id(finding)} at {place_text(finding.place, source.file)}"
            for finding in findings
            if not any(one.finding is finding for one in shown)
        ],
    }


def _once(candidates: Iterable[CandidateFix]) -> Iterable[CandidateFix]:
    """Each edit once, for the first finding that it is offered for."""
    seen: set[tuple[Edit, ...]] = set()
    for one in candidates:
        if one.fix.edits not in seen:
            seen.add(one.fix.edits)
            yield one


def _unverified(finding: Finding, source: Source, outcome: Outcome) -> Iterable[CandidateFix]:
    why = why_not_verified(outcome, LONGEST_RUN_S)
    for fix in fixes_for(finding, parse(source.text), torch=outcome.torch):
        if fix.kind is not FixKind.IGNORE:
            yield CandidateFix(finding, fix, None, why_not=why)


def _fix_answer(one: CandidateFix, source: Source) -> dict[str, Any]:
    name = Path(source.file).name
    before, after = source.text, apply_fix(source.text, one.fix)
    diff = difflib.unified_diff(before.splitlines(True), after.splitlines(True), name, name, n=1)
    return {
        "finding": finding_id(one.finding),
        "place": place_text(one.finding.place, source.file),
        "rule": one.fix.rule,
        "title": quoted(one.fix.title),
        "effect": quoted(one.words),
        "helps": one.helps,
        "keeps": KEEPS[one.fix.kind],
        "diff": quoted_lines("".join(diff), LONGEST_DIFF),
    }
