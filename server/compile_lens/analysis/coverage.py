"""How much of a file an analysis with made-up calls is about: the modules that were called, and the share of lines that ran."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compile_lens.entries.targets import units
from compile_lens.syntax.tree import SourceTree
from compile_lens.wording import counted

UNREACHED = "no call reaches it"
NO_TIME = "no time was left for it"


@dataclass(frozen=True, slots=True)
class NotCalled:
    """A target that was not called, and why. ``draft`` is a call of it with what is known, for the user to complete."""

    target: str
    reason: str
    draft: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """A class or function of the file. ``reason`` says why it was not analyzed, '' if it was."""

    name: str
    line: int
    is_module: bool
    reason: str = ""
    draft: str = ""

    @property
    def is_analyzed(self) -> bool:
        """Whether a call has run it."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class Coverage:
    """``units`` in the order of the file; of their ``lines`` that can run, ``ran`` did."""

    units: tuple[Unit, ...]
    ran: int
    lines: int

    @property
    def is_whole(self) -> bool:
        """Whether what is said holds for all of the file."""
        return self.ran == self.lines and all(unit.is_analyzed for unit in self.units)

    @property
    def missing(self) -> tuple[Unit, ...]:
        """What was not analyzed: what has a call to complete first."""
        return tuple(sorted((u for u in self.units if not u.is_analyzed), key=lambda unit: not unit.draft))

    @property
    def percent(self) -> int:
        """The share of lines; 100 only for all of them."""
        return 100 * self.ran // self.lines if self.lines else 0

    @property
    def sentence(self) -> str:
        """``3 of 8 modules, 64% of their lines``."""
        parts = [
            f"{sum(u.is_analyzed for u in some)} of {counted(len(some), what)}"
            for what, some in (
                ("module", [u for u in self.units if u.is_module]),
                ("function", [u for u in self.units if not u.is_module]),
            )
            if some
        ]
        whose = "its" if len(self.units) == 1 else "their"
        return f"{' and '.join(parts)}, {self.percent}% of {whose} lines"


def measure(
    tree: SourceTree,
    names: Iterable[str],
    ran: Iterable[int],
    lines: Iterable[int],
    not_called: Sequence[NotCalled],
    is_cut_short: bool = False,
) -> Coverage | None:
    """The coverage by calls that ran ``names``, and the lines ``ran`` among those that can; None for a file without anything to call."""
    known = frozenset(names)
    reasons = {one.target.partition(".")[0]: one for one in not_called}
    found: list[Unit] = []
    inside: set[int] = set()
    for definition in units(tree):
        inside.update(range(definition.first_line, definition.last_line + 1))
        why = (
            None
            if definition.name in known
            else reasons.get(definition.name, NotCalled("", NO_TIME if is_cut_short else UNREACHED))
        )
        found.append(
            Unit(
                definition.name,
                definition.def_line,
                definition.kind == "class",
                why.reason if why is not None else "",
                why.draft if why is not None else "",
            )
        )
    if not found:
        return None
    all_lines = inside.intersection(lines)
    return Coverage(tuple(sorted(found, key=lambda u: u.line)), len(all_lines.intersection(ran)), len(all_lines))
