"""The names that code has as texts, and looks up: in what `globals()` gives, by `getattr`, in a `__dict__`.

A text stands for a name where it is looked up as it stands. Where what is looked up is no constant, any text of the same function may be
it. One that is put together of what only a run knows is not found.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator

import tree_sitter

from compile_lens.entries.effects import with_given
from compile_lens.entries.given_names import given_names
from compile_lens.late_pattern import pattern
from compile_lens.syntax.foreign_texts import parse_expression
from compile_lens.syntax.tree import Query, SourceTree, kept_with_tree

_CALLS = Query("(call function: [(identifier) (attribute)] @function arguments: (argument_list) @arguments) @call")
_SUBSCRIPTS = Query("(subscript value: (_) @namespace) @subscript")
_MENTIONS = Query("[(identifier) @name (attribute attribute: (identifier) @name)]")
_FUNCTIONS = Query("(function_definition) @function")
_TEXTS = Query("[(string) (concatenated_string) (binary_operator)] @text")
# what gives names by their texts, and the attributes that are such
_GIVES = frozenset({"globals", "vars"})
_NAMESPACES = frozenset({"__dict__", "__globals__"})
_BY_TEXT = frozenset(
    {"getattr", "getattr_static", "attrgetter", "methodcaller", "itemgetter", "__getattribute__", "__getattr__"}
)
_ITEMS = frozenset({"get", "pop", "setdefault", "__getitem__"})
# an attribute of an object of the file's own is its own
_OWN = frozenset({"self", "cls"})
_WORD = pattern(r"\w+")
# a name is short
LONGEST = 200


def looked_up_names(tree: SourceTree, start: int, end: int) -> Iterator[str]:
    """The names that the code between two offsets may look up by a text."""
    starts, names = _looked_up(tree)
    yield from names[bisect_left(starts, start) : bisect_left(starts, end)]


@kept_with_tree
def _looked_up(tree: SourceTree) -> tuple[list[int], list[str]]:
    found: list[tuple[int, str]] = []
    # whoever has one of these may look up what is no constant
    open_at: list[int] = []
    settled: set[int] = set()
    for keys, namespace, place in _look_ups(tree):
        texts = [_text(tree, key) for key in keys]
        constant = [text for text in texts if text is not None]
        found += [(place, word) for text in constant for word in _WORD.findall(text)]
        if constant:
            settled.add(namespace)
        elif namespace not in settled:
            open_at.append(place)
    mentions = _MENTIONS.everywhere(tree).get("name", [])
    open_at += [
        node.start_byte for node in mentions if node.start_byte not in settled and _is_namespace_name(tree, node)
    ]
    if open_at:
        found += _texts_around(tree, sorted(open_at))
    found.sort()
    return [place for place, _ in found], [name for _, name in found]


def _look_ups(tree: SourceTree) -> Iterator[tuple[list[tree_sitter.Node], int, int]]:
    """What is looked up, where the name of that in which it is stands, and where the look-up begins."""
    for _, captured in _CALLS.matches(tree.root):
        function, arguments, place = (
            captured["function"][0],
            captured["arguments"][0].named_children,
            captured["call"][0].start_byte,
        )
        named = function.child_by_field_name("attribute") if function.type == "attribute" else function
        owner = function.child_by_field_name("object")
        name = tree.node_text(named) if named is not None else ""
        if name in _called_so(tree, _BY_TEXT) and arguments:
            # of what is asked for an attribute, and the attribute
            asked = arguments[1:2] if name.startswith("getattr") else arguments
            if tree.node_text(arguments[0]) not in _OWN and not _is_number(asked):
                yield asked, function.start_byte, place
        elif name in _ITEMS and owner is not None and (at := _namespace(tree, owner)) is not None:
            yield arguments[:1], at, place
    for _, captured in _SUBSCRIPTS.matches(tree.root):
        at = _namespace(tree, captured["namespace"][0])
        if at is not None:
            node = captured["subscript"][0]
            yield node.children_by_field_name("subscript"), at, node.start_byte


def _called_so(tree: SourceTree, names: frozenset[str]) -> frozenset[str]:
    """``names``, and those that the file gives them."""
    by_text, gives = _lookers(tree)
    return by_text if names is _BY_TEXT else gives


@kept_with_tree
def _lookers(tree: SourceTree) -> tuple[frozenset[str], frozenset[str]]:
    given = list(given_names(tree))
    return with_given(_BY_TEXT, given), with_given(_GIVES, given)


def _is_number(keys: list[tree_sitter.Node]) -> bool:
    """Whether items of a list are asked for."""
    return all(key.type in ("integer", "unary_operator") for key in keys)


def _namespace(tree: SourceTree, node: tree_sitter.Node) -> int | None:
    """Where the name stands by which ``node`` is names with what they mean; None if it is none."""
    while node.type == "parenthesized_expression" and node.named_child_count:
        node = node.named_children[0]
    if node.type == "call":
        named = node.child_by_field_name("function")
    else:
        named = node.child_by_field_name("attribute") if node.type == "attribute" else None
    return named.start_byte if named is not None and _is_namespace_name(tree, named) else None


def _is_namespace_name(tree: SourceTree, node: tree_sitter.Node) -> bool:
    name, parent = tree.node_text(node), node.parent
    gives = _called_so(tree, _GIVES)
    if name not in gives | _NAMESPACES or parent is None:
        return False
    if name in gives:
        arguments = parent.child_by_field_name("arguments") if parent.type == "call" else None
        about = arguments.named_children[0] if arguments is not None and arguments.named_children else None
    else:
        about = parent.child_by_field_name("object") if parent.type == "attribute" else None
    return about is None or tree.node_text(about) not in _OWN


def _texts_around(tree: SourceTree, places: list[int]) -> Iterator[tuple[int, str]]:
    """The words of the texts in functions that have one of ``places``."""
    functions = [
        (node.start_byte, node.end_byte)
        for node in _FUNCTIONS.everywhere(tree).get("function", [])
        if bisect_left(places, node.start_byte) < bisect_left(places, node.end_byte)
    ]
    for node in _TEXTS.everywhere(tree).get("text", []):
        if any(start <= node.start_byte < end for start, end in functions) and (text := _text(tree, node)) is not None:
            yield from ((node.start_byte, word) for word in _WORD.findall(text) if word == text)


def _text(tree: SourceTree, node: tree_sitter.Node) -> str | None:
    """The constant text that ``node`` is, also one that is put together of others."""
    if node.end_byte - node.start_byte > LONGEST:
        return None
    try:
        return _constant(parse_expression(tree.node_text(node).strip()))
    except (SyntaxError, RecursionError):
        return None


def _constant(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _constant(node.left), _constant(node.right)
        return None if left is None or right is None else left + right
    return None
