"""A line is narrowed to the call, assignment or comparison that a finding without columns is about."""

from __future__ import annotations

import pytest

from compile_lens.syntax.narrow import changed_at, size_read_in
from compile_lens.syntax.ranges import expression_at, find_ending
from compile_lens.syntax.tree import Range, SourceTree, parse


def text(tree: SourceTree, place: Range | None) -> str:
    assert place is not None
    start, end = tree.offset(place.line, place.column), tree.offset(place.end_line, place.end_column)
    return tree.source[start:end].decode()


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("for row in x: out.append(row[:top])", "out", "out.append(row[:top])"),
        ("[out.append(v) for v in x]", "out", "out.append(v)"),
        ("o.log.append(v); o.n += 1", "o.log", "o.log.append(v)"),
        ("o.log.append(v); o.n += 1", "o", "o.n += 1"),
        ('d["a"], d["b"] = x, y', "d", 'd["a"], d["b"] = x, y'),
        ("out.append(\n    x,\n)", "out", "out.append(\n    x,\n)"),
        # the helper's own name for the object is not known
        ("own.append(\n    x,\n)", "out", "own.append(\n    x,\n)"),
    ],
)
def test_what_changes_an_object(source: str, name: str, expected: str) -> None:
    tree = parse(source)
    assert text(tree, changed_at(tree, 1, name)) == expected


def test_a_line_without_a_change_of_the_object_stays_whole() -> None:
    assert changed_at(parse("for v in it:\n    y = y + v"), 1, "it") is None
    assert changed_at(parse("\n"), 1, "it") is None


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("if flag or x.shape[0] == 3 or y:\n    pass", "x.shape[0] == 3"),
        ("if flag or 2 * x.size(0) > n:\n    pass", "2 * x.size(0) > n"),
        ("y = view(2, int(x.shape[0]) // 2)", "int(x.shape[0]) // 2"),
        ("y = [len(x) for x in xs]", "len(x)"),
        ("if flag or y.shape[1] == 3:\n    pass", "y.shape[1] == 3"),
        ("y = a + b", "a + b"),
    ],
)
def test_what_reads_a_size(source: str, expected: str) -> None:
    tree = parse(source)
    whole = expression_at(tree, 1)
    assert whole is not None
    assert text(tree, size_read_in(tree, whole, "x", 0)) == expected


def test_an_attribute_is_found_whatever_it_is_read_of() -> None:
    tree = parse('if own.late and own["k"] > 1:\n    pass')
    assert text(tree, find_ending(tree, ".late", 1)) == "own.late"
    assert text(tree, find_ending(tree, "['k']", 1)) == 'own["k"]'
    assert find_ending(tree, ".other", 1) is None
