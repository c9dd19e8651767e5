"""Source text with its tree-sitter tree, and the arithmetic between bytes, lines and columns.

Three ways of counting meet here. tree-sitter counts UTF-8 bytes; CPython counts UTF-8 bytes within a line; the product
shows lines from 1 and columns from 1 in Unicode code points, with an exclusive end. Outside this room there is only the
last.
"""

from __future__ import annotations

import ast
import time
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache, wraps
from typing import Any, TypeVar

import tree_sitter
from msgspec import Struct, field

from compile_lens.agent.runtime.long_fstrings import has_long_fstring
from compile_lens.late_pattern import pattern
from compile_lens.syntax.comment_runs import MAY_END_A_TEXT, left_out, long_runs
from compile_lens.syntax.nesting import Stretch, shallow

T = TypeVar("T")

_LINE_END = pattern(r"\r\n|\r|\n")
# bytes: parsed in less than a millisecond
_PIECE = 1 << 11
# bytes: looked through in less than a millisecond
_STRETCH = 1 << 14
# of processor time: ten million bytes a second are usual
_LONGEST_S, _BYTES_IN_A_SECOND = 1.0, 200_000
_UNREADABLE = b"("
# into which what is no program falls: queries take time that grows with their square. A program with one wrong bracket has none or a few
_MOST_PIECES = 1_000
_LONE_CARRIAGE_RETURN = pattern(r"\r(?!\n)")


@cache
def _grammar() -> tree_sitter.Language:
    """That of Python. Its package imports twenty modules: a trace whose sources are not here needs none of them."""
    import tree_sitter_python

    return tree_sitter.Language(tree_sitter_python.language())


