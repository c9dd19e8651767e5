"""Finds the source range for a line, or for the columns that the interpreter reports."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

import tree_sitter

from compile_lens.syntax.definitions import Definition, Parameter, definition_at, definitions, parameter_range
from compile_lens.syntax.tree import Query, Range, SourceTree, ancestors, byte_to_column

__all__ = [
    "Definition",
    "Parameter",
    "Range",
    "byte_to_column",
    "definition_at",
    "definitions",
    "expression_at",
    "find_ending",
    "find_expression",
    "parameter_range",
]

_NAMED_THINGS = Query("[(identifier) (attribute) (subscript) (call)] @thing")

# statements and clauses, and the field with the expression that executes on the first line
_EXECUTED_FIELD = {
    "if_statement": "condition",
    "elif_clause": "condition",
    "while_statement": "condition",
    "for_statement": "right",
    "for_in_clause": "right",
    "match_statement": "subject",
    "except_clause": "value",
    "assignment": "right",
    "augmented_assignment": "right",
    "keyword_argument": "value",
    "pair": "value",
    "function_definition": "name",
    "class_definition": "name",
}
# nodes whose first child executes
_EXECUTED_CHILD = frozenset(
    {"return_statement", "raise_statement", "assert_statement", "delete_statement", "decorator", "if_clause"}
)
_WHOLE = frozenset({"import_statement", "import_from_statement", "future_import_statement"})
# if an end fits both one of these and a call over several lines, prefer the call
_LOADED = frozenset({"identifier", "attribute"})
_CONTAINERS = frozenset({"module", "block", "ERROR", "decorated_definition"})


def expression_at(
    tree: SourceTree,
    line: int,
    column: int | None = None,
    end_column: int | None = None,
    end_line: int | None = None,
    end_byte: int | None = None,
) -> Range | None:
    """The best range for a place that torch or the interpreter names; None if nothing is there.

    With a ``column`` (from 1, code points) it is the smallest expression from there that covers what was reported: a
    range cut off at the end of its first line gets its true end, and an ``end_column`` that belongs to a later line is
    understood without ``end_line``. A statement stands for what it executes, ``a if b else c`` for ``b``. ``end_byte``
    takes the place of ``end_column`` for an end in UTF-8 bytes from 0 on a line that is not told, which is all that
    Dynamo keeps (torch 2.13).

    Without columns it is the part of the statement that executes on that line: the condition of an ``if``, the iterable
    of a ``for``, the right side of an assignment, the call of an expression statement.
    """
    whole = _code_of_line(tree, line)
    if whole is None:
        return None
    if column is None:
        return _executed_on(tree, line, whole)
    start, last = tree.offset(line, column), tree.offset(line, whole.end_column)
    if not tree.offset(line, whole.column) <= start < last:
        return _executed_on(tree, line, whole)
    method = _method_on_its_own_line(tree, start)
    if method is not None:
        return method
    from_here = _expressions_from(tree, start)
    if end_byte is not None:
        end = min(tree.line_starts[line - 1] + max(end_byte, 0), last)
    elif end_column is not None:
        end = tree.offset(end_line or line, end_column)
        end = min(end, last) if end_line in (None, line) else end
    else:
        return tree.node_range(_condition_of(from_here[-1])) if from_here else _executed_on(tree, line, whole)
    covering = _smallest(tree, start, max(end, start))
    if _is_statement(covering) and covering.start_byte == start:
        part = _executed_part(covering)
        return tree.node_range(part) if part is not None else _executed_on(tree, line, whole)
    is_exact = end > start and (covering.start_byte, covering.end_byte) == (start, end)
    if end_line is None and (not is_exact or covering.type in _LOADED):
        for node in from_here:
            if _ends_on_a_later_line(tree, node, end_column, end_byte):
                return tree.node_range(node)
    if is_exact:
        return tree.node_range(_condition_of(covering))
    if covering.start_byte >= tree.line_starts[line - 1] and not _is_statement(covering):
        return tree.node_range(covering)
    return tree.range_between(start, end) if end > start else whole


def find_expression(tree: SourceTree, text: str, first_line: int = 1, last_line: int | None = None) -> Range | None:
    """The first name, attribute, subscript or call with this source text (spaces and quotes aside) within the lines given."""
    wanted = _without_spaces(text)
    return _first_thing(tree, lambda found: found == wanted, first_line, last_line) if wanted else None


def find_ending(tree: SourceTree, ending: str, line: int) -> Range | None:
    """The first attribute or subscript on ``line`` that ends with ``ending``: ``self.late`` for ``.late``."""
    wanted = _without_spaces(ending)
    return _first_thing(tree, lambda found: found.endswith(wanted), line, line) if wanted else None


def _without_spaces(text: str) -> str:
    return "".join(text.split()).replace('"', "'")


def _first_thing(
    tree: SourceTree, is_wanted: Callable[[str], bool], first_line: int, last_line: int | None
) -> Range | None:
    last = len(tree.lines) if last_line is None else min(last_line, len(tree.lines))
    if not 1 <= first_line <= last:
        return None
    stretch = tree.line_starts[first_line - 1], tree.offset(last + 1, 1)
    found: list[Range] = []
    for node in _NAMED_THINGS.captures(tree.root, stretch).get("thing", []):
        if is_wanted(_without_spaces(tree.node_text(node))) and not _is_part_of_a_name(node):
            place = tree.node_range(node)
            if first_line <= place.line <= last:
                found.append(place)
    return min(found, key=lambda place: (place.line, place.column), default=None)


def _condition_of(node: tree_sitter.Node) -> tree_sitter.Node:
    """``b`` of ``a if b else c`` and ``a`` of ``a or b``, because the interpreter only jumps at the range of the whole.

    ``a or b or c`` is one range for two jumps, and stays whole.
    """
    parts = [child for child in node.named_children if child.type != "comment"]
    if node.type == "conditional_expression" and len(parts) == 3:
        return parts[1]
    if node.type == "boolean_operator" and parts[0].type != "boolean_operator":
        return parts[0]
    return node


def _ends_on_a_later_line(
    tree: SourceTree, node: tree_sitter.Node, end_column: int | None, end_byte: int | None
) -> bool:
    end_line, column = tree.position(node.end_byte)
    if end_line == tree.position(node.start_byte)[0]:
        return False
    if end_byte is not None:
        return node.end_byte - tree.line_starts[end_line - 1] == end_byte
    return column == end_column


def _executed_on(tree: SourceTree, line: int, whole: Range) -> Range:
    start = tree.offset(line, whole.column)
    leaf = _leaf(tree, start)
    if leaf.type == "." and leaf.next_sibling is not None:
        return _method_on_its_own_line(tree, leaf.next_sibling.start_byte) or whole
    if leaf.start_byte != start:
        return whole
    chain = [leaf, *takewhile(lambda node: node.start_byte == start, list(ancestors(leaf))[1:])]
    chain = [node for node in chain if node.type not in _CONTAINERS]
    if not chain or _is_in_broken_code(chain[-1]) or _has_neighbour_on_line(tree, chain[-1], line):
        return whole
    top = next((node for node in chain if node.type == "decorator"), chain[-1])
    part = _executed_part(top)
    return tree.node_range(part) if part is not None else whole


def _executed_part(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The part of a statement that executes first, or the node itself if it is an expression; None otherwise."""
    if node.type == "expression_statement":
        return _executed_part(node.named_children[0]) if node.named_child_count == 1 else node
    if node.type in _EXECUTED_FIELD:
        part = node.child_by_field_name(_EXECUTED_FIELD[node.type])
        return _executed_part(part) if part is not None else None
    if node.type in _EXECUTED_CHILD:
        return next((child for child in node.named_children if child.type != "comment"), node)
    if node.type == "with_statement":
        return _with_part(node)
    if node.type == "as_pattern":
        return node.named_children[0] if node.named_children else node
    if node.type in _WHOLE or (node.is_named and not _is_statement(node)):
        return node
    return None


