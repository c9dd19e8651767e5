"""What was reached of an instrumented copy, by subsystem; and what was not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.coverage_of_rules.instrument import PACKAGE, Spot, SpotKind
from tests.coverage_of_rules.recorder import RUN, USED

SHOWN = {
    SpotKind.FUNCTION: "functions that never ran",
    SpotKind.PATTERN: "patterns that were tried and never matched",
    SpotKind.ROW: "rows of tables that are looked up, never used",
    SpotKind.BRANCH: "branches that never ran, in functions that did",
}


@dataclass
class Subsystem:
    """One room of the package. ``reached`` and ``all`` count spots by kind."""

    name: str
    lines: int = 0
    all: dict[SpotKind, int] = field(default_factory=dict)
    reached: dict[SpotKind, int] = field(default_factory=dict)
    by_corpus: dict[str, int] = field(default_factory=dict)

    def share(self, kind: SpotKind) -> str:
        """``12 of 30``; a dash where there is none."""
        return f"{self.reached.get(kind, 0)} of {self.all[kind]}" if self.all.get(kind) else "–"


def room_of(file: str) -> str:
    """``agent/inputs`` for a file there, ``analysis`` for one of a room of the server."""
    parts = Path(file).parts
    return "/".join(parts[: 2 if parts[0] == "agent" and len(parts) > 2 else 1])


class Reach:
    """The spots of a copy, and what the files of hits, one for each corpus, say of each."""

    def __init__(self, spots: Sequence[Spot], hits: Mapping[str, bytes]) -> None:
        none = bytes(len(spots))
        self._hits = dict(zip(spots, map(max, none, none, *hits.values()), strict=True))
        self.corpora = tuple(hits)
        self._by_corpus = {name: dict(zip(spots, each, strict=True)) for name, each in hits.items()}
        self._ran = {(spot.file, spot.what) for spot in self._of(SpotKind.FUNCTION, {RUN})}
        # a table says something of its rows once one of them was looked up, and only if it is never gone through
        rows = [(spot, hit) for spot, hit in self._hits.items() if spot.kind is SpotKind.ROW]
        looked_up = {_table(spot) for spot, hit in rows if hit == USED}
        self._tables = looked_up - {_table(spot) for spot, hit in rows if hit == RUN}

    def _of(self, kind: SpotKind, hits: set[int]) -> Iterable[Spot]:
        return (spot for spot, hit in self._hits.items() if spot.kind is kind and hit in hits)

    def counted(self, kind: SpotKind) -> list[Spot]:
        """The spots of a kind of which something can be said."""
        if kind is SpotKind.PATTERN:
            return list(self._of(kind, {RUN, USED}))
        if kind is SpotKind.ROW:
            return [spot for spot in self._of(kind, {0, USED}) if _table(spot) in self._tables]
        if kind is SpotKind.BRANCH:
            return [spot for spot in self._of(kind, {0, RUN}) if (spot.file, spot.what.partition(": ")[0]) in self._ran]
        return list(self._of(kind, {0, RUN}))

    def is_reached(self, spot: Spot) -> bool:
        return self._hits[spot] == (USED if spot.kind in (SpotKind.PATTERN, SpotKind.ROW) else RUN)

    def missed(self, kind: SpotKind) -> list[Spot]:
        return [spot for spot in self.counted(kind) if not self.is_reached(spot)]

    def subsystems(self) -> list[Subsystem]:
        """All rooms, the largest first."""
        found: dict[str, Subsystem] = {}
        for file in PACKAGE.rglob("*.py"):
            room = room_of(str(file.relative_to(PACKAGE)))
            found.setdefault(room, Subsystem(room)).lines += len(file.read_text().splitlines())
        for kind in SpotKind:
            for spot in self.counted(kind):
                room = found[room_of(spot.file)]
                room.all[kind] = room.all.get(kind, 0) + 1
                room.reached[kind] = room.reached.get(kind, 0) + self.is_reached(spot)
        for name, hits in self._by_corpus.items():
            for spot in self._of(SpotKind.FUNCTION, {RUN}):
                room = found[room_of(spot.file)]
                room.by_corpus[name] = room.by_corpus.get(name, 0) + (hits[spot] == RUN)
        return sorted(found.values(), key=lambda room: -room.lines)


def _table(spot: Spot) -> tuple[str, str]:
    return spot.file, spot.what.partition("[")[0]


def table(rooms: Iterable[Subsystem], corpora: Sequence[str]) -> str:
    """The rooms as a Markdown table."""
    heads = ["subsystem", "lines", "functions", "branches", "patterns", "rows", *corpora]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for room in rooms:
        if room.all:
            name = f"`{room.name}/`" if not room.name.endswith(".py") else f"`{room.name}`"
            shares = [room.share(kind) for kind in SpotKind]
            numbers = [str(room.by_corpus.get(corpus, 0)) for corpus in corpora]
            lines.append(f"| {name} | {room.lines:,} | {' | '.join([*shares, *numbers])} |")
    return "\n".join(lines)


def findings_table(counts: Mapping[str, Mapping[str, int]]) -> str:
    """How many findings of each kind there were in each corpus, as a Markdown table."""
    kinds = sorted({kind for each in counts.values() for kind in each})
    lines = [f"| kind | {' | '.join(counts)} |", "|---" * (len(counts) + 1) + "|"]
    lines += [f"| `{kind}` | {' | '.join(str(each.get(kind, 0)) for each in counts.values())} |" for kind in kinds]
    return "\n".join(lines)


def listing(reach: Reach, kinds: Iterable[SpotKind]) -> str:
    """What was not reached, by file."""
    lines = []
    for kind in kinds:
        missed = reach.missed(kind)
        lines += ["", f"{len(missed)} {SHOWN[kind]}:"]
        lines += [f"  {spot.file}:{spot.line}: {spot.what[:140]}" for spot in missed]
    return "\n".join(lines)
