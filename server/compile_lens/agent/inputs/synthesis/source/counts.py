"""Parameters that are Python integers for what a function does with them: a tensor there fails, or is another program.

`range(steps)`, `x[:, :length]`, `x.view(batch, count, -1)`, `torch.zeros(count)`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

# methods, and functions of torch, all of whose plain arguments are sizes or dimensions
_OF_SIZES = frozenset(
    {"view", "reshape", "expand", "repeat", "narrow", "unfold", "roll", "unsqueeze", "squeeze", "flatten"}
)
_MAKING = frozenset({"zeros", "ones", "empty", "rand", "randn", "arange", "eye", "linspace"})
_OF_DIMENSIONS = frozenset({"dim", "dims", "kernel_size", "stride", "num_classes", "chunks", "size"})
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


def counts(function: ast.AST, names: Collection[str]) -> frozenset[str]:
    """Those of ``names`` that ``function`` counts with, and of which it reads nothing that a tensor has."""
    nodes = list(ast.walk(function))
    read = {each.value.id for each in nodes if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)}
    indexed = {each.value.id for each in nodes if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name)}
    assigned = {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    found = {name for node in nodes for part in _counted(node) for name in _variables(part)}
    return frozenset(found & {*names} - read - indexed - assigned)


def _counted(node: ast.AST) -> Iterator[ast.expr]:
    """What of ``node`` has to be an integer of Python's."""
    if isinstance(node, ast.Slice):
        yield from (each for each in (node.lower, node.upper, node.step) if each is not None)
    if not isinstance(node, ast.Call):
        return
    owner = getattr(node.func, "value", None)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if owner is None:
        if name == "range":
            yield from node.args
    elif getattr(owner, "id", "") == "torch":
        if name in _MAKING:
            yield from node.args
    elif name in _OF_SIZES and getattr(owner, "id", "") != "self":
        yield from node.args
    if owner is not None:
        yield from (each.value for each in node.keywords if each.arg in _OF_DIMENSIONS)


def _variables(node: ast.expr) -> Iterator[str]:
    """The names in ``node``, if it is one, or arithmetic on some."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.UnaryOp):
        yield from _variables(node.operand)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC):
        yield from _variables(node.left)
        yield from _variables(node.right)
    elif isinstance(node, (ast.Tuple, ast.List)):
        for each in node.elts:
            yield from _variables(each)