def _with_part(node: tree_sitter.Node) -> tree_sitter.Node | None:
    clause = next((child for child in node.named_children if child.type == "with_clause"), None)
    if clause is None:
        return None
    items = [child for child in clause.named_children if child.type == "with_item"]
    value = items[0].child_by_field_name("value") if len(items) == 1 else None
    return clause if value is None else _executed_part(value)


def _method_on_its_own_line(tree: SourceTree, start: int) -> Range | None:
    """The range of a method call from the method's name on, if its receiver ends on an earlier line.

    That is where the interpreter says that a call in a chain of methods on lines of their own begins (CPython 3.11,
    ``compile.c``, ``update_start_location_to_match_attr``).
    """
    name = _leaf(tree, start)
    attribute = name.parent
    if attribute is None or attribute.type != "attribute" or name.start_byte != start:
        return None
    receiver = attribute.child_by_field_name("object")
    if receiver is None or attribute.child_by_field_name("attribute") != name:
        return None
    if tree.position(receiver.end_byte)[0] == tree.position(start)[0]:
        return None
    call = attribute.parent
    is_called = call is not None and call.type == "call" and call.child_by_field_name("function") == attribute
    return tree.range_between(start, call.end_byte if is_called and call is not None else name.end_byte)


def _leaf(tree: SourceTree, start: int) -> tree_sitter.Node:
    return tree.root.descendant_for_byte_range(start, min(start + 1, len(tree.source))) or tree.root


