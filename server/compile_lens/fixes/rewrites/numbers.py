"""Fixes that keep tensors where ``.item()`` makes numbers of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter
from msgspec.structs import replace

from compile_lens.analysis.finding import Finding, Kind, Place
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
from compile_lens.fixes.rewrites.branch import select
from compile_lens.fixes.rewrites.checks_in_graph import check_in_graph, tell_in_graph
from compile_lens.fixes.rewrites.condition import conditions_in
from compile_lens.fixes.rewrites.editing import call_at, function_around, replace_node, torch_import
from compile_lens.fixes.rewrites.equivalents import numbers_of, of_math
from compile_lens.syntax.definitions import definitions
from compile_lens.syntax.tree import Query, SourceTree, ancestors

_ASSIGNMENTS = frozenset({"assignment", "augmented_assignment"})
_CALLS = Query("(call) @call")
_NAMES = Query("(identifier) @name")
_STORES = frozenset({"append", "appendleft", "add", "extend", "insert", "put", "put_nowait", "setdefault", "update"})


def keep_tensor(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``x * y.item()`` is ``x * y``."""
    call = call_at(tree, finding.place) if finding.kind in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR) else None
    if call is not None and of_math(tree, call):
        call = _origin(tree, call)
    tensor = _tensor_of(tree, call) if call is not None else None
    if call is None or tensor is None or not _is_operand(call):
        return
    words = "`float(…)`" if tree.node_text(call).startswith("float") else "`.item()`"
    text = tree.node_text(tensor)
    if _is_stored(tree, call):
        title = f"Store the tensor without its gradient, instead of the number of {words}"
        yield make("detach", title, replace_node(tree, call, f"{text}.detach()"), kind=FixKind.LOSSY)
        return
    more = _of_math(tree, call)
    yield make("keep-tensor", f"Keep the tensor: remove {words}", replace_node(tree, call, text), *more)
    branches = _branches(finding, tree, call)
    if branches:
        selected = [edit for fix in branches for edit in fix.edits]
        kept = [edit for edit in more if not any(_holds(each, edit) for each in selected)]
        edits = (replace_node(tree, call, text), *kept, *selected, torch_import(tree))
        rules = {fix.rule for fix in branches}
        if "check-in-graph" in rules:
            yield make("keep-tensor-check", f"Keep the tensor: remove {words}, and check it in the graph", *edits)
        elif "tell-in-graph" in rules:
            yield make("keep-tensor-tell", f"Keep the tensor: remove {words}, and tell it in the graph", *edits)
        else:
            yield make("keep-tensor-where", f"Keep the tensor: remove {words}, and select with `torch.where`", *edits)
    # a number has no gradient
    yield make(
        "detach",
        f"Keep the tensor without its gradient, instead of {words}",
        replace_node(tree, call, f"{text}.detach()"),
        *more,
    )


def _origin(tree: SourceTree, call: tree_sitter.Node) -> tree_sitter.Node:
    """The last ``y.item()`` before ``math.isnan(e)`` that is assigned to ``e``; the call itself where there is none."""
    function, arguments = function_around(call), call.child_by_field_name("arguments")
    if function is None or arguments is None:
        return call
    before = [
        node
        for node in _CALLS.captures(function).get("call", [])
        if node.end_byte < call.start_byte and f"({_name_of(tree, node)})" == tree.node_text(arguments)
    ]
    return max(before, key=lambda node: node.start_byte, default=call)


def _name_of(tree: SourceTree, call: tree_sitter.Node) -> str:
    """The name that the number is assigned to, '' if it is computed with at once."""
    statement = call.parent
    left = statement.child_by_field_name("left") if statement is not None and statement.type == "assignment" else None
    is_name = left is not None and left.type == "identifier" and tree.node_text(left) in numbers_of(tree, call)
    return tree.node_text(left) if left is not None and is_name else ""


def _of_math(tree: SourceTree, call: tree_sitter.Node) -> list[Edit]:
    """``torch.isnan(e)`` in the place of each ``math.isnan(e)`` of the name that the number is assigned to."""
    name, function = _name_of(tree, call), function_around(call)
    edits = []
    for node in _CALLS.captures(function).get("call", []) if name and function is not None else ():
        target, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        torchs = of_math(tree, node)
        if torchs and target is not None and arguments is not None and tree.node_text(arguments) == f"({name})":
            edits.append(replace_node(tree, target, torchs))
    return edits


