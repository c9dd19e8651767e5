"""What a program demands of a value where it raises: `assert isinstance(net, Decoder)`, `if not callable(f): raise`, `case Encoder():`."""

from __future__ import annotations

import ast
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from ....runtime.foreign_code import attempted
from .failed_conditions import source_tree
from .failing_lines import innermost

# what is evaluated again: it looks something up, and calls nothing
_PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Load, ast.Tuple, ast.BinOp, ast.BitOr)
_OF_ALL, _LISTS = frozenset({"all", "any"}), (ast.GeneratorExp, ast.ListComp)


@dataclass(frozen=True, slots=True)
class Demand:
    """What has to hold of ``node``, which is written ``name``. ``kind``: it ``is`` one of ``classes``, or ``is-not``; it is ``callable``;
    it is ``given``, and not None; or it ``has`` the ``attribute``. ``value`` is what it is now; None if that is not known.

    ``source``: what it is an item of, where it is one.
    """

    name: str
    kind: str
    classes: tuple[type, ...] = ()
    attribute: str = ""
    value: Any = field(default=None, compare=False)
    source: str = ""


def demands(error: BaseException) -> Iterator[Demand]:
    """What had to hold where ``error`` was raised, and did not: by the innermost condition first."""
    frame, line = innermost(error)
    tree = source_tree(frame)
    if frame is None or tree is None:
        return
    reader = _Conditions(frame, tree)
    row = line - frame.f_code.co_firstlineno + 1
    found = list(reader.around(row))
    if not found and reader.raises_at(row):
        # the last of several: `if isinstance(x, A): return …`, and so on
        calls = (each for each in ast.walk(tree) if isinstance(each, ast.Call))
        found = [demand for call in calls for demand in reader.required(call, True) if demand.kind == "is"]
    yield from dict.fromkeys(found)