class Query:
    """A query of tree-sitter, compiled when it is first used."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._compiled: tree_sitter.Query | None = None

    def captures(
        self, node: tree_sitter.Node, stretch: tuple[int, int] | None = None
    ) -> dict[str, list[tree_sitter.Node]]:
        """The captured nodes in ``node``, by name; only those in a ``stretch`` of bytes, if one is given."""
        cursor = self._cursor()
        if stretch is not None:
            cursor.set_byte_range(*stretch)
        return cursor.captures(node)

    def everywhere(self, tree: SourceTree) -> dict[str, list[tree_sitter.Node]]:
        """The captured nodes of a whole tree, which are kept with it: rules ask for them again for each finding."""
        if self not in tree.kept:
            tree.kept[self] = self.captures(tree.root)
        found: dict[str, list[tree_sitter.Node]] = tree.kept[self]
        return found

    def captures_in_pieces(self, tree: SourceTree) -> dict[str, list[tree_sitter.Node]]:
        """The captured nodes of a tree, looked for in one stretch after the other: between two of them, other threads run."""
        found: dict[str, dict[int, tree_sitter.Node]] = {}
        for start in range(0, len(tree.source) + 1, _STRETCH):
            for name, nodes in self.captures(tree.root, (start, start + _STRETCH)).items():
                # a node that is in two stretches is found in both
                found.setdefault(name, {}).update((node.id, node) for node in nodes)
        return {name: list(nodes.values()) for name, nodes in found.items()}

    def matches(self, node: tree_sitter.Node) -> list[tuple[int, dict[str, list[tree_sitter.Node]]]]:
        """The matches in ``node``, each with the number of its pattern and its nodes by name."""
        return self._cursor().matches(node)

    def _cursor(self) -> tree_sitter.QueryCursor:
        if self._compiled is None:
            self._compiled = tree_sitter.Query(_grammar(), self._text)
        return tree_sitter.QueryCursor(self._compiled)


class Range(Struct, frozen=True):
    """A stretch of source: lines from 1, columns from 1 in code points, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class SourceTree(Struct, frozen=True, eq=False):
    """A text, its lines without their ends, and its syntax tree. Immutable; compared and hashed by identity.

    ``source`` is the text in UTF-8, byte for byte what the tree was parsed from: a lone carriage return, which ends a
    line for Python and not for tree-sitter, is a newline in it, and an unpaired surrogate, which UTF-8 cannot hold, is
    a question mark. ``line_starts`` are byte offsets into it. ``unread`` is what is nested too deep to be in the tree.
    """

    text: str
    lines: tuple[str, ...]
    source: bytes
    line_starts: tuple[int, ...]
    tree: tree_sitter.Tree
    unread: tuple[Stretch, ...] = ()
    # what was read of it (``kept_with_tree``, ``Query.everywhere``)
    kept: dict[object, Any] = field(default_factory=dict)

    @property
    def root(self) -> tree_sitter.Node:
        return self.tree.root_node

    def line_text(self, line: int) -> str:
        """The text of a line, or '' if there is no such line."""
        return self.lines[line - 1] if 1 <= line <= len(self.lines) else ""

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte offset; one inside a line's end is the column after its last character."""
        row = max(0, bisect_right(self.line_starts, offset) - 1)
        return row + 1, byte_to_column(self.lines[row], offset - self.line_starts[row])

    def offset(self, line: int, column: int) -> int:
        """Byte offset of a line and column, both clamped to the text."""
        if line < 1:
            return 0
        if line > len(self.lines):
            return len(self.source)
        text = self.lines[line - 1]
        before = text[: max(0, column - 1)]
        return self.line_starts[line - 1] + len(before.encode("utf-8", "replace"))

    def node_text(self, node: tree_sitter.Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def node_range(self, node: tree_sitter.Node) -> Range:
        return self.range_between(node.start_byte, node.end_byte)

    def range_between(self, start: int, end: int) -> Range:
        line, column = self.position(start)
        end_line, end_column = self.position(max(start, end))
        return Range(line, column, end_line, end_column)

    def stripped_line(self, line: int) -> Range | None:
        """The range of the code on a line without its indentation, or None if there is none."""
        text = self.line_text(line)
        stripped = text.strip()
        if not stripped:
            return None
        start = text.index(stripped)
        return Range(line, start + 1, line, start + len(stripped) + 1)


# how a definition or its next decorator begins
_DEFINING = ("@", "def ", "async def ", "class ")


def kept_with_tree(read: Callable[[SourceTree], T]) -> Callable[[SourceTree], T]:
    """``read``, whose result for a tree is kept with the tree, and goes with it."""

    @wraps(read)
    def once(tree: SourceTree) -> T:
        if read not in tree.kept:
            tree.kept[read] = read(tree)
        found: T = tree.kept[read]
        return found

    return once


def parse(text: str) -> SourceTree:
    """Parse Python source. Never raises: invalid code becomes error nodes."""
    lines: list[str] = []
    line_starts: list[int] = []
    text_start = byte_start = 0
    for match in _LINE_END.finditer(text):
        line = text[text_start : match.start()]
        lines.append(line)
        line_starts.append(byte_start)
        byte_start += len(line.encode("utf-8", "replace")) + len(match.group())
        text_start = match.end()
    lines.append(text[text_start:])
    line_starts.append(byte_start)
    source = _LONE_CARRIAGE_RETURN.sub("\n", text).encode("utf-8", "replace")
    parsed, tree = _parsed(lines, line_starts, _without_misplaced_comments(lines, line_starts, source))
    tree, unread = shallow(tree, parsed, _tree_of)
    return SourceTree(text, tuple(lines), source, tuple(line_starts), tree, unread)


def _tree_of(source: bytes) -> tree_sitter.Tree:
    """The tree of ``source``. That of an error and nothing else, if parsing takes far longer than for a program, or finds none in it."""
    parser = tree_sitter.Parser(_grammar())
    if len(source) <= _PIECE:
        return parser.parse(source)
    ends = time.thread_time() + _LONGEST_S + len(source) / _BYTES_IN_A_SECOND
    try:
        # in pieces, between which other threads run: tree-sitter holds the interpreter's lock
        tree = parser.parse(
            lambda offset, _: source[offset : offset + _PIECE],
            progress_callback=lambda _, __: time.thread_time() > ends,
        )
    except ValueError:
        return tree_sitter.Parser(_grammar()).parse(_UNREADABLE)
    root = tree.root_node
    broken = (root, *(root.children if root.has_error else ()))
    if any(node.type == "ERROR" and node.child_count > _MOST_PIECES for node in broken):
        return tree_sitter.Parser(_grammar()).parse(_UNREADABLE)
    return tree


def _parsed(lines: list[str], line_starts: list[int], source: bytes) -> tuple[bytes, tree_sitter.Tree]:
    """The tree of ``source``, and what of it was parsed: of long runs of comments, few."""
    runs = tuple(long_runs(lines))
    if any(run.takes_too_long(len(run.continued)) for run in runs):
        return source, tree_sitter.Parser(_grammar()).parse(_UNREADABLE)
    fewer = _blanked((number for run in runs for number in left_out(run, lines)), lines, line_starts, source)
    tree = _tree_of(fewer)
    firsts = (run.comments[0] for run in runs if run.comments)
    if not runs or (not tree.root_node.has_error and all(_is_comment(tree, n, lines, line_starts) for n in firsts)):
        return fewer, tree
    # they may be lines of a text, which one of them ends
    plain = (number for run in runs for number in left_out(run, lines) if not MAY_END_A_TEXT.search(lines[number]))
    fewer = _blanked(plain, lines, line_starts, source)
    return fewer, _tree_of(fewer)


def _is_comment(tree: tree_sitter.Tree, number: int, lines: list[str], line_starts: list[int]) -> bool:
    at = line_starts[number] + lines[number].index("#")
    node = tree.root_node.descendant_for_byte_range(at, at + 1)
    return node is not None and node.type == "comment"


def _blanked(numbers: Iterable[int], lines: list[str], line_starts: list[int], source: bytes) -> bytes:
    """``source`` with spaces for the lines with these numbers, from 0."""
    blanked = bytearray(source)
    for number in numbers:
        start, length = line_starts[number], len(lines[number].encode("utf-8", "replace"))
        blanked[start : start + length] = b" " * length
    return bytes(blanked)


def _without_misplaced_comments(lines: list[str], line_starts: list[int], source: bytes) -> bytes:
    """``source`` with spaces for comments above an indented definition that are indented less than it.

    Python ignores their indentation. tree-sitter takes one between a decorator and its method for the end of the class.
    """
    found: list[int] = []
    for number, line in enumerate(lines):
        indented = len(line) - len(line.lstrip(" \t"))
        if not indented or not line.startswith(_DEFINING, indented):
            continue
        above = number - 1
        while above >= 0 and (not (text := lines[above].lstrip()) or text.startswith("#")):
            if text and len(lines[above]) - len(text) < indented:
                found.append(above)
            above -= 1
    return _blanked(found, lines, line_starts, source) if found else source


def byte_to_column(line_text: str, byte_offset: int) -> int:
    """Column (from 1, code points) of a UTF-8 byte offset (from 0) in a line, as in CPython's ``co_positions``.

    An offset past the end is the column after the last character; one inside a character is that character's.
    """
    if byte_offset <= 0:
        return 1
    if line_text.isascii():
        return min(byte_offset, len(line_text)) + 1
    return len(line_text.encode("utf-8", "replace")[:byte_offset].decode("utf-8", "ignore")) + 1


def ancestors(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The node itself, then its parents, innermost first."""
    current: tree_sitter.Node | None = node
    while current is not None:
        yield current
        current = current.parent


def nodes_of(node: tree_sitter.Node, kind: str) -> Iterator[tree_sitter.Node]:
    """``node`` and every named node in it that is of a kind of the grammar, in the order of the text."""
    if node.type == kind:
        yield node
    for child in node.named_children:
        yield from nodes_of(child, kind)


def identifiers(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Every name in ``node``, in the order of the text."""
    return nodes_of(node, "identifier")


def is_python(text: str) -> bool:
    """Whether the parser of this process's own Python takes ``text``, in time."""
    if has_long_fstring(text):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
