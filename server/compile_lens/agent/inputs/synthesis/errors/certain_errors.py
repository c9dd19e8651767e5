"""Tells of an error whether it comes with any arguments: no branch, no loop and no value of one leads to the line that raised it."""

from __future__ import annotations

import ast
import os
import sys
import traceback
from collections.abc import Iterable
from types import FrameType

from .... import OWN_FOLDER
from ....runtime.installed_imports import SITE_FOLDERS
from .failed_conditions import source_tree

_TORCH = f"{os.sep}torch{os.sep}"
_LEAVING = (ast.Return, ast.Yield, ast.YieldFrom)
_ASKING = (ast.Call, ast.Import, ast.ImportFrom)


def is_certain(error: BaseException, name: str = "") -> bool:
    """Whether the code of the project that came to ``error`` runs with any arguments: no part of it stands in a branch or a loop, or after
    what may leave its function. ``name`` is the attribute that the innermost line asks for, if it is about one, or the variable."""
    frames: list[tuple[FrameType, int]] = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if file.startswith((OWN_FOLDER, "<")) or _TORCH in file:
            continue
        if not is_of_project(file):
            break
        frames.append((frame, line))
    kind = ast.Name if isinstance(error, NameError) else ast.Attribute
    reached = [_is_reached_always(*each, name if each is frames[-1] else "", kind) for each in frames]
    return bool(reached) and all(reached)


def is_of_project(file: str) -> bool:
    """Whether ``file`` is no library's."""
    return not any(f"{os.sep}{part}{os.sep}" in file for part in SITE_FOLDERS) and not file.startswith(sys.base_prefix)


def _is_reached_always(frame: FrameType, line: int, name: str, kind: type[ast.Name | ast.Attribute]) -> bool:
    tree = source_tree(frame)
    row = line - frame.f_code.co_firstlineno + 1
    function = next(iter(getattr(tree, "body", [])), None)
    for statement in getattr(function, "body", []):
        nodes = [*ast.walk(statement)]
        if statement.end_lineno >= row:
            aside = {part for node in nodes for branch in _for_some(node) for part in ast.walk(branch)}
            asking = [node for node in nodes if _is_on(node, row) and _asks(node, name, kind)]
            fixed = all(_is_asked_of_the_same(node, frame) for node in asking)
            return bool(asking) and fixed and aside.isdisjoint(asking)
        if any(isinstance(node, _LEAVING) for node in nodes):
            return False  # it may end there with other arguments
    return False


def _is_on(node: ast.AST, row: int) -> bool:
    return getattr(node, "lineno", row + 1) <= row <= (getattr(node, "end_lineno", None) or 0)


def _asks(node: ast.AST, name: str, kind: type[ast.Name | ast.Attribute]) -> bool:
    if not name:
        return isinstance(node, _ASKING)
    return isinstance(node, kind) and name == (node.id if isinstance(node, ast.Name) else node.attr)


def _is_asked_of_the_same(node: ast.AST, frame: FrameType) -> bool:
    """Whether ``node``, which is run in ``frame``, asks the same thing with any arguments: what the module defines, or what the class of
    the first parameter does. A parameter, or what is kept of one, may be something else."""
    if not isinstance(node, ast.Call | ast.Attribute):
        return True
    first = frame.f_code.co_varnames[: min(frame.f_code.co_argcount, 1)]
    asked = node.func if isinstance(node, ast.Call) else node
    match asked:
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in first:
            return isinstance(node, ast.Attribute) or callable(getattr(type(frame.f_locals.get(owner)), name, None))
    while isinstance(asked, ast.Attribute | ast.Call):
        asked = asked.value if isinstance(asked, ast.Attribute) else asked.func
    return isinstance(asked, ast.Name) and asked.id not in frame.f_locals


def _for_some(node: ast.AST) -> Iterable[ast.AST]:
    """The parts of ``node`` that run for some arguments only, or handle what others raise."""
    match node:
        case ast.If() | ast.While():
            return (*node.body, *node.orelse)
        case ast.IfExp():
            return node.body, node.orelse
        case ast.BoolOp():
            return node.values[1:]
        case ast.For():
            return (*node.body, *node.orelse)
        case (
            ast.ListComp()
            | ast.SetComp()
            | ast.DictComp()
            | ast.GeneratorExp()
            | ast.Try()
            | ast.Match()
            | ast.Lambda()
        ):
            return (node,)
    return ()
