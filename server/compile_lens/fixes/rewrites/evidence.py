"""Reads the failed guards of a recompile finding from its details."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from msgspec.structs import replace

from compile_lens.analysis.finding import Finding
from compile_lens.analysis.guard_facts import GuardFact
from compile_lens.analysis.guards import read_guard
from compile_lens.syntax.foreign_texts import parse_expression
from compile_lens.trace.report import GuardFailure

# "[0/1] against 0/0: tensor 'x' size mismatch …", as analysis/recompiles.py writes them
_GUARD = re.compile(r"^\[(?P<id>[^\]\n]+)\] against (?P<against>\S*): (?P<guard>.*)$", re.MULTILINE)
# "[0/1] made for x of size [None, 8]"
_SIZES = re.compile(r"^\[[^\]\n]+\] made for (?P<name>\S+) of size \[(?P<sizes>[^\]\n]+)\]$", re.MULTILINE)


def changed(finding: Finding) -> tuple[GuardFact, ...]:
    """What had changed at each recompile, compared with the newest version before it."""
    first: dict[str, GuardFact] = {}
    for match in _GUARD.finditer(finding.detail):
        first.setdefault(match["id"], read_guard(GuardFailure(match["against"], match["guard"])))
    return tuple(fact if _is_path(fact.name) else replace(fact, name="") for fact in first.values())


@lru_cache(maxsize=4096)
def _is_path(name: str) -> bool:
    """Whether an expression only reads: a variable, and attributes and items of it. A program may forge any other as its guard's."""
    try:
        node = parse_expression(name)
    except SyntaxError:
        return False
    while isinstance(node, ast.Attribute) or (isinstance(node, ast.Subscript) and _is_key(node.slice)):
        node = node.value
    return isinstance(node, ast.Name) and name.isprintable()


def _is_key(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def failed_guards(finding: Finding) -> tuple[str, ...]:
    """The guard that failed at each recompile, in torch's words; the one of the newest version before it."""
    first: dict[str, str] = {}
    for match in _GUARD.finditer(finding.detail):
        first.setdefault(match["id"], match["guard"])
    return tuple(first.values())


def ranks(finding: Finding) -> dict[str, int]:
    """The ranks of the tensors whose sizes changed."""
    return {match["name"]: len(match["sizes"].split(",")) for match in _SIZES.finditer(finding.detail)}
