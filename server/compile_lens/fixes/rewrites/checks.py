"""Fixes for checks of a tensor's data that raise, and for loops that its data ends."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
from compile_lens.fixes.rewrites.branch_sides import assignments
from compile_lens.fixes.rewrites.condition import branch_of, tensor_condition
from compile_lens.fixes.rewrites.editing import has_comment, indent_of, newline, replace_node, torch_import, torch_name
from compile_lens.syntax.tree import SourceTree

_LONGEST = 120


def check_on_device(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``if (x < 0).any(): raise …`` as an assertion in the graph, or made in eager alone."""
    if finding.kind not in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR):
        return
    branch = branch_of(tree, finding.place, ("if_statement",))
    raised = only_raise(branch) if branch is not None else None
    condition = branch.child_by_field_name("condition") if branch is not None else None
    if branch is None or raised is None or condition is None or has_comment(branch):
        return
    torch, _ = torch_name(tree)
    message = _message(tree, raised)
    wrong = tensor_condition(tree, condition, torch)
    text = f"{torch}._assert_async(~({wrong}), {message})"
    title = "Check it in the graph (`torch._assert_async`; raises RuntimeError)"
    yield make("assert-async", title, replace_node(tree, branch, text), torch_import(tree), kind=FixKind.LOSSY)
    guarded = f"not {torch}.compiler.is_compiling() and ({tree.node_text(condition)})"
    yield make(
        "check-in-eager",
        "Make this check in eager only (`torch.compiler.is_compiling`)",
        replace_node(tree, condition, guarded),
        torch_import(tree),
        kind=FixKind.LOSSY,
    )


def while_loop(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``while x.sum() < 10: x = x * 2`` as ``torch.while_loop``."""
    if finding.kind not in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR):
        return
    loop = branch_of(tree, finding.place, ("while_statement",))
    body, condition = (loop.child_by_field_name(name) if loop is not None else None for name in ("body", "condition"))
    if loop is None or body is None or condition is None or has_comment(loop):
        return
    sides = assignments(tree, body)
    if not sides or loop.child_by_field_name("alternative") is not None or not all(n.isidentifier() for n in sides):
        return
    torch, _ = torch_name(tree)
    names = ", ".join(sides)
    indent = indent_of(tree, loop.start_byte)
    step = indent_of(tree, body.start_byte)[len(indent) :] or "    "
    given = f"({names},)" if len(sides) == 1 else f"({names})"
    lines = [
        f"def is_not_done({names}):",
        f"{step}return {tensor_condition(tree, condition, torch)}",
        "",
        f"def next_step({names}):",
        *(f"{step}{' '.join(tree.node_text(each).split())}" for each in body.named_children),
        f"{step}return {given}",
        "",
        f"{names}{',' if len(sides) == 1 else ''} = {torch}._higher_order_ops.while_loop(is_not_done, next_step, {given})",
    ]
    text = newline(tree).join(line if number == 0 or not line else indent + line for number, line in enumerate(lines))
    yield make(
        "while-loop", "Loop in the graph with `while_loop`", Edit(tree.node_range(loop), text), torch_import(tree)
    )


def only_raise(branch: tree_sitter.Node) -> tree_sitter.Node | None:
    """The ``raise`` that is all that an ``if`` does."""
    body = branch.child_by_field_name("consequence")
    if body is None or body.named_child_count != 1 or any(c.type.endswith("_clause") for c in branch.named_children):
        return None
    statement = body.named_children[0]
    return statement if statement.type == "raise_statement" else None


def _message(tree: SourceTree, raised: tree_sitter.Node) -> str:
    """The text of the exception where it is a plain string, else its class."""
    error = raised.named_children[0] if raised.named_children else None
    arguments = error.child_by_field_name("arguments") if error is not None else None
    first = arguments.named_children[0] if arguments is not None and arguments.named_children else None
    if first is not None and first.type == "string" and first.named_children:
        text = tree.node_text(first)
        if text[0] in "\"'" and "\n" not in text and len(text) < _LONGEST:
            return text
    function = error.child_by_field_name("function") if error is not None else None
    name = tree.node_text(function if function is not None else error) if error is not None else "error"
    return f'"{name}"' if name.replace(".", "").isidentifier() else '"check failed"'
