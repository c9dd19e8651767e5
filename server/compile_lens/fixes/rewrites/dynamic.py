"""Fixes for sizes that change: mark dimensions dynamic at the calls, or compile everything with ``dynamic=True``."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.analysis.guard_facts import GuardFact
from compile_lens.fixes.fix import Edit, Fix, make
from compile_lens.fixes.rewrites.calls import CallInFile, calls_of, function_of
from compile_lens.fixes.rewrites.editing import before, replace_node, statement_of, torch_import, torch_name
from compile_lens.fixes.rewrites.evidence import changed
from compile_lens.fixes.rewrites.regions import region_of, with_option
from compile_lens.syntax.tree import SourceTree

_ROOT = re.compile(r"[A-Za-z_]\w*")
_NAME = re.compile(r"[\w.]+")
_RECOMPILES = (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT)


def dynamic_true(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``torch.compile(…, dynamic=True)`` for the region of the function, where a size or a number changed."""
    if finding.kind not in _RECOMPILES or not any(
        fact.what == "size" or _is_number(fact.before) for fact in changed(finding)
    ):
        return
    region = region_of(finding, tree)
    edit = with_option(tree, region, "dynamic", "True") if region is not None else None
    if edit is not None:
        yield make("dynamic-true", "Compile with `dynamic=True`", edit)


def mark_dynamic(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``mark_dynamic`` and ``maybe_mark_dynamic`` before each call in this file, for the dimensions of a parameter that changed."""
    function = function_of(finding, tree)
    if finding.kind not in _RECOMPILES or function is None:
        return
    facts = [fact for fact in changed(finding) if fact.what == "size" and fact.dimension is not None]
    roots = {p.name for p in function.parameters} | {"self"}
    dimensions = sorted({(fact.name, fact.dimension) for fact in facts if fact.root in roots})
    calls = calls_of(tree, function)
    if not dimensions or not calls:
        return
    torch, _ = torch_name(tree)
    for name in ("mark_dynamic", "maybe_mark_dynamic", *(["decorators.mark_unbacked"] if _is_one(facts) else [])):
        edits: list[Edit | None] = [torch_import(tree)]
        for call in calls:
            marks = [(_ROOT.match(p), f"{torch}._dynamo.{name}", p, d) for p, d in dimensions]
            edits += _marked(
                tree, call, [(root[0], f"{mark}({{}}{p[root.end() :]}, {d})") for root, mark, p, d in marks if root]
            )
        if all(edit is not None for edit in edits[1:]) and len(edits) > 1:
            words = ", ".join(f"{d} of `{p}`" for p, d in dimensions)
            short = name.rpartition(".")[2]
            yield make(short.replace("_", "-"), f"Mark dimension {words} dynamic before the call (`{short}`)", *edits)


def _is_one(facts: list[GuardFact]) -> bool:
    """Whether a size is 0 or 1, which torch specializes on where a dimension is only dynamic."""
    return any({fact.before, fact.after} & {"0", "1"} for fact in facts)


def _marked(tree: SourceTree, call: CallInFile, marks: list[tuple[str, str]]) -> list[Edit | None]:
    """The lines before one call; an argument that is no name gets the parameter's, in a line before them."""
    lines: list[str] = []
    edits: list[Edit | None] = []
    statement = statement_of(call.node)
    if statement is None:
        return [None]
    for parameter in dict.fromkeys(parameter for parameter, _ in marks):
        argument = call.arguments.get(parameter)
        if parameter == "self" and argument is None and _NAME.fullmatch(call.receiver):
            lines += [mark.replace("{}", call.receiver, 1) for owner, mark in marks if owner == parameter]
            continue
        if argument is None:
            return [None]
        name = tree.node_text(argument)
        if argument.type != "identifier":
            # it is evaluated earlier than before: the other arguments must not notice
            others = [node for key, node in call.arguments.items() if key != parameter]
            if not all(_is_plain(node) for node in others) or _is_used(tree, statement, parameter):
                return [None]
            lines.append(f"{parameter} = {' '.join(name.split())}")
            edits.append(replace_node(tree, argument, parameter))
            name = parameter
        lines += [mark.replace("{}", name, 1) for owner, mark in marks if owner == parameter]
    return [before(tree, statement, *lines), *edits]


def _is_plain(node: tree_sitter.Node) -> bool:
    """Whether it makes no difference when an expression is evaluated: no assignment in it."""
    return node.type != "named_expression" and all(_is_plain(child) for child in node.named_children)


def _is_used(tree: SourceTree, statement: tree_sitter.Node, name: str) -> bool:
    """Whether a name means something already where the statement stands."""
    block = statement
    while block.parent is not None and block.type not in ("function_definition", "module"):
        block = block.parent
    return _assigns(tree, block, name)


def _assigns(tree: SourceTree, node: tree_sitter.Node, name: str) -> bool:
    if node.type in ("assignment", "for_statement"):
        left = node.child_by_field_name("left")
        if left is not None and name in tree.node_text(left).replace(",", " ").split():
            return True
    inner = [
        child
        for child in node.named_children
        if child.type not in ("function_definition", "class_definition", "lambda")
    ]
    return any(_assigns(tree, child, name) for child in inner)


def _is_number(value: str) -> bool:
    return value.lstrip("-").replace(".", "", 1).isdecimal()
