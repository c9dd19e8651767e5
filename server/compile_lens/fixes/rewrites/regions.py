"""The compile region that a finding is about, as text: its options, and the name that its calls use."""

from __future__ import annotations

import tree_sitter

from compile_lens.analysis.finding import Finding
from compile_lens.fixes.fix import Edit
from compile_lens.fixes.rewrites.editing import replace_node
from compile_lens.syntax.regions import Region, find_regions
from compile_lens.syntax.tree import Query, Range, SourceTree

_CALLS = Query("(call) @call")


def region_of(finding: Finding, tree: SourceTree) -> Region | None:
    """The region that compiles a function: the one whose target the finding, or a call that leads to it, is in; or the only one."""
    regions = find_regions(tree)
    path = [site.place.line for site in reversed(finding.call_path) if site.place.file == finding.place.file]
    for line in (finding.place.line, *path):
        holding = [
            r for r in regions if r.target_line is not None and r.target_line <= line <= (r.target_end_line or 0)
        ]
        if holding:
            return max(holding, key=lambda region: region.target_line or 0)
    return regions[0] if len(regions) == 1 else None


def with_option(tree: SourceTree, region: Region, option: str, wanted: str) -> Edit | None:
    """The edit that gives a region ``option=wanted``; None where it has that, or is not written as a call or decorator."""
    node = call_of(tree, region)
    if node is None:
        return None
    arguments = node.child_by_field_name("arguments") if node.type == "call" else None
    if arguments is None:
        return Edit(_end(tree, node.end_byte), f"({option}={wanted})") if node.type != "call" else None
    given = [child for child in arguments.named_children if child.type != "comment"]
    for argument in given:
        name, value = argument.child_by_field_name("name"), argument.child_by_field_name("value")
        if name is not None and value is not None and tree.node_text(name) == option:
            return replace_node(tree, value, wanted) if tree.node_text(value) != wanted else None
    if not given:
        return Edit(_end(tree, arguments.start_byte + 1), f"{option}={wanted}")
    return Edit(_end(tree, given[-1].end_byte), f", {option}={wanted}")


def call_of(tree: SourceTree, region: Region) -> tree_sitter.Node | None:
    """The call of ``torch.compile`` that makes a region, or the name of a decorator without arguments."""
    start = tree.offset(region.line, region.column)
    node = tree.root.named_descendant_for_byte_range(start, tree.offset(region.end_line, region.end_column))
    if node is not None and node.type == "decorator":
        return next((child for child in node.named_children if child.type != "comment"), None)
    return node


def options_of(tree: SourceTree, region: Region) -> tuple[str, list[str]]:
    """The callable that compiles a region (``torch.compile``), and its options as written."""
    node = call_of(tree, region)
    function = node.child_by_field_name("function") if node is not None and node.type == "call" else node
    arguments = node.child_by_field_name("arguments") if node is not None else None
    given = arguments.named_children if arguments is not None else []
    named = [" ".join(tree.node_text(each).split()) for each in given if each.type == "keyword_argument"]
    return (tree.node_text(function) if function is not None else "", named)


def calls_by_name(tree: SourceTree, name: str) -> list[tree_sitter.Node]:
    """The calls of what a file calls ``name``."""
    captures = _CALLS.everywhere(tree).get("call", [])
    found = [node for node in captures if _function(tree, node) == name]
    return sorted(found, key=lambda node: node.start_byte)


def _function(tree: SourceTree, call: tree_sitter.Node) -> str:
    function = call.child_by_field_name("function")
    return tree.node_text(function) if function is not None else ""


def _end(tree: SourceTree, offset: int) -> Range:
    return tree.range_between(offset, offset)
