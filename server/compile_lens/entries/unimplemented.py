"""Finds methods that a class leaves to its subclasses: nothing can call them."""

from __future__ import annotations

from functools import lru_cache

import tree_sitter

from compile_lens.syntax.definitions import qualified_name
from compile_lens.syntax.tree import LANGUAGE, SourceTree

_FUNCTIONS = tree_sitter.Query(LANGUAGE, "(function_definition) @function")
_NOTHING = frozenset({"pass_statement", "comment"})


@lru_cache(maxsize=4)
def unimplemented(tree: SourceTree) -> frozenset[str]:
    """The qualified names of functions that are abstract, or whose body is at most a docstring and `raise NotImplementedError`."""
    nodes = tree_sitter.QueryCursor(_FUNCTIONS).captures(tree.root).get("function", [])
    return frozenset(qualified_name(tree, node) for node in nodes if _is_left_open(tree, node))


def _is_left_open(tree: SourceTree, node: tree_sitter.Node) -> bool:
    outer = node.parent
    if outer is not None and outer.type == "decorated_definition":
        decorators = [tree.node_text(child) for child in outer.children if child.type == "decorator"]
        if any("abstractmethod" in decorator for decorator in decorators):
            return True
    body = node.child_by_field_name("body")
    statements = [child for child in body.named_children if not _does_nothing(child)] if body is not None else []
    if not statements:
        return True
    text = tree.node_text(statements[0])
    return statements[0].type == "raise_statement" and "NotImplemented" in text.partition("(")[0]


def _does_nothing(node: tree_sitter.Node) -> bool:
    """Whether a statement is a docstring, `...` or `pass`."""
    if node.type == "expression_statement":
        return all(child.type in ("string", "ellipsis") for child in node.named_children)
    return node.type in _NOTHING
