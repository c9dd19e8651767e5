"""Narrows names by a condition: ``x is None``, ``isinstance(x, torch.Tensor)``, ``torch.is_tensor(x)``."""

from __future__ import annotations

import tree_sitter

from compile_lens.syntax.predictions.program import ParsedProgram
from compile_lens.syntax.predictions.scope import Scope
from compile_lens.syntax.predictions.values import NONE, TENSOR


def narrow(program: ParsedProgram, node: tree_sitter.Node, truth: bool, scope: Scope) -> None:
    """Bind the names that a condition narrows, where it held (``truth``) or did not."""
    if node.type == "parenthesized_expression" and node.named_children:
        narrow(program, node.named_children[0], truth, scope)
    elif node.type == "not_operator" and node.named_children:
        narrow(program, node.named_children[0], not truth, scope)
    elif node.type == "boolean_operator":
        if any(child.type == ("and" if truth else "or") for child in node.children):
            for child in node.named_children:
                narrow(program, child, truth, scope)
    elif node.type == "call" and truth and node.named_child_count == 2:
        _by_type(program, node, scope)
    elif node.type == "comparison_operator" and node.named_child_count == 2:
        first, second = node.named_children
        holds_for_none = "is" if truth else "is not"
        if (
            first.type == "identifier"
            and second.type == "none"
            and any(c.type == holds_for_none for c in node.children)
        ):
            scope.names[program.text(first)] = NONE


def _by_type(program: ParsedProgram, node: tree_sitter.Node, scope: Scope) -> None:
    function, arguments = node.named_children
    if not arguments.named_children or arguments.named_children[0].type != "identifier":
        return
    name = program.text(arguments.named_children[0])
    of_type = program.text(arguments.named_children[1]) if arguments.named_child_count > 1 else ""
    called = program.text(function)
    full = program.imports.resolve("".join((of_type if called == "isinstance" else called).split()))
    if full in ("torch.Tensor", "torch.is_tensor"):
        scope.names[name] = TENSOR
