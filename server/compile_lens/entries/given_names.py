"""The names that a file gives to what has one already: by an import, an assignment, a loop and the like, outside of functions."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator

import tree_sitter

from compile_lens.late_pattern import pattern
from compile_lens.syntax.definitions import decorator_nodes
from compile_lens.syntax.tree import Query, SourceTree, ancestors, identifiers, kept_with_tree

_WORD = pattern(r"\w+")
_IMPORTED_AS = Query(
    """
    (import_statement (aliased_import name: (_) @of alias: (identifier) @name))
    (import_from_statement module_name: (_) @of name: (dotted_name (identifier) @name))
    (import_from_statement module_name: (_) @of name: (aliased_import name: (_) @of alias: (identifier) @name))
    """
)
_BOUND = Query(
    """
    (assignment left: (_) @name right: (_) @of)
    (augmented_assignment left: (_) @name right: (_) @of)
    (named_expression name: (_) @name value: (_) @of)
    (for_statement left: (_) @name right: [(identifier) (list) (tuple) (set) (dictionary) (parenthesized_expression)] @of)
    (with_item value: (as_pattern (_) @of alias: (_) @name))
    (with_item value: (parenthesized_expression (as_pattern (_) @of alias: (_) @name)))
    """
)
# what something comes out of: an item of it, what it enters, a part that fits a pattern
_TAKEN = Query(
    """
    (for_statement left: (_) @name right: (_) @of)
    (with_item value: (as_pattern (_) @of alias: (_) @name))
    (with_item value: (parenthesized_expression (as_pattern (_) @of alias: (_) @name)))
    (named_expression name: (_) @name value: (_) @of)
    (assignment left: [(pattern_list) (tuple_pattern) (list_pattern)] @name right: (_) @of)
    (match_statement subject: (_) @of body: (block alternative: (case_clause (case_pattern) @pattern)))
    (ERROR) @unread
    """
)
_FUNCTIONS = Query("[(function_definition) (lambda)] @function")
_COMPREHENSIONS = frozenset(
    {"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"}
)
# of a call or an item, the result is bound, and not what made it
_RESULTS = frozenset({"call", "subscript", "await", "comparison_operator", "string"})
_OTHER_SCOPES = _COMPREHENSIONS | {"lambda"}
_TARGETS = frozenset(
    {
        *("pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "as_pattern_target"),
        *("parenthesized_expression", "tuple", "list"),
    }
)


def given_names(tree: SourceTree) -> Iterator[tuple[set[str], set[str]]]:
    """The names that something consists of, and those that the file gives to it."""
    functions = _Stretches(tree)
    for query in (_IMPORTED_AS, _BOUND):
        for _, captured in query.matches(tree.root):
            if query is _BOUND and functions.have(captured["name"][0].start_byte):
                continue
            of = {name for node in captured["of"] for name in _bound_names(tree, node)}
            yield of, _names(tree, captured["name"])


def taken_names(tree: SourceTree) -> Iterator[tuple[set[str], set[str]]]:
    """The names anywhere in an expression, and those that the file gives to what comes out of it: by a loop, a ``with``, a ``match``,
    ``:=`` or several targets. That may be what the names mean, or a number."""
    functions = _Stretches(tree)
    for _, captured in _TAKEN.matches(tree.root):
        sources = captured.get("of", []) + captured.get("unread", [])
        if functions.have(sources[0].start_byte):
            continue
        # in what the grammar lacks, any name may be given
        names = _names(tree, captured.get("name", []) + captured.get("unread", []))
        for each in captured.get("pattern", []):
            names.update(map(as_python_reads, _captures(tree, each)))
        yield {name for node in sources for name in _contained(tree, _around(node))}, names


def own_names(tree: SourceTree, offset: int) -> frozenset[str]:
    """The names that mean something of its own in the function whose name is at ``offset``, whatever they mean outside of it."""
    named = tree.root.descendant_for_byte_range(offset, offset)
    function = named.parent if named is not None else None
    if function is None or function.type != "function_definition":
        return frozenset()
    parts = {field: function.child_by_field_name(field) for field in ("parameters", "body")}
    found = {name for node in parts.values() if node is not None for name in _bound_in(tree, node)}
    # defaults and decorators are of the scope around it
    parameters = parts["parameters"].named_children if parts["parameters"] is not None else []
    defaults = (value for each in parameters if (value := each.child_by_field_name("value")) is not None)
    return frozenset(map(as_python_reads, found)) - _names(tree, [*defaults, *decorator_nodes(function)])


def as_python_reads(name: str) -> str:
    """To Python, names that differ in the width or the style of their letters are one."""
    return unicodedata.normalize("NFKC", name)


class _Stretches:
    """Where functions are: what is bound in one is its own."""

    def __init__(self, tree: SourceTree) -> None:
        self._starts, self._ends = _function_stretches(tree)

    def have(self, offset: int) -> bool:
        """Whether a function has this place."""
        before = bisect_right(self._starts, offset) - 1
        return before >= 0 and offset < self._ends[before]


@kept_with_tree
def _function_stretches(tree: SourceTree) -> tuple[list[int], list[int]]:
    starts: list[int] = []
    ends: list[int] = []
    nodes = _FUNCTIONS.everywhere(tree).get("function", [])
    for start, end in sorted((node.start_byte, node.end_byte) for node in nodes):
        if not ends or start >= ends[-1]:
            starts.append(start)
            ends.append(end)
    return starts, ends


def _names(tree: SourceTree, nodes: list[tree_sitter.Node]) -> set[str]:
    return {as_python_reads(tree.node_text(left)) for node in nodes for left in identifiers(node)}


def _bound_names(tree: SourceTree, node: tree_sitter.Node) -> Iterator[str]:
    """The names that what is bound consists of; all of them in what runs later."""
    if node.type in _RESULTS:
        return
    if node.type in ("identifier", "lambda"):
        yield from _contained(tree, node)
        return
    for child in node.named_children:
        yield from _bound_names(tree, child)


def _contained(tree: SourceTree, node: tree_sitter.Node) -> Iterator[str]:
    """Every name in ``node`` but those of arguments; of what is nested too deep to be read, all words."""
    for start, end in tree.unread:
        if node.start_byte <= start and end <= node.end_byte:
            words = _WORD.findall(tree.source[start:end].decode("utf-8", "replace"))
            yield from map(as_python_reads, dict.fromkeys(words))
    for each in identifiers(node):
        parent = each.parent
        if parent is None or parent.type != "keyword_argument" or parent.child_by_field_name("name") != each:
            yield as_python_reads(tree.node_text(each))


def _around(node: tree_sitter.Node) -> tree_sitter.Node:
    """``node``, or the outermost comprehension around it: what it goes through has names in it."""
    around = [each for each in ancestors(node) if each.type in _COMPREHENSIONS]
    return around[-1] if around else node


def _captures(tree: SourceTree, node: tree_sitter.Node) -> Iterator[str]:
    """The names that a pattern of a ``match`` gives: neither those of classes, nor of their attributes."""
    if node.type == "dotted_name" and node.named_child_count > 1:
        return
    if node.type in ("dotted_name", "identifier"):
        yield tree.node_text(node)
        return
    is_named = node.type in ("class_pattern", "keyword_pattern")
    for child in node.named_children[1:] if is_named else node.named_children:
        yield from _captures(tree, child)


def _bound_in(tree: SourceTree, node: tree_sitter.Node) -> Iterator[str]:
    """The names that a function's parameters or statements bind, without those of the functions and classes in it."""
    if node.type in _OTHER_SCOPES:
        return
    if node.type in ("function_definition", "class_definition"):
        if (name := node.child_by_field_name("name")) is not None:
            yield tree.node_text(name)
        return
    if node.type == "parameters":
        for each in node.named_children:
            yield from (tree.node_text(name) for name in list(identifiers(each))[:1])
        return
    if node.type in ("assignment", "augmented_assignment", "for_statement"):
        yield from _targets(tree, node.child_by_field_name("left"))
    elif node.type == "named_expression":
        yield from _targets(tree, node.child_by_field_name("name"))
    elif node.type == "as_pattern_target":
        yield from _targets(tree, node)
    for child in node.named_children:
        yield from _bound_in(tree, child)


def _targets(tree: SourceTree, node: tree_sitter.Node | None) -> Iterator[str]:
    """The variables that a target sets: of ``x.y`` and ``x[y]`` none."""
    if node is None:
        return
    if node.type == "identifier":
        yield tree.node_text(node)
    elif node.type in _TARGETS:
        for child in node.named_children:
            yield from _targets(tree, child)
