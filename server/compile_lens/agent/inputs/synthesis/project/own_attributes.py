"""Tells of an attribute that an object lacks whether anything of its project sets it: where nothing does, no arguments bring it."""

from __future__ import annotations

import ast
import re
import sys
from typing import Any

from ....runtime.parsed_source import parsed_file
from ...importing.absent_bases import AbsentBase
from ..errors.certain_errors import is_certain, is_of_project
from .package_files import package_files, statements_mentioning

# what may set any attribute
_SETTING = re.compile(r"__dict__|\bvars\(|\bsetattr\(|__setattr__|__getattr__|__getattribute__|__slots__")


def is_never_set(owner: Any, name: str, error: BaseException) -> bool:
    """Whether nothing sets the attribute ``name`` of ``owner``, an object of a class of the project, and the code that asks for it does so
    with any arguments. Where that cannot be read, it is False."""
    cls = type(owner)
    own = [base for base in cls.__mro__ if base is not object and base.__module__.partition(".")[0] != "torch"]
    if not own or not name or any(issubclass(base, AbsentBase) for base in own) or not is_certain(error, name):
        return False
    files = {str(getattr(sys.modules.get(base.__module__), "__file__", None) or "") for base in own}
    if any(not file or not is_of_project(file) or _may_set(file, name) for file in files):
        return False
    module = sys.modules[cls.__module__]
    file = str(module.__file__)
    others = (path for path, _ in package_files(file, cls.__module__) if path not in files)
    written = rf"\.{name}\b\s*(?::[^=\n]+)?=[^=]|setattr\([^\n]*['\"]{name}['\"]"
    return not any(statements_mentioning(path, written) for path in others)


def _may_set(file: str, name: str) -> bool:
    tree = parsed_file(file)
    if tree is None:
        return True
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=attribute, ctx=ast.Store() | ast.Del()) if attribute == name:
                return True
            case ast.FunctionDef(name=named) | ast.ClassDef(name=named) if named == name:
                return True
            case ast.ClassDef(body=body) if any(name in _bound_by(each) for each in body):
                return True
            case ast.Constant(value) if value == name:
                return True  # `register_buffer("rows", …)`, `setattr(self, "rows", …)`
            case ast.Name() | ast.Attribute() | ast.FunctionDef() if _SETTING.search(_own_text(node)):
                return True
    return False


def _bound_by(statement: ast.stmt) -> set[str]:
    """The names that a statement in the body of a class gives values or types to."""
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _own_text(node: ast.Name | ast.Attribute | ast.FunctionDef) -> str:
    if isinstance(node, ast.Name):
        return f"{node.id}("
    return node.attr if isinstance(node, ast.Attribute) else node.name
