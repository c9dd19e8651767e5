"""Fixes for arguments that are lists: joined before the call where their length changes, and lists in each call where some are tuples."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, make
from compile_lens.fixes.rewrites.calls import calls_of, function_of
from compile_lens.fixes.rewrites.editing import replace_node, torch_import
from compile_lens.fixes.rewrites.evidence import changed
from compile_lens.fixes.rewrites.regions import region_of, with_option
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import Query, SourceTree

_NAMES = Query("(identifier) @name")
_CONTAINERS = frozenset({"list", "tuple"})
_JOINS = frozenset({"torch.cat", "torch.concat", "torch.stack", "torch.vstack", "torch.hstack"})


def join_outside(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``torch.cat(parts)``, the only use of a parameter, made by the callers."""
    function = function_of(finding, tree) if finding.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT) else None
    if function is None:
        return
    lists = {fact.name for fact in changed(finding) if fact.what == "length"} & {p.name for p in function.parameters}
    calls = calls_of(tree, function)
    for name in sorted(lists):
        used = [
            node
            for node in _NAMES.everywhere(tree).get("name", [])
            if tree.node_text(node) == name
            and function.def_line < tree.position(node.start_byte)[0] <= function.last_line
        ]
        join = _join_of(tree, used[0]) if len(used) == 1 else None
        if join is None or not calls or not all(name in call.arguments for call in calls):
            continue
        text = tree.node_text(join)
        start, end = used[0].start_byte - join.start_byte, used[0].end_byte - join.start_byte
        joined = text.encode()
        before, after = joined[:start].decode(), joined[end:].decode()
        edits: list[Edit | None] = [replace_node(tree, join, name), torch_import(tree)]
        edits += [
            replace_node(tree, call.arguments[name], f"{before}{tree.node_text(call.arguments[name])}{after}")
            for call in calls
        ]
        title = f"Join `{name}` before the call"
        yield make("join-outside", title, *edits)
        region = region_of(finding, tree)
        dynamic = with_option(tree, region, "dynamic", "True") if region is not None else None
        if dynamic is not None:
            yield make("join-outside", f"{title}, and compile with `dynamic=True`", *edits, dynamic)


def same_container(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """An argument that is a list in some calls and a tuple in others: a list in each call in this file."""
    function = function_of(finding, tree) if finding.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT) else None
    if function is None:
        return
    calls = calls_of(tree, function)
    parameters = {p.name for p in function.parameters}
    types = {fact.name for fact in changed(finding) if fact.what == "type" and fact.before in _CONTAINERS}
    for name in sorted(types & parameters):
        arguments = [call.arguments[name] for call in calls if name in call.arguments]
        edits = [edit for node in arguments if (edit := _as_list(tree, node)) is not None]
        if edits:
            yield make("same-container", f"Pass `{name}` as a list at each call", *edits)


def _as_list(tree: SourceTree, node: tree_sitter.Node) -> Edit | None:
    """``[a, b]`` for ``(a, b)``, ``list(x)`` for what may be a tuple; None for what is a list."""
    if node.type in ("list", "list_comprehension"):
        return None
    text = tree.node_text(node)
    if node.type == "tuple":
        return replace_node(tree, node, f"[{text[1:-1].strip().rstrip(',')}]")
    return replace_node(tree, node, f"list({text})")


def _join_of(tree: SourceTree, name: tree_sitter.Node) -> tree_sitter.Node | None:
    """``torch.cat(name, …)``, whose other arguments are literals."""
    arguments = name.parent
    call = arguments.parent if arguments is not None and arguments.type == "argument_list" else None
    function = call.child_by_field_name("function") if call is not None else None
    if arguments is None or function is None or read_imports(tree).resolve(tree.node_text(function)) not in _JOINS:
        return None
    others = [child.child_by_field_name("value") or child for child in arguments.named_children if child != name]
    return call if all(each.type in ("integer", "unary_operator") for each in others) else None