def _smallest(tree: SourceTree, start: int, end: int) -> tree_sitter.Node:
    """The smallest named node that covers the bytes; the outermost of several with the same range."""
    node = tree.root.named_descendant_for_byte_range(start, end) or tree.root
    while node.parent is not None and not _is_statement(node.parent):
        if (node.parent.start_byte, node.parent.end_byte) != (node.start_byte, node.end_byte):
            break
        node = node.parent
    return node


def _expressions_from(tree: SourceTree, start: int) -> list[tree_sitter.Node]:
    """The expressions that begin at a byte, smallest first."""
    leaf = _leaf(tree, start)
    if leaf.start_byte != start:
        return []
    chain = takewhile(lambda node: node.start_byte == start and not _is_statement(node), ancestors(leaf))
    return [node for node in chain if node.is_named]


def _is_statement(node: tree_sitter.Node) -> bool:
    return (
        node.type in _CONTAINERS
        or node.type.endswith(("_statement", "_definition", "_clause"))
        or node.type in ("assignment", "decorator", "with_item", "comment", "keyword_argument", "pair")
    )


def _is_part_of_a_name(node: tree_sitter.Node) -> bool:
    """Whether an identifier is the ``b`` of ``a.b`` or the name of a keyword argument."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "attribute":
        return parent.child_by_field_name("attribute") == node
    return parent.type == "keyword_argument" and parent.child_by_field_name("name") == node


def _is_in_broken_code(node: tree_sitter.Node) -> bool:
    return node.parent is not None and node.parent.type == "ERROR"


def _has_neighbour_on_line(tree: SourceTree, node: tree_sitter.Node, line: int) -> bool:
    """Whether another statement follows on the same line (``a = 1; b = x.item()``)."""
    following = node.next_named_sibling
    return (
        node.type.endswith("_statement")
        and following is not None
        and following.type.endswith("_statement")
        and tree.position(following.start_byte)[0] == line
    )


def _code_of_line(tree: SourceTree, line: int) -> Range | None:
    """A line without indentation and trailing comment; None for an empty line or a comment."""
    whole = tree.stripped_line(line)
    if whole is None:
        return None
    last = _leaf(tree, tree.offset(line, whole.end_column - 1))
    if last.type != "comment":
        return whole
    before = tree.position(last.start_byte)[1] - 1
    code = tree.line_text(line)[:before].rstrip()
    return Range(line, whole.column, line, len(code) + 1) if code.strip() else None
