"""Knows what most of a file is about, and offers a call of it where the entry that was used has reached only other parts, or nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from compile_lens.agent.runtime.entry_plans import SynthesizedCalls
from compile_lens.analysis.coverage import with_draft
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.analysis.outcome_parts import NotCalled, what_failed
from compile_lens.entries.entry import EntryChoice, EntryKind
from compile_lens.shown_text import shell_argument
from compile_lens.syntax.tree import SourceTree

# what precedes a call to complete, also within a sentence
OFFERED = "this call: --entry"


def with_offer(outcome: Outcome, main: str, tree: SourceTree, seen: Sequence[Outcome]) -> Outcome:
    """``outcome`` with a call to complete of ``main``, a class of the file that it has not reached, unless its coverage lists that.

    ``seen`` are the outcomes of all entries that were tried: what one of them tells of ``main`` says more than its signature.
    """
    if outcome.coverage is not None and any(unit.name == main for unit in outcome.coverage.units):
        return outcome
    one = with_draft(tree, _told_of(main, seen), main)
    if not one.draft or OFFERED in outcome.failure:
        return outcome
    text = tree.line_text(one.line).strip() if one.line else ""
    failed = what_failed(one.line, text, one.involved, one.beside, one.said)
    why = f" ({one.reason})" if one.reason else ""
    parts = (f"Not analyzed: `{main}`, which most of the file is about{why}.", failed)
    offer = " ".join((*filter(None, parts), f"Complete {OFFERED} {shell_argument(one.draft)}"))
    if outcome.status is Status.FAILED:
        return msgspec.structs.replace(outcome, failure=f"{outcome.failure} {offer}".strip())
    # what the entry itself says of it is a part of the offer
    own = re.compile(rf"Not analyzed: `{re.escape(main)}` \((?!.*\), `).*\)\.", re.S)
    notes = [note for note in outcome.notes if own.fullmatch(note) is None]
    return msgspec.structs.replace(outcome, notes=(*notes, offer))


def _told_of(main: str, seen: Sequence[Outcome]) -> NotCalled:
    """What the entries that were tried tell of ``main``: where a call of it failed, if one was tried."""
    told = [one for outcome in seen for one in outcome.not_called if one.target == main]
    return max(told, key=lambda one: (bool(one.draft), bool(one.line)), default=NotCalled(main, ""))


def main_target(choice: EntryChoice) -> str:
    """The module or function that uses most of a file which compiles nothing itself; '' where there is none."""
    for entry in choice.entries:
        targets = entry.plan.targets if isinstance(entry.plan, SynthesizedCalls) else ()
        if (
            entry.kind is EntryKind.SYNTHESIZED
            and targets
            and targets[0].compile is not None
            and not targets[0].only_plain
            and not choice.is_explicit
        ):
            return targets[0].name
    return ""


def is_about(outcome: Outcome, target: str) -> bool:
    """Whether an outcome is about ``target``, and not only about a part of the file."""
    names = [name for call in outcome.calls for name in (call.target, call.text, call.making)]
    names += [summary.name for summary in (*outcome.regions, *outcome.functions)]
    return not target or any(re.search(rf"\b{re.escape(target)}\b", name) for name in names)


def names_class(name: str) -> bool:
    """Whether ``name`` is written like that of a class."""
    return name.lstrip("_")[:1].isupper()
