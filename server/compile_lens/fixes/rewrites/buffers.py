"""Fix for constants that a module keeps as buffers: as numbers, they can be lengths and paddings in a graph."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
from compile_lens.fixes.rewrites.editing import below_imports, replace_node
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import Query, SourceTree

_CLASSES = Query("(class_definition) @class")
_CALLS = Query("(call) @call")
_ASSIGNMENTS = Query("(assignment left: (identifier) right: (call)) @assignment")
_INTEGERS = frozenset({"torch.int64", "torch.long", "torch.int32", "torch.int"})
_ROUNDED = {"torch.ceil": "ceil", "torch.floor": "floor"}


def number_buffers(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``self.register_buffer("stride", torch.tensor(2), persistent=False)`` becomes ``self.stride = 2`` in the class of a break."""
    if finding.kind is not Kind.GRAPH_BREAK:
        return
    for node in _CLASSES.everywhere(tree).get("class", []):
        place = tree.node_range(node)
        if place.line <= finding.place.line <= place.end_line:
            yield from _of_class(tree, node)


def _of_class(tree: SourceTree, node: tree_sitter.Node) -> Iterator[Fix]:
    tensors = [each for each in _ASSIGNMENTS.captures(node).get("assignment", []) if _number(tree, each) is not None]
    made = {tree.node_text(left) for each in tensors if (left := each.child_by_field_name("left")) is not None}
    edits: list[Edit | None] = []
    names = []
    calls = _CALLS.captures(node).get("call", [])
    for call in calls:
        buffer = _buffer(tree, call)
        if buffer is not None and _names(tree, buffer[1]) <= made and _names(tree, buffer[1]):
            names.append(buffer[0])
            edits.append(replace_node(tree, call, f"self.{buffer[0]} = {tree.node_text(buffer[1])}"))
    if not names:
        return
    for each in tensors:
        right, number = each.child_by_field_name("right"), _number(tree, each)
        if right is not None and number is not None:
            edits.append(replace_node(tree, right, number))
    rounded = [edit for call in calls if (edit := _rounded(tree, call)) is not None]
    if rounded and "math" not in read_imports(tree).names:
        rounded.append(below_imports(tree, "import math"))
    words = ", ".join(f"`{name}`" for name in names)
    yield make("number-buffers", f"Keep {words} as numbers, not as buffers", *edits, *rounded, kind=FixKind.LOSSY)


def _number(tree: SourceTree, assignment: tree_sitter.Node) -> str | None:
    """``n`` of ``name = torch.tensor(n, dtype=torch.int64)``."""
    call = assignment.child_by_field_name("right")
    function = call.child_by_field_name("function") if call is not None else None
    arguments = call.child_by_field_name("arguments") if call is not None else None
    if function is None or arguments is None or read_imports(tree).resolve(tree.node_text(function)) != "torch.tensor":
        return None
    given = [tree.node_text(each) for each in arguments.named_children]
    is_integer = len(given) == 2 and given[1].removeprefix("dtype=") in _INTEGERS
    return given[0] if is_integer and not given[0].startswith("[") else None


def _buffer(tree: SourceTree, call: tree_sitter.Node) -> tuple[str, tree_sitter.Node] | None:
    """Name and value of ``self.register_buffer("name", value, persistent=False)``, a statement of its own."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    given = arguments.named_children if arguments is not None else []
    is_statement = call.parent is not None and call.parent.type == "expression_statement"
    if function is None or tree.node_text(function) != "self.register_buffer" or len(given) != 3 or not is_statement:
        return None
    name = tree.node_text(given[0]).strip("\"'")
    # one that is saved with the module has to stay a tensor
    is_kept_out = "".join(tree.node_text(given[2]).split()) == "persistent=False"
    return (name, given[1]) if is_kept_out and name.isidentifier() else None


def _names(tree: SourceTree, node: tree_sitter.Node) -> set[str]:
    """The names in an expression of names and operators; empty for another."""
    if node.type == "identifier":
        return {tree.node_text(node)}
    if node.type != "binary_operator":
        return set()
    sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
    found = [_names(tree, side) for side in sides if side is not None]
    return set.union(*found) if all(found) else set()


def _rounded(tree: SourceTree, call: tree_sitter.Node) -> Edit | None:
    """``torch.ceil(n).to(torch.int64)`` as ``math.ceil(n)``."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    inner = function.child_by_field_name("object") if function is not None else None
    if function is None or arguments is None or inner is None or inner.type != "call":
        return None
    method, rounds = function.child_by_field_name("attribute"), inner.child_by_field_name("function")
    if method is None or rounds is None or tree.node_text(method) != "to":
        return None
    name = _ROUNDED.get(tree.node_text(rounds))
    of = inner.child_by_field_name("arguments")
    dtype = [tree.node_text(each) for each in arguments.named_children]
    if name is None or of is None or dtype not in [[each] for each in _INTEGERS]:
        return None
    return replace_node(tree, call, f"math.{name}{tree.node_text(of)}")
