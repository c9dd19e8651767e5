"""Fixes that set options of Dynamo: which logging calls it may reorder, how many versions it keeps."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
from compile_lens.fixes.rewrites.editing import call_at, configuration, newline, replace_node, target_of
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import Query, Range, SourceTree

_ASSIGNMENTS = Query("(assignment) @assignment")
_KEYWORDS = Query("(keyword_argument) @keyword")
_LOG_METHODS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log"})
# torch/_dynamo/config.py (torch 2.7 and later; before, it was cache_size_limit)
_LIMITS = ("recompile_limit", "cache_size_limit")
DEFAULT_LIMIT = 8
# torch/_dynamo/graph_break_registry.json: "Attempted to wrap RNN, GRU, or LSTM"
_RECURRENT = "GB0014"


def log_later(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``print`` and logging calls: made after the graph, or left out of compiled code."""
    call = call_at(tree, finding.place) if finding.kind is Kind.GRAPH_BREAK else None
    function = call.child_by_field_name("function") if call is not None else None
    if function is None:
        return
    name = tree.node_text(function)
    if name == "print" or read_imports(tree).resolve(name) in ("warnings.warn", "builtins.print"):
        edit = configuration(tree, f"torch._dynamo.config.reorderable_logging_functions.add({name})")
        yield make("reorderable-logging", f"Call `{name}` after the graph (`reorderable_logging_functions`)", edit)
    owner, _, method = name.rpartition(".")
    if method in _LOG_METHODS and owner.isidentifier():
        added = f"torch._dynamo.config.ignore_logging_functions.add({name})"
        below = _after_assignment(tree, owner, added) or (
            configuration(tree, added) if owner in read_imports(tree).modules else None
        )
        if below is not None:
            yield make(
                "ignore-logging",
                f"Exclude `{name}` from compilation (`ignore_logging_functions`)",
                below,
                kind=FixKind.LOSSY,
            )


def recompile_limit(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """A limit high enough for all versions of the run."""
    if finding.kind is not Kind.RECOMPILE_LIMIT:
        return
    value = _limit(tree)
    text = tree.node_text(value) if value is not None else str(DEFAULT_LIMIT)
    limit = 1 << (int(text) + finding.count - 1).bit_length() if text.isdecimal() else 0
    changed = replace_node(tree, value, str(limit)) if value is not None else set_option(tree, _LIMITS, str(limit))
    edit = changed if limit else None
    if edit is not None:
        yield make("recompile-limit", f"Raise `torch._dynamo.config.recompile_limit` to {limit}", edit)


def allow_rnn(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """Recurrent layers, which Dynamo traces only where an option says so (torch/_dynamo/config.py)."""
    if finding.code == _RECURRENT:
        edit = set_option(tree, ("allow_rnn",), "True")
        yield make("allow-rnn", "Set `torch._dynamo.config.allow_rnn = True` (experimental)", edit)


def _limit(tree: SourceTree) -> tree_sitter.Node | None:
    """The limit that the file sets: by an assignment, by ``config.patch(recompile_limit=…)`` or as an option of ``torch.compile``."""
    present = _assignment(tree, _LIMITS)
    if present is not None:
        return present.child_by_field_name("right")
    for node in _KEYWORDS.everywhere(tree).get("keyword", []):
        name = node.child_by_field_name("name")
        if name is not None and tree.node_text(name) in _LIMITS:
            return node.child_by_field_name("value")
    return None


def set_option(tree: SourceTree, options: tuple[str, ...], value: str) -> Edit | None:
    """An assignment of the first option, or another value in the one that there is; None if it has that value."""
    present = _assignment(tree, options)
    right = present.child_by_field_name("right") if present is not None else None
    if right is None:
        return configuration(tree, f"torch._dynamo.config.{options[0]} = {value}")
    return replace_node(tree, right, value) if tree.node_text(right) != value else None


def _assignment(tree: SourceTree, options: tuple[str, ...]) -> tree_sitter.Node | None:
    wanted = re.compile(rf"(?:^|\.)config\.(?:{'|'.join(options)})$")
    for node in _ASSIGNMENTS.everywhere(tree).get("assignment", []):
        left = node.child_by_field_name("left")
        if left is not None and wanted.search(tree.node_text(left)):
            return node
    return None


def _after_assignment(tree: SourceTree, name: str, statement: str) -> Edit | None:
    """``statement`` below the line at the top level that makes ``name``."""
    for child in tree.root.named_children:
        left = target_of(child)
        if left is not None and tree.node_text(left) == name:
            line = tree.position(child.end_byte)[0] + 1
            torch = next((n for n, full in read_imports(tree).names.items() if full == "torch"), None)
            if torch is None or line > len(tree.lines):
                return None
            return Edit(Range(line, 1, line, 1), re.sub(r"^torch\b", torch, statement) + newline(tree))
    return None
