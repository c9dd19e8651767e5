"""Edits the text of a repro: replaces its target and calls, and removes statements that are no longer needed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .minify_program import GraphProgram

# the name is part of a repro's contract (repro/contract.py)
DEFAULT_BACKEND = re.compile(r"^DEFAULT_BACKEND = (.+)$", re.MULTILINE)
REPLACED = ("make_target", "make_calls")
NAMES = {"device": "device = torch.device", "inf": "from math import inf", "nan": "from math import nan"}


class NoRepro(Exception):
    """The file lacks the functions of a repro."""


def with_program(text: str, program: GraphProgram) -> str:
    """``text`` with its ``make_target`` and ``make_calls`` replaced by those of ``program``. Raises NoRepro."""
    lines = text.split("\n")
    found = {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name in REPLACED}
    if len(found) != len(REPLACED):
        raise NoRepro
    target = program.target()
    needed = [line for name, line in NAMES.items() if f"{name}(" in target or f" {name}" in target]
    written = {
        "make_target": "\n".join([*needed, *([""] * 2 if needed else []), target]),
        "make_calls": program.calls(),
    }
    for node in sorted(found.values(), key=lambda node: -node.lineno):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        lines[first - 1 : node.end_lineno] = written[node.name].split("\n")
    return "\n".join(lines)


def without_unused_statements(text: str) -> Iterator[str]:
    """``text`` without one of the statements above its target, the last first; the code that judges the result stays.

    A statement whose names are used anywhere else stays, because the search may never run that use.
    """
    lines = text.split("\n")
    nodes = ast.parse(text).body
    end = next((node.lineno for node in nodes if getattr(node, "name", "") == "make_target"), 0)
    for node in reversed(nodes):
        if node.lineno < end and not any(_bound(node) & _used(other) for other in nodes if other is not node):
            first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
            yield "\n".join(lines[: first - 1] + lines[node.end_lineno :])


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement binds."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    return set()


def _used(node: ast.stmt) -> set[str]:
    """The names that a statement uses but does not bind."""
    inside = [child for child in ast.walk(node) if child is not node]
    names = [child for child in inside if isinstance(child, ast.Name)]
    own = {name.id for name in names if not isinstance(name.ctx, ast.Load)} | {
        child.name for child in inside if isinstance(child, (ast.FunctionDef, ast.ClassDef))
    }
    return {name.id for name in names} - own


def may_use_inductor(text: str) -> bool:
    """Whether a repro compiles with Inductor, as far as its text says: to prepare for that takes longer than a small search without."""
    backend = DEFAULT_BACKEND.search(text)
    return backend is None or "inductor" in backend[1]


def collapse_blank_lines(text: str) -> str:
    """Leave at most two consecutive empty lines."""
    out: list[str] = []
    for line in text.split("\n"):
        if line.strip() or out[-2:] != ["", ""]:
            out.append(line.rstrip())
    return "\n".join(out)
