"""What a fix did: two runs of almost the same program, compared."""

from __future__ import annotations

from dataclasses import dataclass

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.finding_counts import FindingCounts
from compile_lens.fixes.results import ResultsCompared

NOT_COMPARED = ResultsCompared(None, "not asked for")


@dataclass(frozen=True, slots=True)
class FixEffect:
    """What a change of the program did. ``ended``: the changed program came to its end as the first one did.

    ``graphs`` are those before and after. ``results`` compares what the changed program computes with the first one in eager.
    ``seconds`` is how long the check took. ``recompiled`` are the messages of the recompiles that are still there.
    ``fails_later`` is what goes wrong after Dynamo, which compiles the program.
    """

    before: FindingCounts
    after: FindingCounts
    ended: bool = True
    graphs: tuple[int, int] = (0, 0)
    results: ResultsCompared = NOT_COMPARED
    seconds: float = 0.0
    recompiled: tuple[str, ...] = ()
    fails_later: str = ""

    @property
    def harms(self) -> bool:
        """Whether there is something that was not there before, or what the program computes has changed."""
        before, after = self.before, self.after
        worse = after.errors > before.errors or after.uncompiled > before.uncompiled
        return worse or self._adds or not self.ended or bool(self.fails_later) or self.results.equal is False

    @property
    def _adds(self) -> bool:
        """Whether there are more breaks or recompiles. Those that take the place of refused calls, or of eager code alone, are none."""
        before, after = self.before, self.after
        fewer_refused = after.refused < before.refused
        begins_to_compile = self.graphs[0] == 0 < self.graphs[1] and after.breaks < before.breaks
        return (
            after.breaks > before.breaks
            or (after.recompiles > before.recompiles and not fewer_refused and not begins_to_compile)
            or after.refused > before.refused
        )

    @property
    def helps(self) -> bool:
        """Whether there is less of something, nothing new, and something is still compiled."""
        return self._lessens and not self.compiles_nothing

    @property
    def compiles_nothing(self) -> bool:
        """Whether there were graphs and now are none: what is not compiled has no findings."""
        return self.graphs[0] > 0 and self.graphs[1] == 0

    @property
    def _lessens(self) -> bool:
        return not self.harms and self.after != self.before

    @property
    def leaves_nothing(self) -> bool:
        """Whether it helps, and nothing is left that could become less."""
        return self.helps and self.after == FindingCounts()

    def helps_with(self, finding: Finding, may_compile_nothing: bool = False) -> bool:
        """Whether there is less of what a finding is about: a break, or another recompile, that is gone does not help with a recompile.

        ``may_compile_nothing``: that nothing is compiled any more is on purpose.
        """
        helps = self._lessens if may_compile_nothing else self.helps
        if finding.kind not in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT):
            return helps
        before, after = self.before, self.after
        fewer = after.recompiles < before.recompiles or after.refused < before.refused
        return helps and fewer and finding.message not in self.recompiled

    @property
    def gain(self) -> int:
        """How many findings there are less, the grave ones counted more."""
        before, after = self.before, self.after
        return (
            100 * (before.errors - after.errors + before.uncompiled - after.uncompiled)
            + 10 * (before.breaks - after.breaks + before.refused - after.refused)
            + (before.recompiles - after.recompiles)
        )

    def words(self, kind: Kind) -> str:
        """``3 → 0 recompiles, results equal``; if nothing changed, the count of ``kind``. A program that fails counts for nothing."""
        if not self.ended and self.results is not NOT_COMPARED:
            return self.results.why
        names = {
            "breaks": "break",
            "recompiles": "recompile",
            "refused": "refused call",
            "errors": "error",
            "uncompiled": "function left to eager",
        }
        pairs = {name: (getattr(self.before, name), getattr(self.after, name)) for name in names}
        changed = [_pair(*pairs[name], names[name]) for name in names if pairs[name][0] != pairs[name][1]]
        recompiles = (self.before.recompiles, self.after.recompiles)
        if self.graphs[0] != self.graphs[1] and (
            self.before.breaks != self.after.breaks or recompiles[0] > recompiles[1]
        ):
            changed.append(_pair(*self.graphs, "graph"))
        if self.compiles_nothing:
            changed.append("nothing is compiled")
        if not changed:
            own = {Kind.RECOMPILE: "recompiles", Kind.RECOMPILE_LIMIT: "refused"}.get(kind, "breaks")
            changed = [f"no effect: {_pair(*pairs[own], names[own])}"]
        if self.results is not NOT_COMPARED:
            changed.append(self.results.words())
        if self.fails_later:
            changed.append(f"but after Dynamo {self.fails_later}")
        return ", ".join(changed)


def _pair(before: int, after: int, noun: str) -> str:
    first, blank, rest = noun.partition(" ")
    noun = (
        f"{first}{'' if after == 1 else 's'}{blank}{rest}"
        if first == "function"
        else f"{noun}{'' if after == 1 else 's'}"
    )
    return f"{before} → {after} {noun}"
