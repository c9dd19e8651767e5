"""Fix for dicts that have a key in some calls only: the others pass the value that the function takes in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, make
from compile_lens.fixes.rewrites.calls import calls_of, function_of
from compile_lens.fixes.rewrites.editing import torch_import, torch_name
from compile_lens.fixes.rewrites.evidence import changed
from compile_lens.syntax.tree import SourceTree

_GET = re.compile(r"""\b(?P<name>\w+)\.get\((?P<key>"\w+"|'\w+'),[ ]*(?P<default>-?[\d.]+|True|False|None)\)""")
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?")


def default_keys(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``options.get("scale", 1)`` of a dict that is written at each call: with ``"scale": 1`` where it is not there."""
    function = function_of(finding, tree) if finding.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT) else None
    if function is None:
        return
    roots = {fact.root or fact.name for fact in changed(finding)}
    body = "\n".join(tree.line_text(line) for line in range(function.def_line, function.last_line + 1))
    calls = calls_of(tree, function)
    torch, _ = torch_name(tree)
    for parameter in function.parameters:
        defaults = {
            match["key"][1:-1]: match["default"] for match in _GET.finditer(body) if match["name"] == parameter.name
        }
        written = [call.arguments.get(parameter.name) for call in calls]
        if (
            parameter.name not in roots
            or not defaults
            or any(node is None or node.type != "dictionary" for node in written)
        ):
            continue
        dicts = [node for node in written if node is not None]
        # a number that differs would be compiled for each value
        differ = {key for key, default in defaults.items() if {default, *_values(tree, dicts, key)} != {default}}
        edits = [edit for node in dicts for edit in _completed(tree, node, defaults, differ, torch)]
        if edits:
            title = f"Pass every key of `{parameter.name}` at each call"
            yield make(
                "default-keys", title, *edits, torch_import(tree) if any("tensor(" in e.text for e in edits) else None
            )


def _values(tree: SourceTree, dicts: list[tree_sitter.Node], key: str) -> set[str]:
    """The values of a key, as they are written."""
    values = (_pairs(tree, node).get(key) for node in dicts)
    return {tree.node_text(value) for value in values if value is not None}


def _completed(
    tree: SourceTree, node: tree_sitter.Node, defaults: dict[str, str], differ: set[str], torch: str
) -> Iterator[Edit]:
    """Edits that add the keys that a dict does not have; numbers that ``differ`` become tensors."""
    pairs, values = [child for child in node.named_children if child.type == "pair"], _pairs(tree, node)
    missing = []
    for key, default in defaults.items():
        value = values.get(key)
        if value is None:
            missing.append(f'"{key}": {_as_tensor(default, torch) if key in differ else default}')
        elif key in differ and _NUMBER.fullmatch(tree.node_text(value)):
            yield Edit(tree.node_range(value), _as_tensor(tree.node_text(value), torch))
    if missing:
        end = pairs[-1].end_byte if pairs else node.start_byte + 1
        yield Edit(tree.range_between(end, end), (", " if pairs else "") + ", ".join(missing))


def _pairs(tree: SourceTree, node: tree_sitter.Node) -> dict[str, tree_sitter.Node]:
    """The values of a dict by their keys, which are written as strings."""
    found = {}
    for pair in node.named_children:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key is not None and value is not None:
            found[tree.node_text(key).strip("'\"")] = value
    return found


def _as_tensor(value: str, torch: str) -> str:
    return f"{torch}.tensor({value})" if _NUMBER.fullmatch(value) else value
