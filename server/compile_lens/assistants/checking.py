"""The tools that run a file: what torch.compile does with it, and what an edit changes in that."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.assistants.answers import (
    FINDING,
    LEFT_OUT,
    SUMMARY,
    TEXT,
    array_of,
    by_weight,
    finding_answer,
    numbers,
    object_of,
    run_answer,
    summary,
)
from compile_lens.assistants.arguments import WrongArgument
from compile_lens.assistants.bench import LONGEST_RUN_S, Bench, Source, Tell, Way
from compile_lens.assistants.quoting import quoted
from compile_lens.diff.identity import Identity, identify
from compile_lens.diff.matching import match
from compile_lens.entries.entry_spec import BadEntry
from compile_lens.fixes.effect import FixEffect
from compile_lens.fixes.results import ResultsCompared
from compile_lens.fixes.verify import COMPARABLE, Verifier, can_compare, why_not_verified
from compile_lens.pipeline.analyze import analyze
from compile_lens.repro.selection import FINDING as FINDING_ID
from compile_lens.workers.job import Depth

VERDICTS = ("better", "worse", "mixed", "changes-results", "no-change", "unknown")
SIDE = object_of({"status": TEXT, "summary": SUMMARY, "numbers": TEXT, "failure": TEXT}, "status", "summary")
EDIT = {
    "file": TEXT,
    "verdict": {"type": "string", "enum": list(VERDICTS)},
    "effect": TEXT,
    "results": TEXT,
    "before": SIDE,
    "after": SIDE,
    "gone": array_of(FINDING),
    "new": array_of(FINDING),
    "left_out": LEFT_OUT,
}


async def check(bench: Bench, given: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Run a file, and tell what torch.compile did with it; of one finding, everything."""
    source = await bench.source(given["file"], given.get("text"))
    outcome = await bench.run(source, _way(given), tell)
    wanted = given.get("finding")
    answer = run_answer(outcome, source, in_full=bool(wanted))
    if wanted:
        chosen = selected(outcome, wanted)
        answer["findings"] = [finding_answer(one, source.file, source.tree_of(), True) for one in chosen]
    return answer


def selected(outcome: Outcome, wanted: str) -> list[Finding]:
    """The findings that ``CODE@LINE`` names. Raises WrongArgument where there is none."""
    found = FINDING_ID.match(wanted)
    code, line = (found["code"], found["line"]) if found is not None else ("", "")
    chosen = [
        one
        for one in by_weight(outcome.findings)
        if found is not None
        and (not code or one.code.lower() == code.lower())
        and (not line or one.place.line == int(line))
    ]
    if not chosen:
        known = ", ".join(dict.fromkeys(f"{one.code}@{one.place.line}" for one in outcome.findings)) or "none"
        raise WrongArgument(f"The run has no finding {quoted(wanted, 60)}. It has: {quoted(known)}.")
    return chosen


