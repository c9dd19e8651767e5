"""Fixes for what a function makes when it is first needed: made before the call, or anew at each call."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from compile_lens.analysis.finding import Finding, Kind
from compile_lens.fixes.fix import Edit, Fix, make
from compile_lens.fixes.rewrites.calls import CallInFile, calls_of, function_of
from compile_lens.fixes.rewrites.editing import (
    before,
    has_comment,
    indent_of,
    newline,
    remove_statement,
    replace_node,
    statement_of,
    target_of,
    text_with,
)
from compile_lens.fixes.rewrites.evidence import changed
from compile_lens.fixes.rewrites.regions import region_of, with_option
from compile_lens.syntax.definitions import Definition
from compile_lens.syntax.tree import Query, SourceTree

_IFS = Query("(if_statement) @if")
_ATOMS = frozenset({"identifier", "call", "attribute", "subscript", "integer", "float", "none"})


def make_before(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``if self.cache is None: self.cache = …``, made by the callers before each call, or at each call."""
    function = function_of(finding, tree) if finding.kind in (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT) else None
    if function is None:
        return
    readings = {fact.reading for fact in changed(finding)} | {
        f"self.{fact.what.removeprefix('attribute ')}" for fact in changed(finding) if fact.root == "self"
    }
    for statement in _ifs(tree, function):
        condition, body = statement.child_by_field_name("condition"), statement.child_by_field_name("consequence")
        if condition is None or body is None or statement.child_by_field_name("alternative") is not None:
            continue
        targets = _assigned(tree, body)
        names = {target.partition("[")[0] for target in targets}
        about = names | {tree.node_text(condition)}
        if not targets or has_comment(statement) or not any(_is_about(reading, about) for reading in readings):
            continue
        region = region_of(finding, tree)
        dynamic = with_option(tree, region, "dynamic", "True") if region is not None else None
        for more, words in ((None, ""), (dynamic, ", and compile with `dynamic=True`")):
            if words and more is None:
                continue
            outside = _outside(tree, function, statement, targets)
            what = ", ".join(f"`{name}`" for name in sorted(names))
            if outside is not None:
                yield make("make-before", f"Make {what} before the call{words}", *outside, more)
            if all(target.startswith("self.") for target in targets):
                text = _dedented(tree, statement, body)
                edit = replace_node(tree, statement, text)
                yield make("make-each-time", f"Compute {what} at each call{words}", edit, more)


def _ifs(tree: SourceTree, function: Definition) -> list[tree_sitter.Node]:
    found = _IFS.everywhere(tree).get("if", [])
    return [n for n in found if function.def_line < tree.position(n.start_byte)[0] <= function.last_line]


def _assigned(tree: SourceTree, body: tree_sitter.Node) -> list[str]:
    """What a block assigns, if it does nothing else: attributes of ``self``, or names."""
    targets = []
    for child in body.named_children:
        left = target_of(child)
        if left is None or left.type not in ("attribute", "identifier", "subscript"):
            return []
        targets.append(tree.node_text(left))
    return targets


def _is_about(reading: str, about: set[str]) -> bool:
    return any(re.search(rf"(?<![\w.]){re.escape(reading)}\b", text) for text in about)


def _outside(
    tree: SourceTree, function: Definition, statement: tree_sitter.Node, targets: list[str]
) -> list[Edit | None] | None:
    """The ``if`` before each call, with what the call passes in the place of the parameters."""
    parameters = [p.name for p in function.parameters]
    own = [target for target in targets if not target.startswith("self.")]
    condition = statement.child_by_field_name("condition")
    # a parameter is made twice unless it is made only where it is missing
    if own and (own[0] not in parameters or condition is None or tree.node_text(condition) != f"{own[0]} is None"):
        return None
    edits: list[Edit | None] = []
    calls = calls_of(tree, function)
    for call in calls:
        place = statement_of(call.node)
        words = _words(tree, call, function)
        if words is None:
            return None
        arguments = {target: call.arguments.get(target) for target in own}
        if place is None or any(node is None or node.type != "identifier" for node in arguments.values()):
            edit = _instead(tree, call, statement, own, words)
            if edit is None:
                return None
            edits.append(edit)
            continue
        if own and all(node is not None and not _may_be_none(tree, node) for node in arguments.values()):
            continue
        text = _substituted(tree, statement, words)
        lines = [line.removeprefix(indent_of(tree, statement.start_byte)) for line in text.splitlines()]
        edits.append(before(tree, place, *lines))
    if not edits or len(own) > 1 or any(edit is None for edit in edits):
        return None
    if not own:
        edits.append(remove_statement(tree, statement))
    return edits


def _may_be_none(tree: SourceTree, name: tree_sitter.Node) -> bool:
    """Whether the file assigns None to a variable."""
    return re.search(rf"\b{tree.node_text(name)}(?:: [^=\n]+)? = None\b", tree.text) is not None


def _instead(
    tree: SourceTree, call: CallInFile, statement: tree_sitter.Node, own: list[str], words: dict[str, str]
) -> Edit | None:
    """The value in the place of an argument that is ``None``, or left out."""
    condition, body = statement.child_by_field_name("condition"), statement.child_by_field_name("consequence")
    if len(own) != 1 or condition is None or body is None or body.named_child_count != 1:
        return None
    if tree.node_text(condition) != f"{own[0]} is None":
        return None
    value = body.named_children[0].named_children[0].child_by_field_name("right")
    argument = call.arguments.get(own[0])
    arguments = call.node.child_by_field_name("arguments")
    if value is None or arguments is None:
        return None
    made = _substituted(tree, value, words)
    if argument is None:
        end = arguments.end_byte - 1
        return Edit(tree.range_between(end, end), f"{', ' if arguments.named_child_count else ''}{own[0]}={made}")
    if argument.type == "none":
        return replace_node(tree, argument, made)
    text = tree.node_text(argument)
    if argument.type == "identifier" and statement_of(call.node) is None:
        # there is no line before a call in a comprehension
        return replace_node(tree, argument, f"{made} if {text} is None else {text}")
    return Edit(tree.node_range(argument), text)


def _words(tree: SourceTree, call: CallInFile, function: Definition) -> dict[str, str] | None:
    """What each parameter is at a call; None where an argument cannot be repeated."""
    words = {}
    for parameter in function.parameters:
        argument = call.arguments.get(parameter.name)
        text = tree.node_text(argument) if argument is not None else parameter.default
        if argument is not None and argument.type not in _ATOMS:
            text = f"({text})"
        words[parameter.name] = text
    if "." in function.qualified_name:
        if not re.fullmatch(r"[\w.]+", call.receiver):
            return None
        words["self"] = call.receiver
    return words


def _substituted(tree: SourceTree, node: tree_sitter.Node, words: dict[str, str]) -> str:
    names: list[tuple[int, int, str]] = []
    pending = [node]
    while pending:
        each = pending.pop()
        if each.type == "identifier":
            parent = each.parent
            is_attribute = parent is not None and parent.type == "attribute" and parent.named_children[-1] == each
            is_keyword = parent is not None and parent.type == "keyword_argument" and parent.named_children[0] == each
            name = tree.node_text(each)
            if not is_attribute and not is_keyword and words.get(name):
                names.append((each.start_byte, each.end_byte, words[name]))
        pending += each.named_children
    return text_with(tree, node, names)


def _dedented(tree: SourceTree, statement: tree_sitter.Node, body: tree_sitter.Node) -> str:
    indent = indent_of(tree, statement.start_byte)
    lines = [tree.node_text(child) for child in body.named_children]
    return f"{newline(tree)}{indent}".join(lines)
