"""What a loop of the same function repeats."""

from __future__ import annotations

import pytest

from compile_lens.syntax.loops import is_in_loop
from compile_lens.syntax.tree import parse

SOURCE = """\
def f(xs):
    a = 1
    for x in once(xs):
        b = x
        if x:
            c = lambda: d
    while again():
        e = 1
    else:
        g = 1
    return [h for h in xs]
for y in z:
    def inner():
        i = 1
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a = 1", False), ("once", False), ("b = x", True), ("c =", True), ("d", False), ("again", True), ("e = 1", True),
     ("g = 1", False), ("i = 1", False)],
)  # fmt: skip
def test_what_is_repeated(text: str, expected: bool) -> None:
    lines = SOURCE.splitlines()
    needle = ": d" if text == "d" else text
    line = next(number for number, content in enumerate(lines, 1) if needle in content)
    column = lines[line - 1].index(needle) + (3 if text == "d" else 1)
    assert is_in_loop(parse(SOURCE), line, column) is expected


def test_outside_the_file_nothing_is_repeated() -> None:
    assert not is_in_loop(parse(SOURCE), 99, 1)
    assert not is_in_loop(parse(""), 1, 1)
