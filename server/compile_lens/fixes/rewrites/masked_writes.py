"""Fix for branches that only ask whether a mask has an element: without one, to write to what it selects does nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Fix, make
from compile_lens.fixes.rewrites.condition import branch_of
from compile_lens.fixes.rewrites.editing import has_comment, indent_of, newline, replace_node
from compile_lens.syntax.tree import SourceTree

_ASKS = re.compile(
    r"\A(?:torch\.any\((?P<given>[\w.]+)\)|(?P<mask>[\w.]+?)\.(?:any\(\)|sum\(\)(?=[^>]*> 0$)))(?:\.item\(\))?(?: > 0)?"
)
# what can be computed without a selected element, has no effect, and draws no random number
_PLAIN = frozenset(
    {"integer", "float", "true", "false", "identifier", "attribute", "unary_operator", "binary_operator"}
)
_INFINITY = re.compile(r"float\(\s*[\"'][-+\w]+[\"']\s*\)")


def write_anyway(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``if mask.any(): x[mask] = 0`` as ``x[mask] = 0``."""
    branch = branch_of(tree, finding.place) if finding.kind in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR) else None
    condition, body = (branch.child_by_field_name(each) if branch else None for each in ("condition", "consequence"))
    if branch is None or condition is None or body is None or branch.child_by_field_name("alternative") is not None:
        return
    asked = _ASKS.fullmatch(
        tree.node_text(condition).strip("()") if condition.type != "call" else tree.node_text(condition)
    )
    if asked is None or branch.type != "if_statement" or has_comment(branch) or "\n" in tree.node_text(condition):
        return
    mask = asked["given"] or asked["mask"]
    statements = [tree.node_text(each) for each in body.named_children]
    if not all(_writes_to(tree, each, mask) for each in body.named_children) or any(
        "\n" in each for each in statements
    ):
        return
    lines = f"{newline(tree)}{indent_of(tree, branch.start_byte)}".join(statements)
    title = f"Write to what `{mask}` selects without asking whether it selects anything"
    yield make("write-anyway", title, replace_node(tree, branch, lines))


def _writes_to(tree: SourceTree, statement: tree_sitter.Node, mask: str) -> bool:
    """Whether a statement does nothing but to assign to elements that ``mask`` selects."""
    inner = statement.named_children[0] if statement.type == "expression_statement" else None
    if inner is None or inner.type not in ("assignment", "augmented_assignment"):
        return False
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    return left is not None and right is not None and _selects(tree, left, mask) and _is_plain(tree, right, mask)


def _selects(tree: SourceTree, node: tree_sitter.Node, mask: str) -> bool:
    if node.type != "subscript":
        return False
    value, *indices = node.named_children
    others = [each for each in indices if tree.node_text(each) != mask]
    return len(others) < len(indices) and all(_is_plain(tree, each, mask) for each in (value, *others))


def _is_plain(tree: SourceTree, node: tree_sitter.Node, mask: str) -> bool:
    if node.type == "call":
        return _INFINITY.fullmatch(tree.node_text(node)) is not None
    if node.type == "subscript":
        return _selects(tree, node, mask)
    if node.type == "slice":
        return node.named_child_count == 0
    return node.type in _PLAIN and all(_is_plain(tree, each, mask) for each in node.named_children)
