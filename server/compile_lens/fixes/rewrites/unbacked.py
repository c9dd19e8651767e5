"""Fixes for branches on what only the data decides: a size that the graph does not know, and a mask that may be left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Fix, FixKind, make
from compile_lens.fixes.rewrites.condition import branch_of
from compile_lens.fixes.rewrites.editing import below_imports, has_comment, remove_statement, replace_node
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import SourceTree

_SIZE = re.compile(r"\.shape\b|\.size\(|\.numel\(|\blen\(")
# torch 2.8 and later
_GUARDS = "torch.fx.experimental.symbolic_shapes"


def guard_or(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``if guard_or_false(y.shape[0] == 0)``: the side that fits every size, where the graph does not know this one."""
    branch = branch_of(tree, finding.place) if finding.kind in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR) else None
    condition = branch.child_by_field_name("condition") if branch is not None else None
    if condition is None or condition.type != "comparison_operator" or not _SIZE.search(tree.node_text(condition)):
        return
    for name, side in (("guard_or_false", "Skip"), ("guard_or_true", "Take")):
        imported = next((short for short, full in read_imports(tree).names.items() if full == f"{_GUARDS}.{name}"), "")
        yield make(
            name.replace("_", "-"),
            f"{side} this branch in compiled code if the size is unknown (`{name}`)",
            replace_node(tree, condition, f"{imported or name}({tree.node_text(condition)})"),
            None if imported else below_imports(tree, f"from {_GUARDS} import {name}"),
            kind=FixKind.LOSSY,
        )


def keep_mask(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``if not mask.any(): mask = None`` saves work in eager alone: a mask without effect is kept."""
    branch = branch_of(tree, finding.place) if finding.kind in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR) else None
    name = _left_out(tree, branch) if branch is not None else ""
    if branch is not None and name:
        yield make("keep-mask", f"Keep `{name}` where it has no effect", remove_statement(tree, branch))


def _left_out(tree: SourceTree, branch: tree_sitter.Node) -> str:
    """The name that an ``if`` alone sets to None, by a condition on its data; '' for another branch."""
    condition, body = branch.child_by_field_name("condition"), branch.child_by_field_name("consequence")
    if condition is None or body is None or branch.child_by_field_name("alternative") is not None:
        return ""
    statement = body.named_children[0] if body.named_child_count == 1 and not has_comment(body) else None
    inner = statement.named_children[0] if statement is not None and statement.named_children else None
    left, right = (inner.child_by_field_name(side) if inner is not None else None for side in ("left", "right"))
    if inner is None or inner.type != "assignment" or left is None or right is None or right.type != "none":
        return ""
    name = tree.node_text(left)
    return name if re.search(rf"(?<![\w.]){re.escape(name)}\.(any|all)\(\)", tree.node_text(condition)) else ""
