"""What examples on a page define for those after them: a reader of the page has it, and so does who runs one of its examples."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from compile_lens.syntax.tree import SourceTree, identifiers

MOST = 40
_DEFINITIONS = frozenset({"class_definition", "function_definition", "decorated_definition"})


class PageDefinitions:
    """The classes, functions and values that the examples read so far define at their top level; the last one of each name."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._used: dict[str, frozenset[str]] = {}

    def read(self, example: SourceTree) -> None:
        """Add what ``example`` defines; nothing of a text that is no program."""
        for names, node in _defined(example):
            used = frozenset(example.node_text(each) for each in identifiers(node))
            for name in names:
                self._texts.pop(name, None)
                self._texts[name], self._used[name] = example.node_text(node), used

    def before(self, example: SourceTree) -> str:
        """The statements that ``example`` needs of those read, in their order."""
        own = {name for names, _ in _defined(example) for name in names}
        waiting = [example.node_text(each) for each in identifiers(example.root)]
        needed: set[str] = set()
        while waiting and len(needed) < MOST:
            name = waiting.pop()
            if name in self._texts and name not in own and name not in needed:
                needed.add(name)
                waiting += self._used[name]
        texts = dict.fromkeys(text for name, text in self._texts.items() if name in needed)
        return "".join(f"{text}\n" for text in texts)


def _defined(example: SourceTree) -> Iterator[tuple[list[str], tree_sitter.Node]]:
    """The names that each statement at the top of a text binds, and the statement."""
    for node in () if example.root.has_error else example.root.named_children:
        if node.type in _DEFINITIONS:
            inner = node.child_by_field_name("definition") or node
            name = inner.child_by_field_name("name")
            if name is not None:
                yield [example.node_text(name)], node
        elif (
            node.type == "expression_statement" and node.named_children and node.named_children[0].type == "assignment"
        ):
            left = node.named_children[0].child_by_field_name("left")
            if left is not None and left.type in ("identifier", "pattern_list", "tuple_pattern"):
                yield [example.node_text(each) for each in identifiers(left)], node
