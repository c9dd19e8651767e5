"""Reads what ``import *`` binds of a module of Python, without running it: some read a file of the current folder, or open a window."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

ALL = "__all__"


@functools.cache
def exported_names(name: str) -> frozenset[str]:
    """Those of the module ``name`` of the standard library; none where there is no such module on this system."""
    if name in sys.modules:
        return _of_module(name)
    try:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            return frozenset()
        # one in C defines things, and no more
        return (
            _of_source(ast.parse(Path(spec.origin).read_bytes()))
            if spec.has_location and spec.origin.endswith(".py")
            else _of_module(name)
        )
    except (
        ImportError,
        ValueError,
        OSError,
        SyntaxError,
        Warning,
    ):  # not on this system, or no module, or one that is to go
        return frozenset()


def _of_module(name: str) -> frozenset[str]:
    found = importlib.import_module(name)
    return frozenset(getattr(found, ALL, None) or (name for name in vars(found) if not name.startswith("_")))


def _of_source(tree: ast.Module) -> frozenset[str]:
    lists: dict[str, list[str] | None] = {}
    bound: set[str] = set()
    for statement in tree.body:
        bound.update(_bound_by(statement))
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            lists[statement.targets[0].id] = _texts(statement.value, lists)
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            before, more = lists.get(statement.target.id), _texts(statement.value, lists)
            lists[statement.target.id] = before + more if before is not None and more is not None else before
    return frozenset(lists.get(ALL) or {name for name in bound if not name.startswith("_")})


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        yield statement.name
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name for alias in statement.names)


def _texts(value: ast.expr, lists: dict[str, list[str] | None]) -> list[str] | None:
    """The texts of a list, or of a sum of some; None for anything else."""
    if isinstance(value, (ast.List, ast.Tuple)):
        texts = [item.value for item in value.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        return texts if len(texts) == len(value.elts) else None
    if isinstance(value, ast.Name):
        return lists.get(value.id)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        left, right = _texts(value.left, lists), _texts(value.right, lists)
        return left + right if left is not None and right is not None else None
    return None
