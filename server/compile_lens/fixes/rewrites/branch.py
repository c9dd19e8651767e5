"""Fixes for a branch on a tensor's value: select from both sides with ``torch.where``, or compile both with ``torch.cond``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, make
from compile_lens.fixes.rewrites.editing import has_comment, node_at, torch_import, torch_name
from compile_lens.syntax.tree import SourceTree, ancestors

_BOOLEAN_METHODS = (".any()", ".all()", ".isnan()", ".equal(")
_NO_VALUE = frozenset(
    {"tuple", "expression_list", "list", "dictionary", "string", "none", "yield", "await", "named_expression"}
)


@dataclass(frozen=True, slots=True)
class _Choice:
    """``start`` to ``end`` is a choice between two values, which come after ``head``."""

    start: int
    end: int
    head: str
    condition: tree_sitter.Node
    yes: tree_sitter.Node
    no: tree_sitter.Node


def select(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``if cond: x = f(x)`` and its like, as ``torch.where`` and as ``torch.cond``."""
    choice = _choice(finding, tree)
    if choice is None:
        return
    torch, _ = torch_name(tree)
    condition = _condition(tree, choice.condition)
    yes, no = (" ".join(tree.node_text(node).split()) for node in (choice.yes, choice.no))
    place = tree.range_between(choice.start, choice.end)
    where = f"{choice.head}{torch}.where({condition}, {yes}, {no})"
    # a branch of torch.cond must not return what it was given (torch/_higher_order_ops/cond.py)
    own = [
        f"{text}.clone()" if node.type == "identifier" else text for node, text in ((choice.yes, yes), (choice.no, no))
    ]
    cond = f"{choice.head}{torch}.cond({condition}, lambda: {own[0]}, lambda: {own[1]})"
    yield make("where", "Compute both sides and select with `torch.where`", Edit(place, where), torch_import(tree))
    yield make("cond", "Compile both sides with `torch.cond`", Edit(place, cond), torch_import(tree))


def _choice(finding: Finding, tree: SourceTree) -> _Choice | None:
    node = node_at(tree, finding.place) if finding.kind in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR) else None
    if node is None or node.parent is None:
        return None
    inner = node
    for ancestor in ancestors(node):
        if ancestor.type == "conditional_expression":
            return _of_expression(ancestor, inner)
        if ancestor.type == "if_statement" and ancestor.child_by_field_name("condition") == inner:
            return _of_statement(tree, ancestor, inner)
        if ancestor.type not in ("parenthesized_expression", "comparison_operator") and ancestor != node:
            return None
        inner = ancestor
    return None


def _of_expression(node: tree_sitter.Node, condition: tree_sitter.Node) -> _Choice | None:
    parts = [child for child in node.named_children if child.type != "comment"]
    if len(parts) != 3 or parts[1] != condition or has_comment(node):
        return None
    values = all(_is_value(part) for part in (parts[0], parts[2]))
    return _Choice(node.start_byte, node.end_byte, "", condition, parts[0], parts[2]) if values else None


def _of_statement(tree: SourceTree, node: tree_sitter.Node, condition: tree_sitter.Node) -> _Choice | None:
    consequence = node.child_by_field_name("consequence")
    yes = _single(consequence) if consequence is not None else None
    alternatives = [child for child in node.named_children if child.type in ("elif_clause", "else_clause")]
    if yes is None or len(alternatives) > 1 or has_comment(node) or any(a.type == "elif_clause" for a in alternatives):
        return None
    body = alternatives[0].child_by_field_name("body") if alternatives else None
    no = _single(body) if body is not None else None
    if alternatives and no is None:
        return None
    end = node
    if yes.type == "return_statement" and no is None:
        no = end = node.next_named_sibling or node
    return _assigned(tree, node, condition, yes, no) or _returned(node, end, condition, yes, no)


def _assigned(
    tree: SourceTree,
    node: tree_sitter.Node,
    condition: tree_sitter.Node,
    yes: tree_sitter.Node,
    no: tree_sitter.Node | None,
) -> _Choice | None:
    first, second = _assignment(yes), _assignment(no) if no is not None else None
    if first is None or (no is not None and second is None):
        return None
    target, value = first
    other_target, other = second if second is not None else (target, target)
    if tree.node_text(target) != tree.node_text(other_target) or not (_is_value(value) and _is_value(other)):
        return None
    return _Choice(node.start_byte, node.end_byte, f"{tree.node_text(target)} = ", condition, value, other)


def _returned(
    node: tree_sitter.Node,
    end: tree_sitter.Node,
    condition: tree_sitter.Node,
    yes: tree_sitter.Node,
    no: tree_sitter.Node | None,
) -> _Choice | None:
    if no is None or yes.type != "return_statement" or no.type != "return_statement":
        return None
    if yes.named_child_count != 1 or no.named_child_count != 1:
        return None
    values = yes.named_children[0], no.named_children[0]
    if not all(_is_value(value) for value in values):
        return None
    return _Choice(node.start_byte, end.end_byte, "return ", condition, *values)


def _single(block: tree_sitter.Node) -> tree_sitter.Node | None:
    return block.named_children[0] if block.named_child_count == 1 else None


def _assignment(statement: tree_sitter.Node) -> tuple[tree_sitter.Node, tree_sitter.Node] | None:
    inner = (
        statement.named_children[0] if statement.type == "expression_statement" and statement.named_children else None
    )
    if inner is None or inner.type != "assignment" or inner.child_by_field_name("type") is not None:
        return None
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    return (left, right) if left is not None and right is not None and left.type == "identifier" else None


def _is_value(node: tree_sitter.Node) -> bool:
    return node.type not in _NO_VALUE and node.type != "assignment"


def _condition(tree: SourceTree, node: tree_sitter.Node) -> str:
    """The condition as a tensor of booleans: ``if`` treats a number as ``!= 0``."""
    text = " ".join(tree.node_text(node).split())
    while node.type == "parenthesized_expression" and node.named_child_count == 1:
        node = node.named_children[0]
    if node.type == "comparison_operator" or text.endswith(_BOOLEAN_METHODS[:3]) or _BOOLEAN_METHODS[3] in text:
        return text
    return f"{text} != 0" if node.type in ("identifier", "attribute", "call", "subscript") else f"({text}) != 0"
