"""Reads values that a run has written as Python, and writes them again: what comes out was made here, whatever the text was."""

from __future__ import annotations

import ast
from collections.abc import Callable

from compile_lens.late_pattern import pattern
from compile_lens.syntax.foreign_texts import parse_expression

# torch.dtype, torch.layout and torch.memory_format (torch 2.6 to 2.13)
DTYPES = frozenset(
    [
        *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64)),
        "float16", "float32", "float64", "bfloat16", "complex32", "complex64", "complex128", "bool",
        "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn_x2",
        *(f"{kind}{bits}" for kind in ("bits",) for bits in ("8", "16", "1x8", "2x4", "4x2")),
        "qint8", "quint8", "qint32", "quint4x2", "quint2x4",
    ]
)  # fmt: skip
FORMS = frozenset(
    ["strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged", "_mkldnn", "contiguous_format",
     "channels_last", "channels_last_3d", "preserve_format"]
)  # fmt: skip
_CALLS = ("float", "range", "slice")
_SPECIAL = ("nan", "inf", "-inf")
# scalars and arrays of numpy that are numbers (`str(dtype)`)
NUMPY_DTYPES = frozenset(
    [
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "longdouble",
        "float128", "complex64", "complex128", "complex256",
    ]
)  # fmt: skip
_DEVICE = pattern(r"[a-z]{1,20}(?::\d{1,4})?")


class NoPlainText(ValueError):
    """A text that is no value of the kind that is expected; its argument is the text."""


def plain(text: object) -> str:
    """A value as Python writes it: a literal, ``float('nan')``, ``range(2)``, ``slice(0, 1)``, ``torch.float16``. Raises NoPlainText."""
    return _written(text, _is_plain)


def number(text: object) -> str:
    """A number, also ``float('inf')``; raises NoPlainText."""
    return _written(text, _is_number)


def numbers(text: object) -> str:
    """Numbers in lists and tuples; raises NoPlainText."""
    return _written(text, _are_numbers)


def dtype(text: object) -> str:
    """``torch.float16``; raises NoPlainText."""
    first, dot, name = str(text).partition(".")
    if first != "torch" or not dot or name not in DTYPES:
        raise NoPlainText(text)
    return f"torch.{name}"


def device(text: object) -> str:
    """``cuda:0``; raises NoPlainText."""
    if not isinstance(text, str) or _DEVICE.fullmatch(text) is None:
        raise NoPlainText(text)
    return text


def _written(text: object, holds: Callable[[ast.expr], bool]) -> str:
    try:
        node = parse_expression(str(text))
        if holds(node):
            return ast.unparse(node)
    except (SyntaxError, RecursionError):
        pass
    raise NoPlainText(text)


def _is_plain(node: ast.expr | None) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.Tuple(items) | ast.List(items) | ast.Set(items):
            return all(map(_is_plain, items))
        case ast.Dict(keys, values):
            return all(map(_is_plain, (*keys, *values)))
        case ast.Attribute(ast.Name("torch"), name):
            return name in DTYPES | FORMS
        case ast.Call(ast.Name("float"), [ast.Constant(text)], []):
            return text in _SPECIAL
        case ast.Call(ast.Name(name), arguments, []):
            return name in _CALLS and all(map(_is_plain, arguments))
    return _is_number(node)


def _is_number(node: ast.expr | None) -> bool:
    match node:
        case ast.Constant(value):
            return type(value) in (bool, int, float, complex)
        case ast.UnaryOp(ast.USub() | ast.UAdd(), operand):
            return _is_number(operand)
        case ast.BinOp(left, ast.Add() | ast.Sub(), right):
            return _is_number(left) and _is_number(right)
        case ast.Call(ast.Name("float"), [ast.Constant(text)], []):
            return text in _SPECIAL
    return False


def _are_numbers(node: ast.expr | None) -> bool:
    return all(map(_are_numbers, node.elts)) if isinstance(node, ast.List | ast.Tuple) else _is_number(node)
