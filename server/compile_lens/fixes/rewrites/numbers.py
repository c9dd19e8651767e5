"""Fixes that keep tensors where numbers are used: ``.item()`` in arithmetic, and numbers that change from call to call."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, make
from compile_lens.fixes.rewrites.calls import calls_of, function_of
from compile_lens.fixes.rewrites.editing import call_at, replace_node, torch_import, torch_name
from compile_lens.fixes.rewrites.evidence import changed
from compile_lens.syntax.definitions import definition_at
from compile_lens.syntax.tree import LANGUAGE, SourceTree, ancestors

_NAMES = tree_sitter.Query(LANGUAGE, "(identifier) @name")


def keep_tensor(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``x * y.item()`` is ``x * y``; so is a name that holds the number and is used in arithmetic alone."""
    call = call_at(tree, finding.place) if finding.kind in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR) else None
    tensor = _tensor_of(tree, call) if call is not None else None
    if call is None or tensor is None or not _ends_in_arithmetic(tree, call):
        return
    words = "`float(…)`" if tree.node_text(call).startswith("float") else "`.item()`"
    yield make("keep-tensor", f"Keep the tensor: remove {words}", replace_node(tree, call, tree.node_text(tensor)))


def pass_tensor(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """A number that changes, given as a tensor at each call in this file."""
    function = function_of(finding, tree) if finding.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT) else None
    if function is None:
        return
    parameters = {p.name for p in function.parameters}
    numbers = {f.name for f in changed(finding) if f.name in parameters and f.what in ("value", "type")}
    torch, _ = torch_name(tree)
    calls = calls_of(tree, function)
    for name in sorted(numbers):
        arguments = [call.arguments[name] for call in calls if name in call.arguments]
        if not arguments or len(arguments) != len(calls):
            continue
        edits: list[Edit | None] = [torch_import(tree)]
        edits += [replace_node(tree, node, f"{torch}.tensor({tree.node_text(node)})") for node in arguments]
        yield make("pass-tensor", f"Pass `{name}` as a tensor", *edits)


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


def _ends_in_arithmetic(tree: SourceTree, node: tree_sitter.Node) -> bool:
    for ancestor in list(ancestors(node))[1:]:
        if ancestor.type in ("binary_operator", "unary_operator"):
            return True
        if ancestor.type == "assignment":
            left = ancestor.child_by_field_name("left")
            return left is not None and left.type == "identifier" and _is_used_in_arithmetic(tree, left)
        if ancestor.type != "parenthesized_expression":
            return False
    return False


def _is_used_in_arithmetic(tree: SourceTree, name: tree_sitter.Node) -> bool:
    function = definition_at(tree, tree.position(name.start_byte)[0])
    if function is None:
        return False
    text, uses = tree.node_text(name), 0
    for node in tree_sitter.QueryCursor(_NAMES).captures(tree.root).get("name", []):
        line = tree.position(node.start_byte)[0]
        if node == name or tree.node_text(node) != text or not function.def_line <= line <= function.last_line:
            continue
        if node.parent is None or node.parent.type != "binary_operator":
            return False
        uses += 1
    return uses > 0
