"""Fixes for calls that Dynamo does not trace: an equivalent of torch's, or the call made once, outside."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
from compile_lens.fixes.rewrites.bound_names import bound_names
from compile_lens.fixes.rewrites.calls import function_of
from compile_lens.fixes.rewrites.condition import tensor_text
from compile_lens.fixes.rewrites.editing import (
    above_top_level,
    function_around,
    newline,
    node_at,
    replace_node,
    torch_import,
    torch_name,
)
from compile_lens.fixes.rewrites.equivalents import equivalent, numbers_of
from compile_lens.fixes.rewrites.fresh_values import fresh_values
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import Range, SourceTree, ancestors

_CLOCKS = frozenset(
    f"time.{name}{unit}" for name in ("time", "perf_counter", "monotonic", "process_time") for unit in ("", "_ns")
)
_NAME = re.compile(r"[a-zA-Z_]\w*")


def with_torch(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``math.sqrt(x.sum())`` as ``torch.sqrt(x.sum())``; ``max(a, b)`` as ``torch.maximum(a, b)``."""
    if finding.kind not in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR):
        return
    call = _call_around(finding, tree)
    function = call.child_by_field_name("function") if call is not None else None
    arguments = call.child_by_field_name("arguments") if call is not None else None
    if call is None or function is None or arguments is None or arguments.type != "argument_list":
        return
    name = tree.node_text(function)
    if tree.node_text(arguments).strip("()") in numbers_of(tree, call):
        return  # torch's function takes no number
    full = read_imports(tree).resolve(name) or name
    given = [tensor_text(tree, each) for each in arguments.named_children if each.type != "comment"]
    text = equivalent(torch_name(tree)[0], full, given)
    if text:
        title = f"Use `{text.partition('(')[0]}` instead of `{name}`"
        yield make("with-torch", title, replace_node(tree, call, text), torch_import(tree))


def _call_around(finding: Finding, tree: SourceTree) -> tree_sitter.Node | None:
    """The call that a finding covers, or whose argument it covers."""
    node = node_at(tree, finding.place)
    if node is None:
        return None
    for each in list(ancestors(node))[:4]:
        if each.type == "call":
            function = each.child_by_field_name("function")
            name = tree.node_text(function) if function is not None else ""
            if name.rpartition(".")[2] != "item":
                return each
    return None


def hoist(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """A call that depends on nothing of the function's, made once above it."""
    node = node_at(tree, finding.place) if finding.kind in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR) else None
    function = function_around(node) if node is not None else None
    if node is None or function is None or node.type not in ("call", "subscript"):
        return
    while node.parent is not None and node.parent.type in ("attribute", "call", "subscript") and _is_head(node):
        node = node.parent
    text = tree.node_text(node)
    names = _names(tree, node)
    if not names or names & bound_names(tree, function) or "\n" in text or node.parent is None:
        return
    if node.parent.type == "expression_statement" or _needs_a_call(text) or _clock(tree, node):
        return
    name = _new_name(tree, node)
    yield make(
        "hoist",
        f"Evaluate `{text if len(text) <= 40 else name}` once, outside of compiled code",
        above_top_level(tree, node, f"{name} = {text}"),
        replace_node(tree, node, name),
        kind=FixKind.LOSSY if _changes_with_time(text) else FixKind.CHANGE,
    )


def time_in_eager(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``time.perf_counter()``, asked for where the function is not compiled: a graph has no time of its own."""
    call = node_at(tree, finding.place) if finding.kind in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR) else None
    while call is not None and call.type == "binary_operator":  # a finding may cover what is computed with it
        call = next((each for each in call.named_children if _clock(tree, each)), None)
    if call is None or not _clock(tree, call) or function_around(call) is None or call.parent is None:
        return
    text, torch = tree.node_text(call), torch_name(tree)[0]
    none = "0" if _clock(tree, call).endswith("_ns") else "0.0"
    chosen = f"{none} if {torch}.compiler.is_compiling() else {text}"
    yield make(
        "time-in-eager",
        f"Ask for `{text}` in eager only (`torch.compiler.is_compiling`)",
        replace_node(tree, call, chosen if call.parent.type == "assignment" else f"({chosen})"),
        torch_import(tree),
        kind=FixKind.LOSSY,
    )


def _clock(tree: SourceTree, node: tree_sitter.Node) -> str:
    """The full name of the clock that is called; '' for anything else."""
    function = node.child_by_field_name("function") if node.type == "call" else None
    full = read_imports(tree).resolve(tree.node_text(function)) if function is not None else ""
    return full if full in _CLOCKS else ""


def constant_result(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``assume_constant_result`` for the helper that breaks: it is called once, while compiling."""
    function = function_of(finding, tree) if finding.kind in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR) else None
    if function is None or "." in function.qualified_name or function.decorators or function.parameters:
        return
    if fresh_values(tree, function):
        return
    torch, _ = torch_name(tree)
    line = Edit(
        Range(function.first_line, 1, function.first_line, 1),
        f"@{torch}.compiler.assume_constant_result{newline(tree)}",
    )
    title = f"Call `{function.name}` once, while compiling (`assume_constant_result`)"
    yield make("assume-constant", title, line, torch_import(tree))


def _is_head(node: tree_sitter.Node) -> bool:
    parent = node.parent
    field = {"attribute": "object", "call": "function", "subscript": "value"}.get(parent.type, "") if parent else ""
    return parent is not None and parent.child_by_field_name(field) == node


def _names(tree: SourceTree, node: tree_sitter.Node) -> set[str]:
    """The names that an expression reads."""
    if node.type == "identifier":
        return {tree.node_text(node)}
    if node.type in ("lambda", "await", "yield", "named_expression") or node.type.endswith("_comprehension"):
        return {"self"}  # more than a read: as if it depended on the call
    skipped = {"attribute": "attribute", "keyword_argument": "name"}.get(node.type)
    left_out = node.child_by_field_name(skipped) if skipped else None
    found: set[str] = set()
    for child in node.named_children:
        if child != left_out:
            found |= _names(tree, child)
    return found


def _needs_a_call(text: str) -> bool:
    return "graph_break" in text or text.startswith(("print(", "open("))


def _changes_with_time(text: str) -> bool:
    return any(word in text for word in ("time", "now", "random", "rand", "uuid", "next("))


def _new_name(tree: SourceTree, node: tree_sitter.Node) -> str:
    words = [word for word in _NAME.findall(tree.node_text(node).partition("(")[0]) if word.isidentifier()]
    base = (words[-1] if words else "value").upper()
    number, name = 1, base
    while re.search(rf"\b{name}\b", tree.text):
        number += 1
        name = f"{base}_{number}"
    return name
