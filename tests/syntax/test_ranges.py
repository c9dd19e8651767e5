"""From what the interpreter reports, or a bare line, to the range of an expression."""

from __future__ import annotations

import dis
import sys
from types import CodeType

import pytest

from compile_lens.syntax.ranges import byte_to_column, expression_at, find_expression
from compile_lens.syntax.tree import Range, SourceTree, parse


def cut(tree: SourceTree, place: Range | None) -> str:
    """The text of a range, its lines joined as they stand."""
    if place is None:
        return ""
    start, end = tree.offset(place.line, place.column), tree.offset(place.end_line, place.end_column)
    return tree.source[start:end].decode()


@pytest.mark.parametrize(
    ("statement", "executed"),
    [
        ("if x.sum() > 0: pass", "x.sum() > 0"),
        ("while x.item(): pass", "x.item()"),
        ("for i in foo(x): pass", "foo(x)"),
        ("async for i in foo(x): pass", "foo(x)"),
        ("y = x.item()", "x.item()"),
        ("y: int = x.item()", "x.item()"),
        ("a = b = x.item()", "x.item()"),
        ("a, b = x.item(), 1", "x.item(), 1"),
        ("y += x.item()", "x.item()"),
        ("y: int", "y: int"),
        ("return x.item()", "x.item()"),
        ("return", "return"),
        ("print(x)  # says x", "print(x)"),
        ("x.item()", "x.item()"),
        ("x, y", "x, y"),
        ("yield x.item()", "yield x.item()"),
        ("await x", "await x"),
        ("with open(x) as f: pass", "open(x)"),
        ("with open(x): pass", "open(x)"),
        ("with open(x) as f, lock: pass", "open(x) as f, lock"),
        ("assert x.item(), 'message'", "x.item()"),
        ("raise Error(x) from y", "Error(x)"),
        ("del x[0]", "x[0]"),
        ("match x.item():\n    case 1: pass", "x.item()"),
        ("import torch.nn", "import torch.nn"),
        ("from torch import nn", "from torch import nn"),
        ("@torch.compile(dynamic=True)\ndef f(): pass", "torch.compile(dynamic=True)"),
        ("def f(x): pass", "f"),
        ("async def f(x): pass", "f"),
        ("class A(B): pass", "A"),
        ("try:\n    pass\nexcept E: pass", "try:"),
        ("pass", "pass"),
        ("a = 1; b = x.item()", "a = 1; b = x.item()"),
        ("x = foo(\n    y,\n)", "foo(\n    y,\n)"),
        ("x = [", "x = ["),
        ("\tif x: pass", "x"),
    ],
)
def test_what_executes_on_a_line_without_columns(statement: str, executed: str) -> None:
    tree = parse(statement)
    assert cut(tree, expression_at(tree, 1)) == executed


@pytest.mark.parametrize(
    ("line", "executed"),
    [
        (2, "a"),
        (3, "h(b)"),
        (4, "k(c)"),
        (5, ")"),
        (6, "elif_call(x)"),
        (7, "pass"),
        (8, "else:"),
        (10, "decorator_two"),
        (13, "sum()"),
        (14, "item(\n   0)"),
        (16, ")"),
        (17, ""),
        (18, ""),
        (21, "ValueError"),
        (99, ""),
        (0, ""),
        (-1, ""),
    ],
)
def test_lines_within_statements(line: int, executed: str) -> None:
    source = (
        "if foo(\n"  # 1
        "    a,\n"
        "    key=h(b),\n"
        "    **k(c)\n"
        "): pass\n"
        "elif elif_call(x):\n"  # 6
        "    pass\n"
        "else:\n"
        "    pass\n"
        "@decorator_two\n"  # 10
        "def f(): pass\n"
        "y = (x\n"
        " .sum()\n"
        "  .item(\n"  # 14
        "   0)\n"
        ")\n"
        "\n"  # 17
        "  # only a comment\n"
        "try:\n"
        "    pass\n"
        "except ValueError as e:\n"  # 21
        "    pass\n"
    )
    tree = parse(source)
    expected = {4: "**k(c)", 5: "): pass"}.get(line, executed)
    assert cut(tree, expression_at(tree, line)) == expected


