"""What a fix did: the counts of two runs of almost the same program, compared."""

from __future__ import annotations

from dataclasses import dataclass

from compile_lens.analysis.finding import Kind
from compile_lens.analysis.finding_counts import FindingCounts


@dataclass(frozen=True, slots=True)
class FixEffect:
    """What a change of the program did. ``ended``: the changed program came to its end as the first one did."""

    before: FindingCounts
    after: FindingCounts
    ended: bool = True

    @property
    def harms(self) -> bool:
        """Whether there is an error, or something that is not compiled, that was not there before."""
        worse = self.after.errors > self.before.errors or self.after.uncompiled > self.before.uncompiled
        return worse or not self.ended

    @property
    def helps(self) -> bool:
        """Whether there is less of something and, but for recompiles where none is refused any more, not more of anything."""
        if self.harms or self.after == self.before:
            return False
        before, after = self.before, self.after
        if after.refused < before.refused:
            return after.breaks <= before.breaks
        return (
            after.breaks <= before.breaks and after.recompiles <= before.recompiles and after.refused <= before.refused
        )

    def words(self, kind: Kind) -> str:
        """``3 → 0 recompiles``; if nothing changed, the count of ``kind``."""
        names = {"breaks": "break", "recompiles": "recompile", "refused": "refused call", "errors": "error"}
        pairs = {name: (getattr(self.before, name), getattr(self.after, name)) for name in names}
        changed = [_pair(*pairs[name], names[name]) for name in names if pairs[name][0] != pairs[name][1]]
        if changed:
            return ", ".join(changed)
        own = {Kind.RECOMPILE: "recompiles", Kind.RECOMPILE_LIMIT: "refused"}.get(kind, "breaks")
        return f"no effect: {_pair(*pairs[own], names[own])}"


def _pair(before: int, after: int, noun: str) -> str:
    return f"{before} → {after} {noun}{'' if after == 1 else 's'}"
