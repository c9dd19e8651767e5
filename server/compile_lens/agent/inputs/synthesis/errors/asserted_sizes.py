"""What the condition that a program raised for requires of sizes: `assert L == H * W`, `if x.size(1) < self.width: raise …`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .failed_conditions import Relation, relations

_RANKS = frozenset({"dim", "ndim", "ndimension"})
_SHAPES = frozenset({"shape", "size"})
# how far a size is from one that a comparison allows
_BEYOND: dict[type[ast.cmpop], int] = {ast.GtE: 0, ast.LtE: 0, ast.Gt: 1, ast.Lt: -1}


def compared_sizes(error: BaseException) -> Iterator[tuple[str, str]]:
    """Kinds and values of requirements: ``size`` and ``bound`` with `got expected`, ``rank`` with the number of dimensions, ``shape``
    with the name of a tensor, ``dtype``."""
    for relation in relations(error):
        if relation.operator is ast.Eq:
            yield from _of_equal(relation)
        elif relation.operator in _BEYOND:
            for each in relation.both_ways():
                yield from _of_bound(each)


def asserted_lengths(error: BaseException) -> dict[str, int]:
    """How many items lists must have by the condition that a program raised for: `assert len(factors) == layers`, by name."""
    found: dict[str, int] = {}
    for relation in (each for one in relations(error) for each in one.both_ways()):
        name, (now, wanted) = _measured(relation.left), relation.values
        if relation.operator not in (ast.Eq, ast.GtE, ast.Gt) or not name or _measured(relation.right):
            continue
        least = wanted + 1 if relation.operator is ast.Gt and type(wanted) is int else wanted
        is_enough = relation.operator is not ast.Eq and _is_size(now) and _is_size(least) and now >= least
        if _is_size(least) and least != now and not is_enough:
            found.setdefault(name, least)
    return found


def _measured(node: ast.expr) -> str:
    """``factors`` for `len(factors)` and `len(self.factors)`; '' for other expressions."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "len" or not node.args:
        return ""
    inner = node.args[0]
    return inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "")


def _of_equal(relation: Relation) -> Iterator[tuple[str, str]]:
    left, right = relation.left, relation.right
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod):
        got, divisor = relation.value(left.left), relation.value(left.right)
        if _is_size(got) and _is_size(divisor) and got % divisor:
            yield "size", f"{got} {(got // divisor + 1) * divisor}"
        return
    one, other = relation.values
    if _is_size(one) and _is_size(other) and one != other:
        rank = {id(left): other, id(right): one}
        of_rank = next((rank[id(side)] for side in (left, right) if _is_rank(side)), None)
        if of_rank is not None:
            yield "rank", str(of_rank)
        else:
            yield "size", f"{one} {other}"
            yield "size", f"{other} {one}"
    elif isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)) and [*one] != [*other]:
        yield from _of_shapes(left, other)
        yield from _of_shapes(right, one)
        for got, want in zip(one, other, strict=False) if len(one) == len(other) else ():
            if _is_size(got) and _is_size(want) and got != want:
                yield "size", f"{got} {want}"
    elif type(one).__name__ == type(other).__name__ == "dtype" and one != other:
        of_tensor = other if isinstance(left, ast.Attribute) and left.attr == "dtype" else one
        yield "dtype", str(of_tensor).rpartition(".")[2]


def _of_shapes(node: ast.expr, wanted: Any) -> Iterator[tuple[str, str]]:
    """The shape that a tensor of a known name must have: `list(frames.shape[2:]) == [27, 48, 3]`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        node = node.args[0]
    first, part = 0, node
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        lower, part = node.slice.lower, node.value
        first = lower.value if isinstance(lower, ast.Constant) and isinstance(lower.value, int) else 0
        if node.slice.upper is not None or node.slice.step is not None or (lower is not None and not first):
            return  # the number of its dimensions is not known
    part = part.func if isinstance(part, ast.Call) and not part.args else part
    if not isinstance(part, ast.Attribute) or part.attr not in _SHAPES or not isinstance(part.value, ast.Name):
        return
    if wanted and all(_is_size(size) for size in wanted):
        before = ("B", "T", *(f"{part.value.id}_{index}" for index in range(2, first)))[:first]
        yield "shape", f"{part.value.id} {', '.join((*before, *map(str, wanted)))}"


def _of_bound(relation: Relation) -> Iterator[tuple[str, str]]:
    """A size that has to be larger or smaller: `if batch_size < count: raise …`."""
    got, bound = relation.values
    if not _is_size(got) or type(bound) is not int or isinstance(relation.left, ast.Constant):
        return
    wanted = bound + _BEYOND[relation.operator]
    holds = got >= wanted if relation.operator in (ast.GtE, ast.Gt) else got <= wanted
    if not holds and wanted > 0:
        yield ("rank", str(wanted)) if _is_rank(relation.left) else ("bound", f"{got} {wanted}")


def _is_size(value: Any) -> bool:
    return type(value) is int and value > 0


def _is_rank(node: ast.expr) -> bool:
    """Whether ``node`` is the number of dimensions of a tensor: `x.dim()`, `x.ndim`, `len(x.shape)`."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
            inner = node.args[0].func if isinstance(node.args[0], ast.Call) else node.args[0]
            return isinstance(inner, ast.Attribute) and inner.attr in _SHAPES
        node = node.func
    return isinstance(node, ast.Attribute) and node.attr in _RANKS
