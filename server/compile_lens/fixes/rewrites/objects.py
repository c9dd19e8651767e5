"""Fixes for objects and compiled functions that are new at each call: made once."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, make
from compile_lens.fixes.rewrites.calls import calls_of, function_of
from compile_lens.fixes.rewrites.editing import indent_of, newline, replace_node, statement_of
from compile_lens.fixes.rewrites.evidence import changed
from compile_lens.syntax.tree import Query, Range, SourceTree, ancestors

_RECOMPILES = (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT)
_CALLS = Query("(call) @call")
_NAME = re.compile(r"[A-Za-z_]\w*")
_LOOPS = frozenset({"for_statement", "while_statement"})
_COMPILES = re.compile(r"(?:^|\.)compile$")


def make_once(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """An argument that is made anew in each turn of a loop, made once before the loop."""
    function = function_of(finding, tree) if finding.kind in _RECOMPILES else None
    if function is None:
        return
    roots = {fact.root for fact in changed(finding)} & {p.name for p in function.parameters}
    for call in calls_of(tree, function):
        for name in sorted(roots & set(call.arguments)):
            argument = call.arguments[name]
            edits = _before_loop(tree, argument, name)
            if edits and argument.type in ("lambda", "call"):
                yield make("make-once", f"Make `{name}` once, before the loop", *edits)


def compile_once(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``torch.compile(f)`` in a loop, before the loop."""
    if finding.kind not in _RECOMPILES:
        return
    for node in _captured(tree, _CALLS, "call"):
        function = node.child_by_field_name("function")
        if function is None or not _COMPILES.search(tree.node_text(function)) or "re." in tree.node_text(function):
            continue
        edits = _before_loop(tree, node, "compiled")
        if edits:
            yield make("compile-once", "Compile once, before the loop", *edits)


def _before_loop(tree: SourceTree, node: tree_sitter.Node, name: str) -> list[Edit]:
    """Edits that evaluate ``node`` before the outermost loop around it that it does not depend on; [] where there is none."""
    loop = None
    for ancestor in ancestors(node):
        if ancestor.type in ("function_definition", "class_definition"):
            break
        if ancestor.type in _LOOPS:
            if _mentioned(tree, node) & _assigned_in(tree, ancestor):
                break
            loop = ancestor
    statement = statement_of(node.parent) if loop is not None and node.parent is not None else None
    if loop is None or statement is None or "\n" in tree.node_text(node):
        return []
    inner = statement.named_children[0] if statement.named_children else statement
    line, column = tree.position(loop.start_byte)
    indent = indent_of(tree, loop.start_byte)
    if len(indent) != column - 1:
        return []
    end = newline(tree)
    if inner.type == "assignment" and inner.child_by_field_name("right") == node:
        whole = tree.node_range(statement)
        text = tree.node_text(statement)
        block = statement.parent
        if block is not None and block.named_child_count > 1:
            removed = Edit(Range(whole.line, 1, whole.end_line + 1, 1), "")
            return [Edit(Range(line, 1, line, 1), f"{indent}{text}{end}"), removed]
        return []
    while re.search(rf"\b{name}\b", tree.source[loop.start_byte : loop.end_byte].decode("utf-8", "replace")):
        name = f"same_{name}"
    added = f"{indent}{name} = {tree.node_text(node)}{end}"
    return [Edit(Range(line, 1, line, 1), added), replace_node(tree, node, name)]


def _mentioned(tree: SourceTree, node: tree_sitter.Node) -> set[str]:
    return set(_NAME.findall(tree.node_text(node)))


def _assigned_in(tree: SourceTree, loop: tree_sitter.Node) -> set[str]:
    found: set[str] = set()
    pending = [loop]
    while pending:
        node = pending.pop()
        if node.type in ("assignment", "augmented_assignment", "for_statement"):
            left = node.child_by_field_name("left")
            if left is not None and left.type != "attribute":
                found |= _mentioned(tree, left)
        pending += node.named_children
    return found


def _captured(tree: SourceTree, query: Query, name: str) -> list[tree_sitter.Node]:
    found = query.everywhere(tree).get(name, [])
    return sorted(found, key=lambda node: node.start_byte)
