"""Fixes for statements that need not be compiled: a ``print``, a log, an explicit break, and a counter of calls."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
from compile_lens.fixes.rewrites.calls import calls_of, function_of
from compile_lens.fixes.rewrites.editing import (
    before,
    call_at,
    has_comment,
    indent_of,
    newline,
    remove_statement,
    replace_node,
    statement_of,
    torch_import,
    torch_name,
)
from compile_lens.syntax.definitions import definitions
from compile_lens.syntax.tree import Range, SourceTree, ancestors

_EFFECTS = frozenset({"named_expression", "await", "yield"})
_LOGS = re.compile(r"(?:^|\.)(?:debug|info|warning|warn|error|critical|exception|log|print|write)(?:_once)?$")
_SIZE = re.compile(r"\.(?:shape|size\(\))$")
_DISABLE = re.compile(r"(?:^|\.)disable\b")


def remove_print(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """Take a ``print`` away that is a statement of its own, or print in the graph."""
    call = _statement_call(finding, tree)
    if call is None or _function(tree, call) != "print" or _has(call, _EFFECTS) or call.parent is None:
        return
    torch, _ = torch_name(tree)
    text = _format_call(tree, call)
    if text:
        yield make(
            "print-in-graph",
            "Print in the graph (`torch._higher_order_ops.print`)",
            replace_node(tree, call, f"{torch}._higher_order_ops.print({text})"),
            torch_import(tree),
        )
    yield make("remove-print", "Remove the `print`", remove_statement(tree, call.parent), kind=FixKind.LOSSY)


def in_eager_alone(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """A log or a ``print``, made where the function is not compiled."""
    call = _statement_call(finding, tree)
    if call is None or call.parent is None or not _LOGS.search(_function(tree, call)) or has_comment(call):
        return
    torch, _ = torch_name(tree)
    line, column = tree.position(call.parent.start_byte)
    indent = indent_of(tree, call.parent.start_byte)
    if tree.line_text(line)[: column - 1].strip() or "\n" in tree.node_text(call):
        return
    step = "\t" if indent.startswith("\t") else "    "
    text = f"if not {torch}.compiler.is_compiling():{newline(tree)}{indent}{step}{tree.node_text(call)}"
    yield make(
        "log-in-eager",
        f"Call `{_function(tree, call)}` in eager only (`torch.compiler.is_compiling`)",
        replace_node(tree, call.parent, text),
        torch_import(tree),
        kind=FixKind.LOSSY,
    )


def remove_break(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """Take ``torch._dynamo.graph_break()`` away."""
    call = _statement_call(finding, tree)
    if call is not None and call.parent is not None and _function(tree, call).rpartition(".")[2] == "graph_break":
        yield make("remove-break", "Remove the explicit graph break", remove_statement(tree, call.parent))


def remove_disable(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """Take ``@torch.compiler.disable`` away from the function of this file that is called."""
    call = call_at(tree, finding.place) if finding.kind is Kind.GRAPH_BREAK else None
    name = _function(tree, call).rpartition(".")[2] if call is not None else ""
    for function in definitions(tree) if name else ():
        if function.name != name or function.kind != "function":
            continue
        for number, decorator in enumerate(function.decorators):
            line = function.first_line + number
            if _DISABLE.search(decorator.partition("(")[0]) and tree.line_text(line).strip() == f"@{decorator}":
                edit = Edit(Range(line, 1, line + 1, 1), "")
                title = f"Compile `{name}`, too: remove `@{decorator.partition('(')[0]}`"
                yield make("remove-disable", title, edit)


def count_outside(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``self.calls += 1`` in ``forward``, moved to the calls of the module in this file."""
    function = function_of(finding, tree) if finding.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT) else None
    counter = _counter(finding, tree) if function is not None else None
    if function is None or counter is None:
        return
    statement, attribute, rest = counter
    edits: list[Edit | None] = []
    for call in calls_of(tree, function):
        place = statement_of(call.node)
        is_name = call.receiver.replace(".", "").isidentifier()
        edits.append(
            before(tree, place, f"{call.receiver}.{attribute} {rest}") if place is not None and is_name else None
        )
    if edits and all(edit is not None for edit in edits):
        removed = remove_statement(tree, statement)
        yield make(
            "count-outside",
            f"Update `{attribute}` where the module is called, not in `{function.name}`",
            removed,
            *edits,
        )


def _counter(finding: Finding, tree: SourceTree) -> tuple[tree_sitter.Node, str, str] | None:
    """The statement of a finding if it is ``self.name += number``: with the name, and what comes after it."""
    offset = tree.offset(finding.place.line, finding.place.column)
    node = tree.root.descendant_for_byte_range(offset, offset)
    found = next((a for a in ancestors(node) if a.type == "augmented_assignment"), None) if node is not None else None
    if found is None or found.parent is None or found.parent.type != "expression_statement":
        return None
    left, right = found.child_by_field_name("left"), found.child_by_field_name("right")
    if left is None or right is None or right.type not in ("integer", "float"):
        return None
    owner, _, name = tree.node_text(left).rpartition(".")
    rest = tree.source[left.end_byte : found.end_byte].decode("utf-8", "replace").strip()
    return (found.parent, name, rest) if owner == "self" else None


def _statement_call(finding: Finding, tree: SourceTree) -> tree_sitter.Node | None:
    """The call of a break that is a statement of its own."""
    call = call_at(tree, finding.place) if finding.kind in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR) else None
    parent = call.parent if call is not None else None
    return (
        call if parent is not None and parent.type == "expression_statement" and parent.named_child_count == 1 else None
    )


def _function(tree: SourceTree, call: tree_sitter.Node) -> str:
    function = call.child_by_field_name("function")
    return tree.node_text(function) if function is not None else ""


def _format_call(tree: SourceTree, call: tree_sitter.Node) -> str:
    """``"loss {} of {}", loss, n`` for what ``print("loss", loss, "of", n)`` shows; '' where it has options."""
    arguments = call.child_by_field_name("arguments")
    given = arguments.named_children if arguments is not None else []
    pieces, values = [], []
    for each in given:
        text = tree.node_text(each)
        is_plain = each.type == "string" and text[0] in "\"'" and text[:3] not in ('"""', "'" * 3)
        if each.type in ("keyword_argument", "list_splat", "dictionary_splat", "comment", "string") and not is_plain:
            return ""
        if is_plain and not any(letter in text for letter in "{}\\"):
            pieces.append(text[1:-1].replace('"', '\\"'))
        elif is_plain:
            return ""
        else:
            pieces.append("{}")
            # a size is a tuple, and the operator takes single values alone
            values.append(f"str({text})" if _SIZE.search(text) else text)
    return ", ".join([f'"{" ".join(pieces)}"', *values]) if values else ""


def _has(node: tree_sitter.Node, kinds: frozenset[str]) -> bool:
    return node.type in kinds or any(_has(child, kinds) for child in node.named_children)
