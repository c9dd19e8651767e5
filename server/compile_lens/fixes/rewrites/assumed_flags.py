"""Fix for flags that are computed from a tensor: compiled code assumes one value, and checks it while the graph runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Fix, FixKind, make
from compile_lens.fixes.rewrites.condition import tensor_of
from compile_lens.fixes.rewrites.editing import (
    call_at,
    has_comment,
    indent_of,
    newline,
    replace_node,
    target_of,
    torch_import,
    torch_name,
)
from compile_lens.syntax.tree import SourceTree, ancestors

_IS_FLAG = re.compile(r"\b(?:any|all|isnan|isinf|equal)\([^()]*\)$|[<>]|[=!]=")


def assume_flag(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``flag = mask.any().item()``, which chooses what no one graph can hold: False, or True, asserted in the graph."""
    call = call_at(tree, finding.place) if finding.kind in (Kind.GRAPH_BREAK, Kind.COMPILE_ERROR) else None
    tensor = tensor_of(tree, call) if call is not None else None
    if call is None or tensor is None or not _IS_FLAG.search(tree.node_text(tensor)):
        return
    statement = next((each for each in ancestors(call) if each.type == "expression_statement"), None)
    target = target_of(statement) if statement is not None else None
    if statement is None or target is None or target.type != "identifier" or call.parent != statement.named_children[0]:
        return
    if has_comment(statement) or "\n" in tree.node_text(statement):
        return
    torch, _ = torch_name(tree)
    name, value = tree.node_text(target), tree.node_text(tensor)
    indent = indent_of(tree, statement.start_byte)
    step = "\t" if indent.startswith("\t") else "    "
    for assumed in (False, True):
        held = value if assumed else f"~({value})"
        lines = (
            f"if {torch}.compiler.is_compiling():",
            f'{step}{torch}._assert_async({held}, "compiled for {name} = {assumed}")',
            f"{step}{name} = {assumed}",
            "else:",
            f"{step}{tree.node_text(statement)}",
        )
        yield make(
            "assume-flag",
            f"Compile for `{name} = {assumed}` only: where it is {not assumed}, the graph raises RuntimeError",
            replace_node(tree, statement, f"{newline(tree)}{indent}".join(lines)),
            torch_import(tree),
            kind=FixKind.LOSSY,
        )
