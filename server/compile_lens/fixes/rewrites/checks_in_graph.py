"""Fix for checks of a tensor's data that raise: an operator of the file makes them while the graph runs, with the same exception."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Fix, make
from compile_lens.fixes.rewrites.bound_names import bound_names
from compile_lens.fixes.rewrites.checks import only_raise
from compile_lens.fixes.rewrites.condition import branch_of
from compile_lens.fixes.rewrites.editing import (
    above_top_level,
    function_around,
    has_comment,
    indent_of,
    newline,
    replace_node,
    torch_import,
    torch_name,
)
from compile_lens.syntax.definitions import definitions
from compile_lens.syntax.tree import SourceTree

# of no use where the operator does not know the object
_OWN = frozenset({"self", "cls", "super"})
# types that an operator takes as they are written (torch/_library/infer_schema.py)
_TYPES = frozenset({"int", "float", "bool", "str"})
_SIZE = re.compile(r"\.shape\b|\.size\(|\blen\(|\.ndim\b|\.numel\(")
_MOST = 6


def check_in_graph(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``if (x < 0).any(): raise ValueError(…)`` in a custom operator that is called each time, in its place (torch 2.10)."""
    if finding.kind not in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR):
        return
    branch = branch_of(tree, finding.place, ("if_statement",))
    function = function_around(branch) if branch is not None else None
    if branch is None or function is None or only_raise(branch) is None or has_comment(branch):
        return
    names = [name for name in _read(tree, branch) if name in bound_names(tree, function)]
    if not names or len(names) > _MOST or _OWN & set(names):
        return
    torch, _ = torch_name(tree)
    name = _free_name(tree, f"check_{names[0]}")
    typed = ", ".join(f"{each}: {_type(tree, function, branch, each, torch)}" for each in names)
    added = above_top_level(
        tree,
        branch,
        f'@{torch}.library.custom_op("checks::{name}", mutates_args=())',
        f"def {name}({typed}) -> None:",
        *_body(tree, branch),
        "",
        "",
        f"@{name}.register_fake",
        f"def _({', '.join(names)}):",
        "    pass",
        "",
        "",
        "# called in order, and not removed though it returns nothing",
        f"{name}.register_effect({torch}.library.EffectType.ORDERED)",
    )
    if added is not None:
        called = replace_node(tree, branch, f"{name}({', '.join(names)})")
        title = f"Check it in the graph, with an operator that raises the same exception (`{name}`)"
        yield make("check-in-graph", title, added, called, torch_import(tree))


def _body(tree: SourceTree, branch: tree_sitter.Node) -> list[str]:
    """The lines of a check, indented as the body of a function."""
    indent = indent_of(tree, branch.start_byte)
    first, *rest = tree.node_text(branch).split(newline(tree))
    return ["    " + line.removeprefix(indent) for line in (first, *rest)]


def _read(tree: SourceTree, branch: tree_sitter.Node) -> list[str]:
    """The names that a statement reads, each once, in their order."""
    found: dict[int, str] = {}
    pending = [branch]
    while pending:
        node = pending.pop()
        parent = node.parent
        is_attribute = (
            parent is not None and parent.type == "attribute" and parent.child_by_field_name("object") != node
        )
        is_keyword = (
            parent is not None and parent.type == "keyword_argument" and parent.child_by_field_name("name") == node
        )
        if node.type == "identifier" and not is_attribute and not is_keyword:
            found[node.start_byte] = tree.node_text(node)
        pending += node.named_children
    return list(dict.fromkeys(found[place] for place in sorted(found)))


def _type(tree: SourceTree, function: tree_sitter.Node, branch: tree_sitter.Node, name: str, torch: str) -> str:
    """What an operator must know of an argument: a tensor, unless the source says otherwise."""
    line = tree.position(function.start_byte)[0]
    own = next((each for each in definitions(tree) if each.def_line == line and each.kind == "function"), None)
    annotation = next((p.annotation for p in own.parameters if p.name == name), "") if own is not None else ""
    if annotation in _TYPES:
        return annotation
    text = tree.node_text(function)
    assigned = re.findall(rf"^[ \t]*{name} = (.*)$", text, re.MULTILINE)
    if assigned and all(_SIZE.search(value) for value in assigned):
        return "int"
    is_optional = re.search(rf"\b{name} is (?:not )?None\b", tree.node_text(branch))
    return f"{torch}.Tensor | None" if is_optional else f"{torch}.Tensor"


def _free_name(tree: SourceTree, wanted: str) -> str:
    name, number = wanted, 1
    while re.search(rf"\b{name}\b", tree.text):
        number += 1
        name = f"{wanted}_{number}"
    return name
