"""Conditions on tensors: the branch that a finding is about, and its condition as a tensor of booleans."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Place
from compile_lens.fixes.rewrites.editing import text_with
from compile_lens.fixes.rewrites.equivalents import of_math
from compile_lens.syntax.definitions import Definition
from compile_lens.syntax.tree import Query, SourceTree, ancestors

_CONDITIONS = Query("[(if_statement) (elif_clause) (conditional_expression)] @branch")
_BRANCHES = ("if_statement", "conditional_expression", "while_statement", "elif_clause", "assert_statement")
_BOOLEAN_METHODS = frozenset({"any", "all", "isnan", "isinf", "isfinite", "logical_not", "logical_and", "logical_or"})
_EXACT = frozenset({"equal"})
_TO_NUMBER = frozenset({"bool", "int", "float"})
_SCOPES = frozenset({"block", "lambda", "function_definition", "module"})


def branch_of(tree: SourceTree, place: Place, kinds: tuple[str, ...] = _BRANCHES[:2]) -> tree_sitter.Node | None:
    """The ``if``, or ``a if c else b``, in whose condition ``place`` is; for an ``elif``, the ``if`` that it belongs to."""
    start, end = tree.offset(place.line, place.column), tree.offset(place.end_line, place.end_column)
    node = tree.root.named_descendant_for_byte_range(start, max(start, end - 1))
    if node is None:
        return None
    inner = node
    for ancestor in ancestors(node):
        if ancestor.type == "elif_clause" and _condition_of(ancestor) == inner and "if_statement" in kinds:
            return ancestor.parent
        if ancestor.type in kinds:
            # a finding may cover the whole statement, or its condition
            return ancestor if inner in (_condition_of(ancestor), ancestor) else None
        if ancestor.type in _SCOPES:
            return None
        inner = ancestor
    return None


def _condition_of(node: tree_sitter.Node) -> tree_sitter.Node | None:
    if node.type == "conditional_expression":
        parts = [child for child in node.named_children if child.type != "comment"]
        return parts[1] if len(parts) == 3 else None
    if node.type == "assert_statement":
        return node.named_children[0] if node.named_children else None
    return node.child_by_field_name("condition")


def tensor_condition(tree: SourceTree, node: tree_sitter.Node, torch: str = "torch") -> str:
    """The condition as a tensor of booleans: ``if`` treats a number as ``!= 0``, and ``and`` and ``or`` ask for one value."""
    inner = unwrapped(tree, node)
    if inner.type == "not_operator":
        argument = inner.child_by_field_name("argument")
        if argument is not None:
            return f"~{_operand(tensor_condition(tree, argument, torch))}"
    if inner.type == "boolean_operator":
        left, right, operator = (inner.child_by_field_name(name) for name in ("left", "right", "operator"))
        if left is not None and right is not None and operator is not None:
            sign = "&" if tree.node_text(operator) == "and" else "|"
            return f"{_operand(tensor_condition(tree, left, torch))} {sign} {_operand(tensor_condition(tree, right, torch))}"
    text = tensor_text(tree, inner)
    if inner.type == "comparison_operator" or inner.type in ("true", "false"):
        return text
    name = _method(tree, inner)
    if name in _EXACT:
        return _equal(tree, inner) or text
    if name in _BOOLEAN_METHODS:
        return text
    return f"{text} != 0" if inner.type in ("identifier", "attribute", "call", "subscript") else f"({text}) != 0"


def _operand(text: str) -> str:
    return text if text.replace(".", "").replace("_", "").isalnum() else f"({text})"


def unwrapped(tree: SourceTree, node: tree_sitter.Node) -> tree_sitter.Node:
    """What stands in parentheses, in ``bool(…)`` and its like, or before ``.item()``."""
    while True:
        if node.type == "parenthesized_expression" and node.named_child_count == 1:
            node = node.named_children[0]
            continue
        tensor = tensor_of(tree, node) if node.type == "call" else None
        if tensor is None:
            return node
        node = tensor


def tensor_of(tree: SourceTree, call: tree_sitter.Node) -> tree_sitter.Node | None:
    """``y`` of ``y.item()``, and of ``bool(y)``, ``int(y)`` and ``float(y)`` where it may be a tensor."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    given = arguments.named_children if arguments is not None and arguments.type == "argument_list" else []
    if function is None:
        return None
    if function.type == "attribute" and not given:
        name = function.child_by_field_name("attribute")
        if name is not None and tree.node_text(name) == "item":
            return function.child_by_field_name("object")
    is_conversion = function.type == "identifier" and tree.node_text(function) in _TO_NUMBER
    if is_conversion and len(given) == 1 and given[0].type in ("call", "subscript", "identifier", "attribute"):
        return given[0]
    return None


def tensor_text(tree: SourceTree, node: tree_sitter.Node) -> str:
    """The text of an expression in one line, without the conversions of its operands to Python numbers: ``torch.isnan(y)`` for
    ``math.isnan(y.item())``."""
    found: list[tuple[int, int, str]] = []
    pending = [node]
    while pending:
        each = pending.pop()
        inner = unwrapped(tree, each) if each.type == "call" else each
        torchs = of_math(tree, each) if each.type == "call" and inner == each else ""
        if inner != each:
            found.append((each.start_byte, each.end_byte, tensor_text(tree, inner)))
        elif torchs:
            given = tensor_text(tree, each.named_children[-1].named_children[0])
            found.append((each.start_byte, each.end_byte, f"{torchs}({given})"))
        elif each.type not in ("lambda", "string"):
            pending += each.named_children
    return " ".join(text_with(tree, node, found).split())


def _method(tree: SourceTree, node: tree_sitter.Node) -> str:
    function = node.child_by_field_name("function") if node.type == "call" else None
    return tree.node_text(function).rpartition(".")[2] if function is not None else ""


def _equal(tree: SourceTree, call: tree_sitter.Node) -> str:
    """``torch.equal(a, b)`` is a Python boolean; ``(a == b).all()`` is a tensor."""
    arguments = call.child_by_field_name("arguments")
    given = [tree.node_text(each) for each in (arguments.named_children if arguments is not None else [])]
    function = call.child_by_field_name("function")
    owner = function.child_by_field_name("object") if function is not None else None
    if len(given) == 1 and owner is not None:
        given = [tree.node_text(owner), *given]
    return f"({given[0]} == {given[1]}).all()" if len(given) == 2 else ""


def conditions_in(tree: SourceTree, function: Definition, with_elif: bool) -> Iterator[tree_sitter.Node]:
    """The condition of each ``if`` and ``a if c else b`` in ``function``."""
    for node in _CONDITIONS.everywhere(tree).get("branch", []):
        condition = node.child_by_field_name("condition")
        if node.type == "conditional_expression" and node.named_child_count == 3:
            condition = node.named_children[1]
        inside = function.def_line <= tree.position(node.start_byte)[0] <= function.last_line
        if condition is not None and inside and (with_elif or node.type != "elif_clause"):
            yield condition
