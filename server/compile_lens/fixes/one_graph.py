"""Regions that have compiled without a break, and ``fullgraph=True`` for them, tried in a run like any fix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from compile_lens.analysis.finding import Kind
from compile_lens.analysis.finding_regions import is_of_region
from compile_lens.analysis.outcome import Outcome
from compile_lens.fixes.effect import FixEffect
from compile_lens.fixes.fix import Fix
from compile_lens.fixes.rewrites.one_graph import one_graph
from compile_lens.fixes.verify import Verifier
from compile_lens.syntax.regions import Region, find_regions
from compile_lens.syntax.tree import SourceTree, parse

# what `fullgraph=True` turns into an error
_FORBIDDEN = (Kind.GRAPH_BREAK, Kind.NOT_COMPILED, Kind.COMPILE_ERROR, Kind.RECOMPILE_LIMIT)


@dataclass(frozen=True, slots=True)
class WholeRegion:
    """A region without a break in its run, and the fix that keeps it so."""

    region: Region
    fix: Fix


@dataclass(frozen=True, slots=True)
class Kept:
    """A region that was tried with ``fullgraph=True``, and what that did."""

    whole: WholeRegion
    effect: FixEffect

    @property
    def holds(self) -> bool:
        """Whether the program runs as before: nothing is new, and the results were compared and are equal."""
        effect = self.effect
        return effect.ended and not effect.harms and effect.results.equal is True

    @property
    def words(self) -> str:
        """``no break in the run, results equal``; else what is new, or why it is not known."""
        effect = self.effect
        if effect.harms or not effect.ended:
            return effect.words(Kind.GRAPH_BREAK)
        return f"no break in the run, {effect.results.words()}"


def whole_regions(tree: SourceTree, before: Outcome, file: str) -> tuple[WholeRegion, ...]:
    """The regions of the text of ``tree`` that were compiled in the run ``before``, had no break, and do not set ``fullgraph``."""
    compiled = {
        (known.place.line, known.place.column): known
        for known in before.regions
        if known.place.file == file and known.graphs and not known.breaks
    }
    forbidden = [finding for finding in before.unfiltered if finding.kind in _FORBIDDEN]
    found = []
    for region in find_regions(tree):
        known = compiled.get((region.line, region.column))
        if known is None or any(is_of_region(finding, region, known.frames) for finding in forbidden):
            continue
        fix = one_graph(region, tree)
        if fix is not None:
            found.append(WholeRegion(region, fix))
    return tuple(found)


async def try_whole(host: Any, verifier: Verifier, whole: WholeRegion) -> Kept:
    """What the option does to one region, by a run on ``host``."""
    return Kept(whole, await verifier.effect(host, whole.fix))


async def keep_whole(
    host: Any, verifier: Verifier, on_tried: Callable[[Kept], None] = lambda _: None
) -> tuple[str, tuple[Kept, ...]]:
    """The text with ``fullgraph=True`` for each region where that holds, and all that were tried."""
    tried: list[Kept] = []
    seen: set[str] = set()
    while True:
        left = whole_regions(parse(verifier.text), verifier.before, verifier.job.file)
        whole = next((each for each in left if _name(each) not in seen), None)
        if whole is None:
            return verifier.text, tuple(tried)
        seen.add(_name(whole))
        tried.append(await try_whole(host, verifier, whole))
        on_tried(tried[-1])
        if tried[-1].holds:
            verifier = verifier.after(whole.fix)


def _name(whole: WholeRegion) -> str:
    """The option is added within a line: the place at which a region begins stays, but for others on this line."""
    return f"{whole.region.name}@{whole.region.line}:{whole.region.target}"
