"""Fixes for checks of a tensor's data that raise or tell: an operator of the file makes them while the graph runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, FixKind, make
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
# what a statement calls that tells somebody something
_TELLS = re.compile(r"\A(?:(?P<owner>\w+)\.(?:debug|info|warning|warn|error|critical|exception|log)|print)\Z")
_TELLERS = ("warnings", "log")


def check_in_graph(finding: Finding, tree: SourceTree, number: str = "") -> Iterator[Fix]:
    """``if (x < 0).any(): raise ValueError(…)`` in a custom operator that is called each time, in its place (torch 2.10).

    The operator makes a number of the tensor ``number``.
    """
    if finding.kind not in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR):
        return
    branch = branch_of(tree, finding.place, ("if_statement",))
    if branch is None or only_raise(branch) is None or has_comment(branch):
        return
    name, edits = _operator(tree, branch, "check", number)
    if name:
        title = f"Check it in the graph, with an operator that raises the same exception (`{name}`)"
        yield make("check-in-graph", title, *edits)


def tell_in_graph(finding: Finding, tree: SourceTree, number: str = "") -> Iterator[Fix]:
    """``if x.max() > 9: print(…)`` in such an operator; or told in eager alone."""
    if finding.kind not in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR):
        return
    branch = branch_of(tree, finding.place, ("if_statement",))
    condition = branch.child_by_field_name("condition") if branch is not None else None
    if branch is None or condition is None or not _only_tells(tree, branch) or has_comment(branch):
        return
    name, edits = _operator(tree, branch, "tell", number)
    if name:
        yield make("tell-in-graph", f"Tell it in the graph, with an operator that has the message (`{name}`)", *edits)
    torch, _ = torch_name(tree)
    yield make(
        "log-in-eager",
        "Ask and tell it in eager only (`torch.compiler.is_compiling`)",
        replace_node(tree, condition, f"not {torch}.compiler.is_compiling() and ({tree.node_text(condition)})"),
        torch_import(tree),
        kind=FixKind.LOSSY,
    )


def _only_tells(tree: SourceTree, branch: tree_sitter.Node) -> bool:
    """Whether all that an ``if`` does is to print, to warn or to log."""
    body = branch.child_by_field_name("consequence")
    if body is None or any(child.type.endswith("_clause") for child in branch.named_children):
        return False
    calls = [each.named_children[0] if each.type == "expression_statement" else each for each in body.named_children]
    functions = [each.child_by_field_name("function") if each.type == "call" else None for each in calls]
    return bool(functions) and all(each is not None and _tells(tree.node_text(each)) for each in functions)


def _tells(function: str) -> bool:
    """Whether a function tells somebody something: ``print``, ``warnings.warn``, ``logger.info``."""
    told = _TELLS.match(function)
    return told is not None and (told["owner"] is None or any(name in told["owner"].lower() for name in _TELLERS))


def _operator(
    tree: SourceTree, branch: tree_sitter.Node, verb: str, number: str
) -> tuple[str, tuple[Edit | None, ...]]:
    """The name of an operator that does what ``branch`` does, and the edits that make and call it; no name where there can be none."""
    function = function_around(branch)
    bound = bound_names(tree, function) if function is not None else ()
    names = [name for name in _read(tree, branch) if name in bound]
    if function is None or not names or len(names) > _MOST or _OWN & set(names):
        return "", ()
    torch, _ = torch_name(tree)
    name = _free_name(tree, f"{verb}_{names[0]}")
    typed = ", ".join(f"{each}: {_type(tree, function, branch, each, torch)}" for each in names)
    added = above_top_level(
        tree,
        branch,
        f'@{torch}.library.custom_op("checks::{name}", mutates_args=())',
        f"def {name}({typed}) -> None:",
        *([f"    {number} = {number}.item()"] if number in names else []),
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
    if added is None:
        return "", ()
    return name, (added, replace_node(tree, branch, f"{name}({', '.join(names)})"), torch_import(tree))


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
