"""The syntax of texts that a program or a trace says: what cannot be read and written again is none."""

from __future__ import annotations

import ast

# Python writes no number of more than 4,300 digits, and reads longer ones only in hexadecimal, octal or binary
MOST_BITS = 14_000


def parse_expression(text: str) -> ast.expr:
    """The expression ``text``. Raises SyntaxError for what is none, nests too deep, or has a number that cannot be written."""
    try:
        expression = ast.parse(text, mode="eval").body
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(f"{error}") from None
    _check_numbers(expression)
    return expression


def parse_module(text: str) -> ast.Module:
    """The module ``text``. Raises SyntaxError like `parse_expression`."""
    try:
        module = ast.parse(text)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(f"{error}") from None
    _check_numbers(module)
    return module


def _check_numbers(tree: ast.AST) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value.bit_length() > MOST_BITS:
            raise SyntaxError("a number that cannot be written")
