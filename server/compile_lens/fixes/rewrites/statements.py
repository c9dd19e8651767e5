"""Fixes for statements that need not be compiled: a ``print``, and a counter of calls."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
from compile_lens.fixes.rewrites.calls import calls_of, function_of
from compile_lens.fixes.rewrites.editing import before, call_at, remove_statement, statement_of
from compile_lens.syntax.tree import SourceTree, ancestors

_EFFECTS = frozenset({"named_expression", "await", "yield"})


def remove_print(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """Take a ``print`` away that is a statement of its own."""
    call = call_at(tree, finding.place) if finding.kind is Kind.GRAPH_BREAK else None
    function = call.child_by_field_name("function") if call is not None else None
    if call is None or function is None or tree.node_text(function) != "print" or _has(call, _EFFECTS):
        return
    if call.parent is not None and call.parent.type == "expression_statement" and call.parent.named_child_count == 1:
        yield make("remove-print", "Remove the `print`", remove_statement(tree, call.parent), kind=FixKind.LOSSY)


def count_outside(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``self.calls += 1`` in ``forward``, moved to the calls of the module in this file."""
    function = function_of(finding, tree) if finding.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT) else None
    counter = _counter(finding, tree) if function is not None else None
    if function is None or counter is None:
        return
    statement, attribute, rest = counter
    edits: list[Edit | None] = []
    for call in calls_of(tree, function):
        place = statement_of(call.node)
        is_name = call.receiver.replace(".", "").isidentifier()
        edits.append(
            before(tree, place, f"{call.receiver}.{attribute} {rest}") if place is not None and is_name else None
        )
    if edits and all(edit is not None for edit in edits):
        removed = remove_statement(tree, statement)
        yield make(
            "count-outside",
            f"Update `{attribute}` where the module is called, not in `{function.name}`",
            removed,
            *edits,
        )


def _counter(finding: Finding, tree: SourceTree) -> tuple[tree_sitter.Node, str, str] | None:
    """The statement of a finding if it is ``self.name += number``: with the name, and what comes after it."""
    offset = tree.offset(finding.place.line, finding.place.column)
    node = tree.root.descendant_for_byte_range(offset, offset)
    found = next((a for a in ancestors(node) if a.type == "augmented_assignment"), None) if node is not None else None
    if found is None or found.parent is None or found.parent.type != "expression_statement":
        return None
    left, right = found.child_by_field_name("left"), found.child_by_field_name("right")
    if left is None or right is None or right.type not in ("integer", "float"):
        return None
    owner, _, name = tree.node_text(left).rpartition(".")
    rest = tree.source[left.end_byte : found.end_byte].decode("utf-8", "replace").strip()
    return (found.parent, name, rest) if owner == "self" else None


def _has(node: tree_sitter.Node, kinds: frozenset[str]) -> bool:
    return node.type in kinds or any(_has(child, kinds) for child in node.named_children)
