"""What the condition that a program raised for compares: `assert L == H * W`, `if x.size(1) != self.width: raise …`.

Its two sides are evaluated again where it failed, as far as they are sizes and arithmetic on them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ...runtime.foreign_code import attempted
from ...runtime.parsed_source import parsed_source_of
from .failing_lines import innermost

_RAISED = (AssertionError, ValueError, RuntimeError, TypeError)
# what may be called again: nothing of these changes anything
_METHODS = frozenset({"size", "dim", "ndimension", "numel"})
_FUNCTIONS = frozenset({"len", "min", "max", "int", "abs", "tuple", "list"})
_RANKS = frozenset({"dim", "ndim", "ndimension"})


def compared_sizes(error: BaseException) -> Iterator[tuple[str, str]]:
    """Kinds and values of requirements: ``size`` with `got expected`, ``rank`` with the number of dimensions."""
    frame, line = innermost(error)
    if frame is None or not isinstance(error, _RAISED):
        return
    for compare, is_wanted in _conditions(frame, line):
        if len(compare.ops) != 1 or not isinstance(compare.ops[0], ast.Eq if is_wanted else ast.NotEq):
            continue
        yield from _of_sides(compare.left, compare.comparators[0], {**frame.f_globals, **frame.f_locals})


def asserted_lengths(error: BaseException) -> dict[str, int]:
    """How many items lists must have by the condition that a program raised for: `assert len(factors) == layers`, by name."""
    frame, line = innermost(error)
    found: dict[str, int] = {}
    if frame is None or not isinstance(error, _RAISED):
        return found
    names = {**frame.f_globals, **frame.f_locals}
    for compare, is_wanted in _conditions(frame, line):
        kinds = (ast.Eq, ast.GtE) if is_wanted else (ast.NotEq, ast.Lt)
        if len(compare.ops) != 1 or not isinstance(compare.ops[0], kinds):
            continue
        for side, other in ((compare.left, compare.comparators[0]), (compare.comparators[0], compare.left)):
            name, wanted, now = _measured(side), _value(other, names), _value(side, names)
            is_enough = (
                isinstance(compare.ops[0], (ast.GtE, ast.Lt)) and _is_size(now) and _is_size(wanted) and now >= wanted
            )
            if name and _is_size(wanted) and wanted != now and not is_enough and not _measured(other):
                found.setdefault(name, wanted)
    return found


def _measured(node: ast.expr) -> str:
    """``factors`` for `len(factors)` and `len(self.factors)`; '' for other expressions."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "len" or not node.args:
        return ""
    inner = node.args[0]
    return inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "")


def _of_sides(left: ast.expr, right: ast.expr, names: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod):
        got, divisor = _value(left.left, names), _value(left.right, names)
        if _is_size(got) and _is_size(divisor) and got % divisor:
            yield "size", f"{got} {(got // divisor + 1) * divisor}"
        return
    one, other = _value(left, names), _value(right, names)
    if _is_size(one) and _is_size(other) and one != other:
        rank = {id(left): other, id(right): one}
        of_rank = next((rank[id(side)] for side in (left, right) if _is_rank(side)), None)
        if of_rank is not None:
            yield "rank", str(of_rank)
        else:
            yield "size", f"{one} {other}"
            yield "size", f"{other} {one}"
    elif isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)) and len(one) == len(other):
        for got, want in zip(one, other, strict=True):
            if _is_size(got) and _is_size(want) and got != want:
                yield "size", f"{got} {want}"


def _is_size(value: Any) -> bool:
    return type(value) is int and value > 0


def _is_rank(node: ast.expr) -> bool:
    """Whether ``node`` is the number of dimensions of a tensor: `x.dim()`, `x.ndim`, `len(x.shape)`."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
            inner = node.args[0].func if isinstance(node.args[0], ast.Call) else node.args[0]
            return isinstance(inner, ast.Attribute) and inner.attr in ("shape", "size")
        node = node.func
    return isinstance(node, ast.Attribute) and node.attr in _RANKS


def _conditions(frame: FrameType, line: int) -> Iterator[tuple[ast.Compare, bool]]:
    """The comparisons that decided over the statement at ``line``, and whether they had to hold."""
    tree = parsed_source_of(frame.f_code)
    row = line - frame.f_code.co_firstlineno + 1
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Assert) and node.lineno <= row <= (node.end_lineno or row):
            yield from ((each, True) for each in _comparisons(node.test, ast.And))
        elif isinstance(node, ast.If) and any(
            isinstance(each, ast.Raise) and each.lineno <= row <= (each.end_lineno or row) for each in node.body
        ):
            yield from ((each, False) for each in _comparisons(node.test, ast.Or))


def _comparisons(test: ast.expr, joined_by: type[ast.boolop]) -> Iterator[ast.Compare]:
    for each in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, joined_by) else (test,):
        if isinstance(each, ast.Compare):
            yield each


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    """The value of an expression of sizes; None where it is another one."""
    if not all(_is_plain(each) for each in ast.walk(node)):
        return None
    found: Any = attempted(lambda: eval(compile(ast.Expression(node), "", "eval"), names))
    return tuple(found) if type(found).__name__ == "Size" else found


def _is_plain(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        function = node.func
        is_method = isinstance(function, ast.Attribute) and function.attr in _METHODS
        return is_method or (isinstance(function, ast.Name) and function.id in _FUNCTIONS)
    return not isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda))
