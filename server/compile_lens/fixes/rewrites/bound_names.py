"""The names that a function binds: an expression with none of them means the same outside of it."""

from __future__ import annotations

import re

import tree_sitter

from compile_lens.fixes.rewrites.editing import function_around
from compile_lens.syntax.tree import SourceTree

_NAME = re.compile(r"[a-zA-Z_]\w*")


def bound_names(tree: SourceTree, function: tree_sitter.Node) -> set[str]:
    """Names that a function binds, in one way or another, or that are its owner's."""
    found = {"self", "cls", "super"}
    pending = list(function.named_children)
    while pending:
        node = pending.pop()
        bound = node.child_by_field_name("left") or node.child_by_field_name("alias")
        if node.type in ("parameters", "lambda_parameters"):
            found |= {tree.node_text(name) for name in map(_parameter_name, node.named_children) if name is not None}
        elif bound is not None and node.type in (
            *("assignment", "augmented_assignment", "for_statement", "for_in_clause", "as_pattern"),
        ):
            found |= set(_NAME.findall(tree.node_text(bound)))
        elif node.type in ("as_pattern", "named_expression"):
            found |= set(_NAME.findall(tree.node_text(node)))
        elif node.type == "function_definition":
            name = node.child_by_field_name("name")
            found |= {tree.node_text(name)} if name is not None else set()
        pending += node.named_children
    outer = function_around(function)
    return found | (bound_names(tree, outer) if outer is not None else set())


def _parameter_name(parameter: tree_sitter.Node) -> tree_sitter.Node | None:
    """The name of a parameter, without its annotation, default and stars."""
    while parameter.type != "identifier":
        inner = parameter.child_by_field_name("name") or next(iter(parameter.named_children), None)
        if inner is None:
            return None
        parameter = inner
    return parameter