def _branches(finding: Finding, tree: SourceTree, call: tree_sitter.Node) -> list[Fix]:
    """The fixes of the branches on the name that the number is assigned to, which the tensor would break at."""
    name = _name_of(tree, call)
    line = tree.position(call.start_byte)[0]
    within = [each for each in definitions(tree) if each.def_line <= line <= each.last_line]
    if not name or not within:
        return []
    fixes: list[Fix] = []
    for condition in conditions_in(tree, within[-1], with_elif=False):
        if not re.search(rf"(?<![\w.]){name}\b", tree.node_text(condition)):
            continue
        place = tree.node_range(condition)
        at = Place(finding.place.file, place.line, place.column, place.end_line, place.end_column)
        asked = replace(finding, kind=Kind.GRAPH_BREAK, place=at)
        told = (*check_in_graph(asked, tree, name), *tell_in_graph(asked, tree, name))
        chosen = next((fix for fix in (*select(asked, tree), *told) if fix.rule not in ("cond", "log-in-eager")), None)
        if chosen is None:
            return []
        fixes.append(chosen)
    return fixes


def _holds(outer: Edit, inner: Edit) -> bool:
    """Whether an edit replaces what another one changes."""
    one, other = outer.place, inner.place
    starts = (one.line, one.column) <= (other.line, other.column)
    return starts and (other.end_line, other.end_column) <= (one.end_line, one.end_column)


def _tensor_of(tree: SourceTree, call: tree_sitter.Node) -> tree_sitter.Node | None:
    """``y`` of ``y.item()`` and of ``float(y)``."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    given = arguments.named_children if arguments is not None else []
    if function is None:
        return None
    if function.type == "attribute" and tree.node_text(function).rpartition(".")[2] == "item" and not given:
        return function.child_by_field_name("object")
    if (
        tree.node_text(function) == "float"
        and len(given) == 1
        and given[0].type in ("identifier", "attribute", "call", "subscript")
    ):
        return given[0]
    return None


def _is_operand(call: tree_sitter.Node) -> bool:
    """Whether something is computed with the number, which a tensor may do as well: it is not returned, nor made for its own sake."""
    parent = call.parent
    while parent is not None and parent.type == "parenthesized_expression":
        parent = parent.parent
    return parent is not None and parent.type not in ("return_statement", "expression_statement", "interpolation")


def _is_stored(tree: SourceTree, call: tree_sitter.Node) -> bool:
    """Whether a container or an object keeps the number, whose readers may expect one: ``losses.append(loss.item())``."""
    if _is_appended(tree, call) or _is_assigned(tree, call):
        return True
    statement = next((each for each in ancestors(call) if each.type in _ASSIGNMENTS), None)
    left = statement.child_by_field_name("left") if statement is not None else None
    function = function_around(call)
    if left is None or left.type != "identifier" or function is None:
        return False
    name = tree.node_text(left)
    return any(
        _is_appended(tree, node) or _is_assigned(tree, node)
        for node in _NAMES.captures(function).get("name", [])
        if tree.node_text(node) == name and not _is_called(node)
    )


def _is_called(node: tree_sitter.Node) -> bool:
    """Whether something is computed with a name before it is stored."""
    return node.parent is not None and node.parent.type in (
        "attribute",
        "call",
        "binary_operator",
        "comparison_operator",
    )


def _is_assigned(tree: SourceTree, value: tree_sitter.Node) -> bool:
    """Whether an attribute, a global or an item is assigned what is computed with ``value``."""
    for each in ancestors(value):
        if each.type in ("block", "module", "lambda"):
            return False
        left = each.child_by_field_name("left") if each.type in _ASSIGNMENTS else None
        if left is not None and left.end_byte <= value.start_byte:
            return any(
                _keeps(tree, target)
                for target in ([left, *left.named_children] if left.type == "pattern_list" else [left])
            )
    return False


def _keeps(tree: SourceTree, target: tree_sitter.Node) -> bool:
    """Whether what is assigned to ``target`` is seen outside of the function. An item of a local name may be one of a tensor."""
    if target.type == "attribute":
        return True
    function = function_around(target)
    if target.type == "identifier" and function is not None:
        declared = rf"\b(?:global|nonlocal)\b[^\n]*\b{tree.node_text(target)}\b"
        return re.search(declared, tree.node_text(function)) is not None
    value, key = target.child_by_field_name("value"), target.child_by_field_name("subscript")
    return value is not None and (value.type == "attribute" or (key is not None and key.type == "string"))


def _is_appended(tree: SourceTree, call: tree_sitter.Node) -> bool:
    arguments = call.parent
    outer = arguments.parent if arguments is not None and arguments.type == "argument_list" else None
    function = outer.child_by_field_name("function") if outer is not None else None
    return (
        function is not None and function.type == "attribute" and tree.node_text(function).rpartition(".")[2] in _STORES
    )
