"""Narrows a line to the part that something is about, where torch records lines without columns."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from compile_lens.late_pattern import pattern
from compile_lens.syntax.tree import Range, SourceTree, ancestors, nodes_of

ASSIGNMENTS = frozenset({"assignment", "augmented_assignment"})
STATEMENTS = frozenset({"expression_statement", "return_statement", "delete_statement"})
# what is computed from a size before it is compared or converted
COMPUTED = frozenset(
    {"comparison_operator", "binary_operator", "attribute", "subscript", "parenthesized_expression", "not_operator"}
)
CONVERSIONS = frozenset({"int", "float", "bool", "len", "range", "str"})
READS_A_SIZE = pattern(r"\.shape\b|\.size\(|\blen\(|\.numel\(")


def changed_at(tree: SourceTree, line: int, name: str) -> Range | None:
    """The call or assignment on ``line`` that changes the object ``name``; else the statement that begins there, over all its lines."""
    start = tree.stripped_line(line)
    if start is None:
        return None
    covering = [node for node in _below(tree.root, line) if name and _changes(tree, node, name)]
    if covering:
        return tree.node_range(min(covering, key=lambda node: (node.end_byte - node.start_byte, node.start_byte)))
    at = tree.offset(line, start.column)
    leaf = tree.root.descendant_for_byte_range(at, at + 1)
    statement = next((node for node in ancestors(leaf) if node.type in STATEMENTS), None) if leaf is not None else None
    if statement is None or tree.node_range(statement).end_line == tree.node_range(statement).line:
        return None
    return tree.node_range(statement)


def is_own_variable(tree: SourceTree, line: int, name: str) -> bool:
    """Whether ``name``, which the innermost function around ``line`` assigns, is a variable of that function, not of one around it."""
    functions = [node for node in _below(tree.root, line) if node.type == "function_definition"]
    return bool(functions) and not any(
        _text(tree, each) == name
        for statement in nodes_of(functions[-1], "nonlocal_statement")
        for each in statement.named_children
    )


def _below(node: tree_sitter.Node, line: int) -> Iterator[tree_sitter.Node]:
    """The nodes that cover ``line``."""
    if node.start_point[0] + 1 <= line <= node.end_point[0] + 1:
        yield node
        for child in node.named_children:
            yield from _below(child, line)


def _changes(tree: SourceTree, node: tree_sitter.Node, name: str) -> bool:
    if node.type == "call":
        function = node.child_by_field_name("function")
        owner = function.child_by_field_name("object") if function is not None else None
        return owner is not None and _text(tree, owner) == name
    if node.type in ASSIGNMENTS:
        left = node.child_by_field_name("left")
        return left is not None and any(_is_part(_text(tree, target), name) for target in _targets(left))
    return False


def _targets(left: tree_sitter.Node) -> list[tree_sitter.Node]:
    return left.named_children if left.type in ("pattern_list", "tuple_pattern", "list_pattern") else [left]


def _is_part(target: str, name: str) -> bool:
    return target == name or target.startswith((f"{name}.", f"{name}["))


def _text(tree: SourceTree, node: tree_sitter.Node) -> str:
    return "".join(tree.node_text(node).split()).replace('"', "'")


def size_read_in(tree: SourceTree, within: Range, name: str, dimension: int | None) -> Range:
    """The comparison or conversion in ``within`` that reads the size ``dimension`` of ``name``; ``within`` if none can be told."""
    start, end = tree.offset(within.line, within.column), tree.offset(within.end_line, within.end_column)
    node = tree.root.named_descendant_for_byte_range(start, end)
    if node is None:
        return within
    forms = {f"{name}.shape[{dimension}]", f"{name}.size({dimension})", f"{name}.size()[{dimension}]"}
    if dimension == 0:
        forms.add(f"len({name})")
    inside = [inner for inner in _all(node) if start <= inner.start_byte and inner.end_byte <= end]
    found = next((inner for inner in inside if _text(tree, inner) in forms), None)
    if found is not None:
        return tree.node_range(_computed(tree, found, start, end))
    if node.type == "boolean_operator":
        # the size of another tensor that has the same one
        parts = [operand for operand in _operands(node) if READS_A_SIZE.search(tree.node_text(operand))]
        if len(parts) == 1:
            return tree.node_range(parts[0])
    return within


def _all(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    yield node
    for child in node.named_children:
        yield from _all(child)


def _operands(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    for child in node.named_children:
        if child.type == "boolean_operator":
            yield from _operands(child)
        else:
            yield child


def _computed(tree: SourceTree, node: tree_sitter.Node, start: int, end: int) -> tree_sitter.Node:
    """The largest expression around ``node`` that is still about its value."""
    parent = node.parent
    while parent is not None and start <= parent.start_byte and parent.end_byte <= end:
        if parent.type == "argument_list" and parent.parent is not None:
            function = parent.parent.child_by_field_name("function")
            if function is None or tree.node_text(function) not in CONVERSIONS:
                break
            node, parent = parent.parent, parent.parent.parent
        elif parent.type in COMPUTED:
            node, parent = parent, parent.parent
        else:
            break
    return node
