"""Finds out whether a loop of the same function repeats a place."""

from __future__ import annotations

from compile_lens.syntax.tree import SourceTree, ancestors

_LOOPS = {"for_statement": ("body",), "while_statement": ("body", "condition")}
_OWN_FRAME = frozenset({"function_definition", "lambda", "class_definition", "module"})


def is_in_loop(tree: SourceTree, line: int, column: int) -> bool:
    """Whether a ``for`` or ``while`` of the same function repeats the code at ``line`` and ``column`` (both from 1)."""
    if not 1 <= line <= len(tree.lines):
        return False
    offset = tree.offset(line, column)
    node = tree.root.descendant_for_byte_range(offset, offset)
    if node is None:
        return False
    for ancestor in ancestors(node):
        if ancestor.type in _OWN_FRAME:
            return False
        for field in _LOOPS.get(ancestor.type, ()):
            repeated = ancestor.child_by_field_name(field)
            if repeated is not None and repeated.start_byte <= offset < repeated.end_byte:
                return True
    return False
