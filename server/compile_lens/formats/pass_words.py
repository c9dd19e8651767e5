"""What a pass took and changed, in words for the terminal and the page."""

from __future__ import annotations

from compile_lens.stages.figures import seconds_text
from compile_lens.stages.model import GraphPass, PassPhase
from compile_lens.stages.passes import changes_of
from compile_lens.wording import counted

NO_CHANGE = "nothing changed"
NOT_KEPT = "changed; the graphs are too large to be kept"


def is_changed(of: GraphPass | PassPhase) -> bool | None:
    """Whether it changed the graph; None if the trace does not tell. Of a phase, what its passes tell."""
    if isinstance(of, GraphPass):
        return of.is_changed
    told = [one.is_changed for one in of.passes]
    return any(told) if told and None not in told else None


def changes_text(of: GraphPass | PassPhase) -> str:
    """``2 nodes removed, 1 changed``; '' if the trace does not tell."""
    changes = changes_of(of)
    if changes is None:
        return {None: "", True: NOT_KEPT, False: NO_CHANGE}[is_changed(of)]
    if changes.is_empty:
        return NO_CHANGE
    parts: list[str] = []
    for names, verb in ((changes.removed, "removed"), (changes.added, "added"), (changes.changed, "changed")):
        if names:
            parts.append(f"{len(names) if parts else counted(len(names), 'node')} {verb}")
    if changes.is_reordered:
        parts.append("nodes reordered")
    return ", ".join(parts) or "only what it takes or returns changed"


def time_text(seconds: float | None) -> str:
    """``41.0 ms``; '' if the trace does not tell."""
    return seconds_text(seconds) if seconds is not None else ""