async def verify_edit(bench: Bench, given: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Run a file as it is and as it would be, and tell what the edit changes."""
    before = await bench.source(given["file"])
    after = await bench.source(given["file"], given["text"])
    if before.text == after.text:
        raise WrongArgument("The text is the same as the file's: there is no edit to verify.")
    way = _way(given)
    async with bench.running(before, way, lambda words: tell(f"before the edit: {words}")) as ran:
        first = ran.outcome
        # results are compared where the program is short; an outcome that cannot be compared is told as it is
        compares = can_compare(first, LONGEST_RUN_S) and not way.compare
        verifier = Verifier(analyze, ran.job, before.text, first) if compares else None
        tell("comparing results")
        effect = await verifier.effect_of_text(ran.host, after.text) if verifier is not None else None
    second = await _run_alike(bench, after, way, first.entry, tell)
    effect = effect or _effect_of(first, second, way)
    gone, new = _changed(first, before, second, after)
    return {
        "file": before.file,
        "verdict": verdict(first, second, effect, bool(gone), bool(new)),
        "effect": _words(first, second, effect),
        "results": quoted(effect.results.words()),
        "before": _side(first),
        "after": _side(second),
        "gone": [finding_answer(one, before.file, before.tree_of(), False) for one in gone],
        "new": [finding_answer(one, after.file, after.tree_of(), False) for one in new],
    }


async def _run_alike(bench: Bench, after: Source, way: Way, entry: str, tell: Tell) -> Outcome:
    """Run the edited text with the ``entry`` of the first run, if it still has it: one that compiles nothing now is what the edit did."""
    running = functools.partial(bench.run, after, tell=lambda words: tell(f"after the edit: {words}"))
    if way.entry or not entry:
        return await running(way)
    try:
        return await running(replace(way, entry=entry))
    except BadEntry:
        return await running(way)


def _effect_of(before: Outcome, after: Outcome, way: Way) -> FixEffect:
    """What the second run has less and more of than the first, without a comparison of results."""
    ended = after.status is before.status or after.status is Status.OK
    why = "compared with eager instead" if way.compare else why_not_verified(before, LONGEST_RUN_S)
    return FixEffect(before.counts, after.counts, ended, (before.graphs, after.graphs), ResultsCompared(None, why))


def verdict(before: Outcome, after: Outcome, effect: FixEffect, gone: bool, new: bool) -> str:
    """One word. ``unknown``: a run did not come to its end, so the two cannot be compared."""
    if before.status not in COMPARABLE or after.status is Status.FAILED:
        return "unknown"
    if effect.results.equal is False:
        return "changes-results"
    wrong = _wrong(after) - _wrong(before)
    if effect.harms or wrong > 0:
        return "mixed" if gone and wrong <= 0 and not _fails(effect) else "worse"
    if effect.compiles_nothing:
        # what is not compiled has no findings
        return "mixed" if gone else "worse"
    if effect.helps or wrong < 0 or (gone and not new):
        return "better"
    return "mixed" if gone else "worse" if new else "no-change"


def _fails(effect: FixEffect) -> bool:
    """Whether there is an error that was not there before, or code that falls back to eager."""
    before, after = effect.before, effect.after
    return after.errors > before.errors or after.uncompiled > before.uncompiled or not effect.ended


def _wrong(outcome: Outcome) -> int:
    return outcome.compared.wrong if outcome.compared is not None else 0


def _words(before: Outcome, after: Outcome, effect: FixEffect) -> str:
    pairs = {
        "graphs": (before.graphs, after.graphs),
        "breaks": (effect.before.breaks, effect.after.breaks),
        "recompiles": (effect.before.recompiles, effect.after.recompiles),
        "calls past the recompile limit": (effect.before.refused, effect.after.refused),
        "errors": (effect.before.errors, effect.after.errors),
        "frames in eager": (effect.before.uncompiled, effect.after.uncompiled),
    }
    changed = [f"{name} {one} → {other}" for name, (one, other) in pairs.items() if one != other]
    return ", ".join(changed) or "no change in graphs, breaks, recompiles or errors"


def _side(outcome: Outcome) -> dict[str, Any]:
    side = {
        "status": outcome.status.value,
        "summary": summary(outcome),
        "numbers": numbers(outcome),
        "failure": quoted(outcome.failure),
    }
    return {name: value for name, value in side.items() if value}


def _changed(
    before: Outcome, text_before: Source, after: Outcome, text_after: Source
) -> tuple[list[Finding], list[Finding]]:
    """The findings that are gone, and those that are new."""
    earlier, later = by_weight(before.findings), by_weight(after.findings)
    matched = match(_identities(earlier, text_before), _identities(later, text_after))
    return [earlier[index] for index in matched.gone], [later[index] for index in matched.new]


def _identities(findings: list[Finding], source: Source) -> list[Identity]:
    tree_of = source.tree_of()
    return [identify(finding, tree_of, "") for finding in findings]


def _way(given: dict[str, Any]) -> Way:
    return Way(given.get("entry", ""), Depth(given["depth"]), given.get("compare", False))
