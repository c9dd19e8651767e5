"""Finds example inputs in the file: ``get_inputs()``, ``get_init_inputs()``, ``example_inputs``, ``get_example_inputs()``."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from compile_lens.entries.entry import Entry, EntryKind
from compile_lens.entries.targets import Target
from compile_lens.syntax.definitions import definitions
from compile_lens.syntax.tree import LANGUAGE, SourceTree

NAMES = ("get_inputs", "get_example_inputs", "example_inputs", "sample_inputs", "get_sample_inputs", "example_input")
# names of targets that such files prefer
PREFERRED = ("Model", "ModelNew", "Net", "model", "forward", "f", "fn")
_ASSIGNED = tree_sitter.Query(LANGUAGE, "(module (expression_statement (assignment left: (identifier) @name)))")


def find_conventions(tree: SourceTree, targets: tuple[Target, ...]) -> Iterator[Entry]:
    """An entry per convention that the file follows, if it has something to call."""
    if not targets:
        return
    for name, line in _named(tree):
        owner = name.rpartition(".")[0]
        target = next((t for t in targets if owner and t.name.partition(".")[0] == owner), None)
        target = target or next((t for p in PREFERRED for t in targets if t.name == p), targets[0])
        plan = {**target.plan, "kind": "inputs", "name": name, "target": target.name}
        yield Entry(EntryKind.INPUTS, name, f"in this file, for `{target.name}`", line, plan)


def _named(tree: SourceTree) -> Iterator[tuple[str, int]]:
    """Functions, methods and variables of these names, and their lines, in the order of NAMES."""
    found: dict[str, int] = {}
    for definition in definitions(tree):
        if definition.kind == "function" and definition.name in NAMES and definition.qualified_name.count(".") < 2:
            found.setdefault(definition.qualified_name, definition.def_line)
    for node in tree_sitter.QueryCursor(_ASSIGNED).captures(tree.root).get("name", []):
        name = tree.node_text(node)
        if name in NAMES:
            found.setdefault(name, tree.position(node.start_byte)[0])
    yield from sorted(found.items(), key=lambda entry: NAMES.index(entry[0].rpartition(".")[2]))
