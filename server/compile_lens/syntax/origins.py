"""Finds where the values in an expression come from: for each name, the last line before it that assigns the name."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter
from msgspec import Struct

from compile_lens.syntax.tree import Range, SourceTree, ancestors, identifiers

SCOPES = frozenset({"function_definition", "lambda", "class_definition"})
# node types that assign names, and the field with the names
BINDINGS = {
    "assignment": "left",
    "augmented_assignment": "left",
    "named_expression": "name",
    "for_statement": "left",
    "as_pattern": "alias",
}


class Origin(Struct, frozen=True):
    """The statement or parameter from which a name has its value."""

    name: str
    range: Range
    is_parameter: bool


def origins(tree: SourceTree, where: Range) -> list[Origin]:
    """The origins of the local names in the expression at ``where``, in order, each once."""
    start, end = tree.offset(where.line, where.column), tree.offset(where.end_line, where.end_column)
    node = tree.root.descendant_for_byte_range(start, max(start, end - 1))
    scope = next((above for above in ancestors(node) if above.type == "function_definition"), None) if node else None
    if node is None or scope is None:
        return []
    found: dict[str, Origin] = {}
    for name in _names(node, start, end):
        text = tree.node_text(name)
        if text not in found and (origin := _origin(tree, scope, text, start)) is not None:
            found[text] = origin
    return list(found.values())


def _names(node: tree_sitter.Node, start: int, end: int) -> Iterator[tree_sitter.Node]:
    """The names read in ``node`` between two offsets, without attributes, keywords and called functions."""
    if node.end_byte <= start or node.start_byte >= end:
        return
    if node.type == "identifier":
        yield node
        return
    for child in node.named_children:
        above = child.parent
        field = _field(node, child)
        if above is not None and (node.type, field) in {("attribute", "attribute"), ("keyword_argument", "name")}:
            continue
        if (node.type, field) == ("call", "function") and child.type == "identifier":
            continue
        yield from _names(child, start, end)


def _field(node: tree_sitter.Node, child: tree_sitter.Node) -> str | None:
    return next((node.field_name_for_child(at) for at, each in enumerate(node.children) if each == child), None)


def _origin(tree: SourceTree, scope: tree_sitter.Node, name: str, before: int) -> Origin | None:
    last: tree_sitter.Node | None = None
    for binding in _bindings(scope):
        if binding.end_byte > before and binding.type != "for_statement":
            continue
        target = binding.child_by_field_name(BINDINGS[binding.type])
        if target is not None and target.start_byte < before and name in _targets(tree, target):
            last = target if binding.type in ("for_statement", "as_pattern") else binding
    if last is not None:
        return Origin(name, tree.node_range(last), False)
    parameters = scope.child_by_field_name("parameters")
    for parameter in parameters.named_children if parameters is not None else ():
        identifier = next((each for each in identifiers(parameter)), None)
        if identifier is not None and tree.node_text(identifier) == name:
            return Origin(name, tree.node_range(identifier), True)
    return None


def _bindings(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The nodes that assign names in a function, in order, without those of nested functions."""
    for child in node.named_children:
        if child.type in SCOPES:
            continue
        if child.type in BINDINGS:
            yield child
        yield from _bindings(child)


def _targets(tree: SourceTree, target: tree_sitter.Node) -> set[str]:
    """The names that a target binds, without objects whose attribute or item is set."""
    if target.type in ("attribute", "subscript"):
        return set()
    if target.type == "identifier":
        return {tree.node_text(target)}
    return {name for child in target.named_children for name in _targets(tree, child)}