def test_smallest_expression_of_the_columns() -> None:
    tree = parse("y = f(x.sum().item() + 1)")
    assert cut(tree, expression_at(tree, 1, 7, 21)) == "x.sum().item()"
    assert cut(tree, expression_at(tree, 1, 7, 14)) == "x.sum()"
    assert cut(tree, expression_at(tree, 1, 7, 25)) == "x.sum().item() + 1"
    assert cut(tree, expression_at(tree, 1, 7, 18)) == "x.sum().item"
    assert cut(tree, expression_at(tree, 1, 7)) == "x.sum().item() + 1"


def test_columns_of_a_statement_stand_for_what_it_executes() -> None:
    tree = parse("if (a and\n    b()):\n    pass\nif c: return d()\n")
    assert cut(tree, expression_at(tree, 1, 1, 9, end_line=3)) == "(a and\n    b())"
    assert cut(tree, expression_at(tree, 4, 7, 17)) == "d()"


def test_conditional_expression_stands_for_its_condition() -> None:
    tree = parse("y = a if x.any() else c")
    assert cut(tree, expression_at(tree, 1, 5, 24)) == "x.any()"
    assert cut(tree, expression_at(tree, 1)) == "a if x.any() else c"


def test_boolean_operator_stands_for_the_operand_that_is_branched_on() -> None:
    tree = parse("y = x.any() or c.sum() > 0\nz = x.any() or y or c")
    assert cut(tree, expression_at(tree, 1, 5, 27)) == "x.any()"
    assert cut(tree, expression_at(tree, 1, 5)) == "x.any()"
    assert cut(tree, expression_at(tree, 2, 5, 22)) == "x.any() or y or c"


def test_range_cut_off_at_the_end_of_its_first_line_gets_its_true_end() -> None:
    tree = parse("y = foo(first,\n        second)\n")
    whole = Range(1, 5, 2, 16)
    assert expression_at(tree, 1, 5, 15) == whole
    assert expression_at(tree, 1, 5, 14) == whole
    assert expression_at(tree, 1, 5) == whole
    assert expression_at(tree, 1, 5, 16, end_line=2) == whole


def test_end_column_of_a_later_line_is_understood() -> None:
    tree = parse("y = foo(first,\n  b)\n")
    assert expression_at(tree, 1, 5, 5) == Range(1, 5, 2, 5)
    tree = parse("yyyy = foo(first,\n  b)\n")
    assert expression_at(tree, 1, 8, 5) == Range(1, 8, 2, 5)


def test_call_on_several_lines_wins_over_a_name_that_ends_at_the_same_column() -> None:
    tree = parse("torch._dynamo.graph_break(\n    msg='é')\n")
    assert expression_at(tree, 1, 1, end_byte=13) == Range(1, 1, 2, 13)
    assert expression_at(tree, 1, 1, 14, end_line=1) == Range(1, 1, 1, 14)
    assert expression_at(tree, 1, 1, end_byte=25) == Range(1, 1, 1, 26)


def test_end_in_bytes_of_a_line_that_is_not_told() -> None:
    tree = parse("é = foo('é', bar,\n        'é')\n")
    assert expression_at(tree, 1, 5, end_byte=13) == Range(1, 5, 2, 13)
    assert expression_at(tree, 1, 14, end_byte=18) == Range(1, 14, 1, 17)
    assert expression_at(tree, 1, 9, end_byte=13) == Range(1, 9, 1, 12)
    assert expression_at(tree, 1, 5, end_byte=0) == Range(1, 5, 1, 8)
    assert expression_at(tree, 1, 5, end_byte=-1) == Range(1, 5, 1, 8)
    assert expression_at(tree, 1, 5, end_byte=999) == Range(1, 5, 2, 13)


def test_call_of_a_method_on_its_own_line_begins_at_the_method() -> None:
    tree = parse("y = (x\n     .sum()\n     .item(1,\n           2))\n")
    expected = Range(3, 7, 4, 14)
    assert expression_at(tree, 3) == expected
    assert expression_at(tree, 3, 7, 14, end_line=4) == expected
    assert expression_at(tree, 3, 7, 14) == expected
    assert expression_at(tree, 3, 7, 11) == expected