class _Conditions:
    """Reads conditions of one function, with the values that it had when it failed."""

    def __init__(self, frame: FrameType, tree: ast.AST) -> None:
        self._names = {**frame.f_globals, **frame.f_locals}
        self._tree = tree
        self._items: dict[str, ast.expr] = {}
        for node in ast.walk(tree):
            if isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name):
                self._items[node.target.id] = node.iter

    def raises_at(self, row: int) -> bool:
        """Whether the statement in ``row`` is a `raise`."""
        return any(isinstance(each, ast.Raise) and _is_at(each, row) for each in ast.walk(self._tree))

    def around(self, row: int) -> Iterator[Demand]:
        """What the conditions around the statement that raised in ``row`` demand."""
        nodes = [each for each in ast.walk(self._tree) if hasattr(each, "lineno") and _is_at(each, row)]
        raises = self.raises_at(row)
        for node in reversed(nodes):
            if isinstance(node, ast.Assert):
                yield from self.required(node.test, True)
            elif raises and isinstance(node, ast.If) and any(_is_at(each, row) for each in node.body):
                yield from self.required(node.test, False)
        # one of several is enough, and the first is the most usual one
        for node in nodes if raises else ():
            if isinstance(node, ast.If) and any(_is_at(each, row) for each in node.orelse):
                yield from self.required(node.test, True)
            elif isinstance(node, ast.Match):
                for pattern in (each for case in node.cases for each in ast.walk(case.pattern)):
                    if isinstance(pattern, ast.MatchClass):
                        yield from self._of_class(node.subject, pattern.cls, True)

    def required(self, test: ast.expr, must_hold: bool) -> Iterator[Demand]:
        """What ``test`` demands to be ``must_hold``: all of it, or else one of several."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from self.required(test.operand, not must_hold)
        elif isinstance(test, ast.BoolOp):
            for each in test.values:
                yield from self.required(each, must_hold)
        elif isinstance(test, ast.Call):
            yield from self._of_call(test, must_hold)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            yield from self._of_comparison(test.left, test.ops[0], test.comparators[0], must_hold)
        elif isinstance(test, (ast.Name, ast.Attribute)) and must_hold:
            yield from self._given(test)

    def _of_call(self, call: ast.Call, must_hold: bool) -> Iterator[Demand]:
        function = call.func.id if isinstance(call.func, ast.Name) else ""
        first, *rest = call.args or [ast.Constant(None)]
        if function in _OF_ALL and isinstance(first, _LISTS):
            yield from self.required(first.elt, must_hold)
        elif function in ("isinstance", "issubclass") and rest:
            yield from self._of_class(first, rest[0], must_hold, is_class=function == "issubclass")
        elif function == "callable" and must_hold and not callable(self._value(first)):
            yield Demand(_name(first), "callable", value=self._value(first), source=self._source(first))
        elif function == "hasattr" and must_hold and rest and isinstance(rest[0], ast.Constant):
            value = self._value(first)
            if value is not None and attempted(lambda: hasattr(value, str(rest[0].value))) is False:  # type: ignore[attr-defined]
                yield Demand(_name(first), "has", (), str(rest[0].value), value, self._source(first))

    def _of_class(self, node: ast.expr, written: ast.expr, must_hold: bool, is_class: bool = False) -> Iterator[Demand]:
        classes, value = _classes(self._value(written)), self._value(node)
        if not classes or is_class:
            return
        if isinstance(value, classes) is not must_hold:
            yield Demand(_name(node), "is" if must_hold else "is-not", classes, "", value, self._source(node))

    def _of_comparison(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, must_hold: bool) -> Iterator[Demand]:
        is_same = isinstance(operator, (ast.Is, ast.Eq, ast.In))
        is_other = isinstance(operator, (ast.IsNot, ast.NotEq, ast.NotIn))
        if isinstance(left, ast.Call) and isinstance(left.func, ast.Name) and left.func.id == "type" and left.args:
            if is_same or is_other:
                yield from self._of_class(left.args[0], right, must_hold is is_same)
        elif isinstance(right, ast.Constant) and right.value is None:
            if (is_other and must_hold) or (is_same and not must_hold):
                yield from self._given(left)
        else:
            for each in (left, right):
                # an optional number that is too small as it is: `assert count > 0 or len(sizes) > 0`
                inner = each.args[0] if isinstance(each, ast.Call) and len(each.args) == 1 else each
                if isinstance(inner, (ast.Name, ast.Attribute)):
                    yield Demand(_name(inner), "given", value=self._value(inner))

    def _given(self, node: ast.expr) -> Iterator[Demand]:
        value = self._value(node)
        if value is None or attempted(lambda: bool(value)) is False:
            yield Demand(_name(node), "given", value=value)

    def _source(self, node: ast.expr) -> str:
        """What ``node`` is an item of: `models` for `m` in `for m in models`."""
        items = self._items.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(items, ast.Call) and items.args:
            items = items.args[0]  # `enumerate(models)`
        return _name(items) if items is not None else ""

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and node.id in self._items and node.id not in self._names:
            first = self._value(self._items[node.id])
            return next(iter(first), None) if isinstance(first, (list, tuple)) else None
        if not all(isinstance(each, _PLAIN) for each in ast.walk(node)):
            return None
        code = compile(ast.fix_missing_locations(ast.Expression(node)), "", "eval")
        return attempted(lambda: eval(code, self._names))


def _is_at(node: Any, row: int) -> bool:
    return bool(node.lineno <= row <= (node.end_lineno or row))


def _name(node: ast.expr) -> str:
    """``width`` for `width`, `self.width`, `config.width` and `config["width"]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return str(getattr(node, "attr", getattr(node, "id", ""))).strip("_")


def _classes(value: Any) -> tuple[type, ...]:
    """The classes in the second argument of `isinstance`."""
    if isinstance(value, type):
        return (value,)
    if isinstance(value, types.UnionType):
        return tuple(found for each in typing.get_args(value) for found in _classes(each))
    origin = typing.get_origin(value)
    if isinstance(origin, type):
        return (origin,)
    return tuple(found for each in value for found in _classes(each)) if isinstance(value, (tuple, list, set)) else ()
