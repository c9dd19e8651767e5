"""Positions: bytes to lines and columns, whatever the line ends, however wide the characters or broken the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compile_lens.syntax.tree import byte_to_column, parse


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end_of_python_ends_a_line(line_end: str) -> None:
    tree = parse(line_end.join(["a = 1", "if a:", "    b = 2", "c = 3"]))
    assert tree.lines == ("a = 1", "if a:", "    b = 2", "c = 3")
    assert not tree.root.has_error
    last = tree.root.named_children[-1]
    assert tree.node_text(last) == "c = 3"
    assert tree.position(last.start_byte) == (4, 1)


def test_form_feed_and_unicode_separators_do_not_end_a_line() -> None:
    tree = parse("\x0ca = 1\nb = '\u2028\x85\x0b\x1c'\nc = 2")
    assert len(tree.lines) == 3
    assert tree.position(tree.root.named_children[0].start_byte) == (1, 2)
    assert tree.position(tree.root.named_children[2].start_byte) == (3, 1)


def test_columns_count_code_points() -> None:
    text = "é = '👩‍🔬'; x = 1"
    tree = parse(text)
    last = tree.root.named_children[-1]
    line, column = tree.position(last.start_byte)
    assert (line, text[column - 1 :]) == (1, "x = 1")
    assert tree.offset(line, column) == last.start_byte


def test_tab_is_one_column() -> None:
    tree = parse("if a:\n\t\tb = 1\n")
    assert tree.node_range(tree.root.named_children[0]).end_column == 8


@pytest.mark.parametrize(("offset", "column"), [(-1, 1), (0, 1), (1, 2), (2, 2), (3, 3), (99, 4)])
def test_byte_to_column(offset: int, column: int) -> None:
    assert byte_to_column("aéb", offset) == column


def test_byte_to_column_of_ascii() -> None:
    assert [byte_to_column("abc", offset) for offset in (0, 1, 3, 4)] == [1, 2, 4, 4]


def test_unpaired_surrogate_and_nul_keep_their_columns() -> None:
    tree = parse("a = '\ud800\x00'; b = 1")
    assert tree.position(tree.source.index(b"b"))[1] == tree.text.index("b") + 1


def test_positions_outside_of_the_text_are_brought_inside() -> None:
    tree = parse("ab\ncd")
    assert tree.offset(0, 1) == 0
    assert tree.offset(9, 9) == 5
    assert tree.offset(1, 99) == 2
    assert tree.position(99) == (2, 3)
    assert tree.line_text(0) == tree.line_text(3) == ""


@given(st.text())
def test_every_code_point_has_its_place_and_comes_back(text: str) -> None:
    tree = parse(text)
    assert len("".join(tree.lines)) == len(text) - text.count("\n") - text.count("\r")
    for line, content in enumerate(tree.lines, 1):
        for column in range(1, len(content) + 2):
            assert tree.position(tree.offset(line, column)) == (line, column)