def test_columns_outside_of_the_line_fall_back_to_the_line() -> None:
    tree = parse("    y = x.item()  # why\n")
    for column, end_column in [(0, 0), (1, 2), (99, 100), (-5, 3), (19, 21)]:
        assert cut(tree, expression_at(tree, 1, column, end_column)) == "x.item()"
    assert cut(tree, expression_at(tree, 1, 9, 99)) == "x.item()"


def test_columns_over_several_statements_stay_as_they_are() -> None:
    tree = parse("a = 1; b = 2")
    assert cut(tree, expression_at(tree, 1, 1, 13)) == "a = 1; b = 2"


def test_columns_count_code_points() -> None:
    text = "s = '👩‍🔬'; y = x.item()"
    tree = parse(text)
    column = text.index("x.item") + 1
    assert expression_at(tree, 1, column, column + 8) == Range(1, column, 1, column + 8)


def test_find_expression() -> None:
    source = "n = 0\nclass Net:\n    def forward(self, x):\n        y = f(n=1) . n\n        return self . n * x + n\n"
    tree = parse(source)
    assert find_expression(tree, "self.n") == Range(5, 16, 5, 24)
    assert find_expression(tree, "n", 2) == Range(5, 31, 5, 32)
    assert find_expression(tree, "n") == Range(1, 1, 1, 2)
    assert find_expression(tree, "n", 2, 4) is None
    assert find_expression(tree, "", 1, 4) is None
    assert find_expression(tree, "x", 99) is None
    assert find_expression(tree, "x", 5, 99) == Range(5, 27, 5, 28)


PROGRAM = '''
def whole(x, *rest, key=None):
    """Every kind of expression on several lines."""
    total = [
        value.item()
        for value in rest
        if value.sum()
        > 0
    ]
    if (key is not None
            and x.max()
            .item() > 3):
        print("é 👩‍🔬", x.sum(
        ), end="")
    with torch.no_grad(), \\
            open("f") as handle:
        handle.write(f"{x.item()}"
                     "more")
    while x.any(): x -= 1; total.append(x)
    try:
        return {
            "a": foo(x,
                     1)[0:
                        2],
            **{},
        }
    except (ValueError,
            TypeError) as error:
        raise RuntimeError(x) from error
    finally:
        assert lambda: (
            yield_(x))
'''


def codes(code: CodeType) -> list[CodeType]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [code, *(found for constant in inner for found in codes(constant))]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code objects have no columns")
def test_every_range_of_the_interpreter_is_kept_or_narrowed() -> None:
    """What CPython says of each instruction is found as it is, or is a statement's and becomes what that executes."""
    tree = parse(PROGRAM)
    changed: set[tuple[str, str]] = set()
    for code in codes(compile(PROGRAM, "program", "exec")):
        for instruction in dis.get_instructions(code):
            at = instruction.positions
            if at is None or not at.lineno or not at.end_lineno or at.col_offset is None or not at.end_col_offset:
                continue
            column = byte_to_column(tree.line_text(at.lineno), at.col_offset)
            end_column = byte_to_column(tree.line_text(at.end_lineno), at.end_col_offset)
            reported = Range(at.lineno, column, at.end_lineno, end_column)
            found = expression_at(tree, at.lineno, column, end_column, at.end_lineno)
            if found != reported:
                changed.add((cut(tree, reported), cut(tree, found)))
    first_lines = {(before.partition("\n")[0], after.partition("\n")[0]) for before, after in changed}
    assert first_lines <= {
        ("def whole(x, *rest, key=None):", "whole"),
        ("with torch.no_grad(), \\", "torch.no_grad(), \\"),
        ("while x.any(): x -= 1; total.append(x)", "x.any()"),
        ("try:", "try:"),
        ("except (ValueError,", "(ValueError,"),
        ("raise RuntimeError(x) from error", "RuntimeError(x)"),
        ("assert lambda: (", "lambda: ("),
        ("item", "item()"),
    }
