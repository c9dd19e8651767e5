"""Reads the hints out of the source of ``analysis``: every text that a finding can carry as one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ANALYSIS = Path(__file__).parents[2] / "server/compile_lens/analysis"
# classes whose last argument holds hints
HOLDERS = frozenset({"Triage", "Misuse", "_Words"})
# functions that return or yield hints under another name
MAKERS = frozenset({"suggestions", "corrected", "instead_of_setting", "_for_size"})
# constants that hold hints under another name
CONSTANTS = frozenset(
    {"ALLOW", "WITHOUT", "REAL", "SWITCH", "ALWAYS_SPECIALIZED", "RAISE_LIMIT", "RANDOM_NUMBER", "LOOP"}
)
# a text of fewer words is a key or a name
LEAST_WORDS = 3


def hint_texts() -> set[str]:
    """Each hint, with ``{}`` where a value goes."""
    return {text for file in ANALYSIS.rglob("*.py") for text in _of_file(ast.parse(file.read_text(encoding="utf-8")))}


def _of_file(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        for part in _parts(node):
            yield from (text for text in _texts(part) if len(text.split()) >= LEAST_WORDS)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions below ``node`` whose texts are hints."""
    if isinstance(node, ast.keyword) and node.arg == "hints":
        yield node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in HOLDERS:
        yield from node.args[2:][-1:]
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if node.value is not None and any("HINT" in name or name in CONSTANTS for name in names):
            yield from [] if _is_pattern(node.value) else [node.value]
    elif isinstance(node, ast.FunctionDef) and (node.name.strip("_").startswith("hint") or node.name in MAKERS):
        for inner in ast.walk(node):
            if isinstance(inner, (ast.Yield, ast.Return)) and inner.value is not None:
                yield inner.value


def _is_pattern(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "pattern"


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)  # type: ignore[misc]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)
