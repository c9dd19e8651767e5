"""Exceptions of the compiler: what each stands for, its bases, and where it is raised."""

from __future__ import annotations

import ast
import re
from typing import Any

from .source import SourceFile, docstring, dotted, python_files, read, text_of

# the first of two with the same short name is the one that users see
_FOLDERS = (
    "torch/_dynamo",
    "torch/_inductor",
    "torch/_functorch",
    "torch/_subclasses",
    "torch/fx",
    "torch/export",
    "torch/_export",
    "torch/_higher_order_ops",
    "torch/_library",
    "torch/utils",
)
_CLASS = re.compile(r"^class ([A-Za-z]\w*)\(([^)]*)\)", re.MULTILINE)
_BASE = re.compile(r"(?:Error|Exception)\Z")
_RAISE = re.compile(r"^.*\braise (?:\w+\.)*(\w+)\b", re.MULTILINE)
MAX_PLACES = 4


def exceptions(root: str) -> dict[str, dict[str, Any]]:
    """Exceptions by full name (``torch._dynamo.exc.Unsupported``)."""
    bases: dict[str, dict[str, list[str]]] = {}
    raised: dict[str, list[str]] = {}
    for path in (path for folder in _FOLDERS for path in python_files(root, folder)):
        text = text_of(root, path)
        bases[path] = {
            match.group(1): [base.strip().rpartition(".")[2] for base in match.group(2).split(",")]
            for match in _CLASS.finditer(text)
        }
        for number, line in enumerate(text.split("\n"), 1) if "raise " in text else ():
            match = _RAISE.match(line)
            if match is not None:
                raised.setdefault(match.group(1), []).append(f"{path}:{number}")
    found: dict[str, dict[str, Any]] = {}
    for path, names in _derived(bases).items():
        source = read(root, path)
        for node in source.tree.body if source is not None else ():
            if source is not None and isinstance(node, ast.ClassDef) and node.name in names:
                found[f"{_module(path)}.{node.name}"] = _row(source, node, raised.get(node.name, []))
    return found


def _derived(bases: dict[str, dict[str, list[str]]]) -> dict[str, set[str]]:
    """The classes of each file that are exceptions. A base may stand in a file that is read later."""
    found: dict[str, set[str]] = {}
    known: set[str] = set()
    before = -1
    while len(known) != before:
        before = len(known)
        for path, classes in bases.items():
            for name, of_class in classes.items():
                if any(_BASE.search(base) or base in known for base in of_class):
                    found.setdefault(path, set()).add(name)
                    known.add(name)
    return {path: found[path] for path in bases if path in found}


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _row(source: SourceFile, node: ast.ClassDef, raised: list[str]) -> dict[str, Any]:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    text = docstring(node, 700) or source.comment(first) or _inner_comment(source, node)
    for member in node.body if not text else ():
        if isinstance(member, ast.FunctionDef) and member.name == "__init__":
            text = docstring(member, 700)
    # another class of the same name may be raised in another part of torch
    part = source.path.split("/")[1]
    row = {
        "bases": [dotted(base) or ast.unparse(base) for base in node.bases],
        "doc": text,
        "at": source.at(node.lineno),
        "raised_at": [place for place in raised if place.split("/")[1] == part][:MAX_PLACES],
    }
    return {key: value for key, value in row.items() if value}


def _inner_comment(source: SourceFile, node: ast.ClassDef) -> str:
    """Comment lines at the start of the body."""
    lines = (line.strip() for line in source.lines[node.lineno : node.body[0].lineno - 1])
    return "\n".join(line.lstrip("# ") for line in lines if line.startswith("#"))
