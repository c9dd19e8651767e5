"""The lines that the values of an expression come from, marked in the programs themselves."""

from __future__ import annotations

import re
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compile_lens.syntax.origins import origins
from compile_lens.syntax.tree import Range, parse

PROGRAMS = [
    """
    def f(x, n):
        y = x * 2  # origin
        if [[y.sum() > 0]]:
            return y
    """,
    """
    def f(self, x: Tensor = None):  # origin
        if [[self.norm(x).max() > limit]]:
            return x
    """,
    """
    def f(x):
        a, (b, c) = x.split(3)  # origin
        a.grad = None
        c[0] = 1
        while [[torch.any(a > c)]]:
            a = a / 2
    """,
    """
    def f(x):
        for row in x:  # origin
            def inner(row):
                row = 3
            if [[row.any()]]:
                pass
            row = 1
    """,
    """
    def f(x):
        y = x
        y += 1  # origin
        return 1 if [[y.item(dim=x)]] else 2  # x is a parameter
    """,
    """
    x = 1
    if [[x > 0]]:
        pass
    """,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_last_line_that_gives_a_value(program: str) -> None:
    text = textwrap.dedent(program)
    lines = text.replace("[[", "").replace("]]", "").split("\n")
    (line,) = (number for number, each in enumerate(text.split("\n"), 1) if "[[" in each)
    marked = text.split("\n")[line - 1]
    where = Range(line, marked.index("[[") + 1, line, marked.index("]]") - 1)
    found = origins(parse("\n".join(lines)), where)
    wanted = {number for number, each in enumerate(lines, 1) if "# origin" in each}
    assert {
        origin.range.line for origin in found if not origin.is_parameter or "# origin" in lines[origin.range.line - 1]
    } == wanted


def test_parameters_and_statements_are_told_apart() -> None:
    tree = parse("def f(x, n):\n    y = x + n\n    assert y.sum() > n\n")
    found = origins(tree, Range(3, 12, 3, 23))
    assert [(each.name, each.range, each.is_parameter) for each in found] == [
        ("y", Range(2, 5, 2, 14), False),
        ("n", Range(1, 10, 1, 11), True),
    ]


@given(st.text(alphabet="def f(x):\n =if>.[]@λ😀", max_size=80), st.integers(0, 6), st.integers(0, 12))
def test_any_text_and_any_place(text: str, line: int, column: int) -> None:
    for origin in origins(parse(text), Range(line, column, line + 1, column + 5)):
        assert re.fullmatch(r"\w+", origin.name)
