"""How much of a file an analysis with made-up calls is about: the modules that were called, and the share of lines that ran."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compile_lens.analysis.outcome_parts import Coverage as Coverage
from compile_lens.analysis.outcome_parts import NotCalled as NotCalled
from compile_lens.analysis.outcome_parts import Unit as Unit
from compile_lens.entries.plain_methods import with_effects
from compile_lens.entries.targets import units
from compile_lens.syntax.tree import SourceTree

UNREACHED = "no call reaches it"
EFFECTS = "it may reach files, other processes or the network, so it is not called with made-up inputs"
NO_TIME = "no time was left for it"


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
    reasons = {one.target.partition(".")[0]: one for one in not_called} | {one.target: one for one in not_called}
    reaching_out = {definition.qualified_name for definition in with_effects(tree)}
    found: list[Unit] = []
    inside: set[int] = set()
    for definition in units(tree):
        inside.update(range(definition.first_line, definition.last_line + 1))
        name = definition.qualified_name
        other = EFFECTS if name in reaching_out else NO_TIME if is_cut_short else UNREACHED
        why = None if name in known else reasons.get(name, NotCalled("", other))
        found.append(
            Unit(
                name,
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
