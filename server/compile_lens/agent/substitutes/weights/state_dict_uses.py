"""Tells from the source whether a loaded value is passed to ``load_state_dict``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ...runtime.parsed_source import parsed_file

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.NamedExpr)
LOADING_METHOD = "load_state_dict"


def is_loaded(file: str, line: int) -> bool:
    """Whether the value made on a line of ``file`` is an argument of ``load_state_dict``, directly or by a name in the same function."""
    tree = parsed_file(file)
    if tree is None:
        return False
    scope = _innermost(tree, line)
    loading = [node for node in ast.walk(scope) if isinstance(node, ast.Call) and _called(node) == LOADING_METHOD]
    if any(_covers(argument, line) for call in loading for argument in _arguments(call)):
        return True
    names = _names_from(scope, line)
    return any(_mentions(argument, names) for call in loading for argument in _arguments(call))


def _names_from(scope: ast.AST, line: int) -> set[str]:
    """The names assigned on ``line``, and those assigned from them."""
    assigned = [
        (node.value, _targets(node)) for node in ast.walk(scope) if isinstance(node, ASSIGNMENTS) and node.value
    ]
    names = {name for value, targets in assigned if _covers(value, line) for name in targets}
    while True:
        more = {name for value, targets in assigned if _mentions(value, names) for name in targets}
        if more <= names:
            return names
        names |= more


def _targets(node: Any) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _innermost(tree: ast.Module, line: int) -> ast.AST:
    around = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS) and _covers(node, line)]
    return max(around, key=lambda node: node.lineno, default=tree)


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (keyword.value for keyword in call.keywords)


def _covers(node: Any, line: int) -> bool:
    return bool(node.lineno <= line <= (node.end_lineno or node.lineno))


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))
