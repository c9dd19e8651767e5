"""How much of a file an analysis with made-up calls is about: the modules that were called, and the share of lines that ran."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from compile_lens.agent.runtime.entry_protocol import LEFT_OPEN, NO_CALL_RETURNS
from compile_lens.analysis.how_to_start import hints_for
from compile_lens.analysis.outcome_parts import Coverage as Coverage
from compile_lens.analysis.outcome_parts import NotCalled as NotCalled
from compile_lens.analysis.outcome_parts import Unit as Unit
from compile_lens.entries.calls_to_complete import call_to_complete, words_of_arguments
from compile_lens.entries.module_classes import autograd_functions
from compile_lens.entries.plain_methods import with_effects
from compile_lens.entries.targets import find_targets, units
from compile_lens.syntax.definitions import definitions
from compile_lens.syntax.tree import SourceTree

UNREACHED = "no call reaches it"
EFFECTS = "it may reach files, other processes or the network, so it is not called with made-up inputs"
NO_TIME = "no time was left for it"


def with_draft(tree: SourceTree, one: NotCalled, name: str) -> NotCalled:
    """``one`` with a call of ``name`` to complete, by its signature where no search came to one; without, where no call returns.

    Of a library that is not installed, its reason says how to install it.
    """
    install = next(hints_for("ModuleNotFoundError", one.reason, "", ""), "").rstrip(".")
    told = msgspec.structs.replace(one, reason=f"{one.reason}. {install}") if install else one
    if one.draft or one.reason.endswith(NO_CALL_RETURNS) or one.reason.startswith(LEFT_OPEN):
        return told
    said = words_of_arguments(tree, name)
    draft = call_to_complete(tree, name)
    beside = () if one.involved or not draft else tuple(said)
    return msgspec.structs.replace(
        told, draft=draft, beside=beside or one.beside, said=tuple(said.values()) if beside else one.said
    )


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
    ranks = {target.name: rank for rank, target in reversed([*enumerate(find_targets(tree))])}
    ranks = {name.partition(".")[0]: rank for name, rank in reversed(ranks.items())} | ranks
    reasons = {one.target.partition(".")[0]: one for one in not_called} | {one.target: one for one in not_called}
    reaching_out = {definition.qualified_name for definition in with_effects(tree)}
    found: list[Unit] = []
    applied = {definition.qualified_name for definition in autograd_functions(tree, definitions(tree))}
    inside: set[int] = set()
    for definition in units(tree):
        inside.update(range(definition.first_line, definition.last_line + 1))
        is_applied = definition.qualified_name in applied
        name = f"{definition.qualified_name}.apply" if is_applied else definition.qualified_name
        rank = ranks.get(name, len(ranks))
        is_module = definition.kind == "class" and not is_applied
        # torch calls its `forward` with a context, which is no object of the class
        if name in known or (is_applied and f"{definition.qualified_name}.forward" in known):
            found.append(Unit(name, definition.def_line, is_module, rank=rank))
            continue
        other = EFFECTS if name in reaching_out else NO_TIME if is_cut_short else UNREACHED
        why = with_draft(tree, reasons.get(name, NotCalled("", other)), name)
        found.append(
            Unit(
                name,
                definition.def_line,
                is_module,
                why.reason,
                why.draft,
                why.line,
                tree.line_text(why.line).strip() if why.line else "",
                why.involved,
                rank,
                why.beside,
                why.said,
            )
        )
    if not found:
        return None
    all_lines = inside.intersection(lines)
    return Coverage(tuple(sorted(found, key=lambda u: u.line)), len(all_lines.intersection(ran)), len(all_lines))
