"""The conditions that a program raised for, as what had to hold: `assert L == H * W`, `if not low <= rate <= high: raise …`.

Their sides are evaluated again where the program failed, as far as they are sizes, numbers and arithmetic on them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed_source_of
from .failing_lines import innermost

_RAISED = (AssertionError, ValueError, RuntimeError, TypeError, LookupError)
_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
# what holds of the right side where this holds of the left one
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}
# what may be called again: nothing of these changes anything
_METHODS = frozenset({"size", "dim", "ndimension", "numel"})
_FUNCTIONS = frozenset({"len", "min", "max", "int", "float", "abs", "tuple", "list"})


@dataclass(frozen=True, slots=True)
class Relation:
    """What had to hold: ``left`` ``operator`` ``right``, as it is written, where ``names`` have the values of the failed frame."""

    left: ast.expr
    operator: type[ast.cmpop]
    right: ast.expr
    names: dict[str, Any]

    @property
    def values(self) -> tuple[Any, Any]:
        """The values of the two sides; None for one that is more than sizes, numbers and arithmetic."""
        return self.value(self.left), self.value(self.right)

    def value(self, node: ast.expr) -> Any:
        """The value of one side."""
        if not all(_is_plain(each) for each in ast.walk(node)):
            return None
        found: Any = attempted(lambda: eval(compile(ast.Expression(node), "", "eval"), self.names))
        return tuple(found) if type(found).__name__ == "Size" else found

    def both_ways(self) -> Iterator[Relation]:
        """The relation, and the same with its sides exchanged."""
        yield self
        mirrored = _MIRRORED.get(self.operator)
        if mirrored is not None:
            yield Relation(self.right, mirrored, self.left, self.names)


def relations(error: BaseException) -> Iterator[Relation]:
    """What had to hold where ``error`` was raised, by the `assert`, or the `if` around the `raise`."""
    frame, _ = innermost(error)
    names = {**frame.f_globals, **frame.f_locals} if frame is not None else {}
    for test, must_hold in conditions(error):
        yield from _required(test, must_hold, names)


def conditions(error: BaseException) -> Iterator[tuple[ast.expr, bool]]:
    """The tests for which ``error`` was raised, and whether each had to hold."""
    frame, line = innermost(error)
    tree = source_tree(frame) if isinstance(error, _RAISED) else None
    if frame is None or tree is None:
        return
    row = line - frame.f_code.co_firstlineno + 1
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and node.lineno <= row <= (node.end_lineno or row):
            yield node.test, True
        elif isinstance(node, ast.If):
            for branch, must_hold in ((node.body, False), (node.orelse, True)):
                if any(
                    isinstance(each, ast.Raise) and each.lineno <= row <= (each.end_lineno or row) for each in branch
                ):
                    yield node.test, must_hold


def source_tree(frame: FrameType | None) -> ast.AST | None:
    """The source of the function that ``frame`` is of; its first line is row 1."""
    return parsed_source_of(frame.f_code) if frame is not None else None


def _required(test: ast.expr, must_hold: bool, names: dict[str, Any]) -> Iterator[Relation]:
    """The comparisons in ``test`` that all have to hold for it to be ``must_hold``; those of which one is enough are none."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _required(test.operand, not must_hold, names)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if must_hold else ast.Or):
        for each in test.values:
            yield from _required(each, must_hold, names)
    elif (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id == ("all" if must_hold else "any")
        and test.args
    ):
        yield from _required_of_items(test.args[0], must_hold, names)
    elif isinstance(test, ast.Compare):
        sides = (test.left, *test.comparators)
        if must_hold or len(test.ops) == 1:
            for left, operator, right in zip(sides, test.ops, test.comparators, strict=False):
                kind = type(operator) if must_hold else _NEGATED.get(type(operator), type(operator))
                yield Relation(left, kind, right, names)


def _required_of_items(node: ast.expr, must_hold: bool, names: dict[str, Any]) -> Iterator[Relation]:
    """What has to hold of each item, with the first one: `all(0 < rate < 1 for rate in rates)`, `not any(rate < 0 for rate in rates)`."""
    if not isinstance(node, (ast.GeneratorExp, ast.ListComp)) or len(node.generators) != 1:
        return
    target, source = node.generators[0].target, node.generators[0].iter
    if isinstance(target, ast.Name) and all(
        isinstance(each, (ast.Name, ast.Attribute, ast.Load)) for each in ast.walk(source)
    ):
        items = attempted(lambda: eval(compile(ast.Expression(source), "", "eval"), names))
        if isinstance(items, (list, tuple)) and items:
            yield from _required(node.elt, must_hold, {**names, target.id: items[0]})


def _is_plain(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        function = node.func
        is_method = isinstance(function, ast.Attribute) and function.attr in _METHODS
        return is_method or (isinstance(function, ast.Name) and function.id in _FUNCTIONS)
    return not isinstance(node, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda))
