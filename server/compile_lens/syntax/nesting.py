"""Keeps a syntax tree shallow: what is nested deeper than people write takes the place of one name.

The parent of a node, the matches of a query and calls of a function by itself cost as much for each node as it is deep. So a file of 100 kB
could take minutes, and everything that walks a tree would need an answer for a recursion that goes too deep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import tree_sitter

# of 14,762 files of Python's library and of packages, three are deeper
MOST_LEVELS = 150
# a name as a statement of a block, or as a pattern
LEVELS_OF_A_NAME = 5
# each level of the grammar takes a part of a byte at least: a short node is not looked into
LEVELS_OF_A_BYTE = 4
_LINE_ENDS = b"\r\n"

# first byte, and that after the last
Stretch = tuple[int, int]


def shallow(
    tree: tree_sitter.Tree, source: bytes, parse: Callable[[bytes], tree_sitter.Tree]
) -> tuple[tree_sitter.Tree, tuple[Stretch, ...]]:
    """``tree`` of ``source``, or the one that ``parse`` makes of it without what is nested too deep, and the stretches that it lacks.

    Nothing changes its place.
    """
    if is_shallow(tree):
        return tree, ()
    # of three levels in one another, one is where a name can stand
    for level in range(MOST_LEVELS, MOST_LEVELS - 3, -1):
        unread = _stretches(_deep(tree, level))
        named = parse(_replaced(source, unread, b"_"))
        if is_shallow(named) and (tree.root_node.has_error or not named.root_node.has_error):
            return named, unread
    unread = _stretches(_top(tree, node) for node in _deep(tree, MOST_LEVELS))
    blank = parse(_replaced(source, unread, b" "))
    if is_shallow(blank):
        return blank, unread
    unread = _stretches([tree.root_node])
    return parse(_replaced(source, unread, b" ")), unread


def is_shallow(tree: tree_sitter.Tree) -> bool:
    """Whether nothing is deeper than what `shallow` leaves."""
    return next(_deep(tree, 0), None) is None


def _deep(tree: tree_sitter.Tree, level: int) -> Iterator[tree_sitter.Node]:
    """The nodes at ``level`` in which something is too deep, in order."""
    cursor = tree.walk()
    around = tree.root_node
    while True:
        node = cursor.node
        assert node is not None
        if cursor.depth == level:
            around = node
        left = MOST_LEVELS + LEVELS_OF_A_NAME - cursor.depth
        if left <= 0 and node.child_count:
            yield around
            while cursor.depth > level:
                cursor.goto_parent()
        elif (node.end_byte - node.start_byte) * LEVELS_OF_A_BYTE > left and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def _top(tree: tree_sitter.Tree, node: tree_sitter.Node) -> tree_sitter.Node:
    """The statement of the top level that ``node`` is in."""
    return tree.root_node.child_with_descendant(node) or tree.root_node


def _stretches(nodes: Iterable[tree_sitter.Node]) -> tuple[Stretch, ...]:
    return tuple((node.start_byte, node.end_byte) for node in nodes)


def _replaced(source: bytes, stretches: Iterable[Stretch], name: bytes) -> bytes:
    """``source`` with ``name`` for each byte of the first line of a stretch, and spaces for those of the others. Line ends stay."""
    changed = bytearray(source)
    for start, end in stretches:
        text = source[start:end]
        first = len(text.splitlines()[0]) if text.splitlines() else 0
        rest = bytes(byte if byte in _LINE_ENDS else ord(" ") for byte in text[first:])
        changed[start:end] = name * first + rest
    return bytes(changed)
