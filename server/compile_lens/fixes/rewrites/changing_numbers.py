"""Fixes for numbers that change from call to call: kept as tensors, wherever the file writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter
from msgspec.structs import replace

from compile_lens.analysis.finding import Finding, Kind, Place
from compile_lens.analysis.guard_facts import GuardFact
from compile_lens.fixes.fix import Edit, Fix, make
from compile_lens.fixes.rewrites.branch import select
from compile_lens.fixes.rewrites.calls import calls_of, function_of
from compile_lens.fixes.rewrites.condition import conditions_in
from compile_lens.fixes.rewrites.configure import set_option
from compile_lens.fixes.rewrites.editing import replace_node, torch_import, torch_name
from compile_lens.fixes.rewrites.evidence import changed
from compile_lens.syntax.definitions import Definition
from compile_lens.syntax.tree import Query, SourceTree, ancestors

_RECOMPILES = (Kind.RECOMPILE, Kind.RECOMPILE_LIMIT)
_WRITTEN = Query("[(assignment) (pair) (keyword_argument) (for_statement)] @written")
_NUMBERS = frozenset(
    {"integer", "float", "true", "false", "identifier", "attribute", "subscript", "binary_operator", "unary_operator", "call",
     "conditional_expression", "comparison_operator", "boolean_operator", "not_operator", "parenthesized_expression"}
)  # fmt: skip
_PLAIN = frozenset({"integer", "float", "true", "false", "unary_operator"})
_LAST_PART = re.compile(r"(\.\w+|\[[^\]]{1,300}\])$")
_STEPS = re.compile(r"\[(?P<key>[^\]]{1,300})\]|\.(?P<attribute>\w+)")
_NUMBER_TYPES = frozenset({"int", "float", "bool", "Tensor", "a tensor", ""})


def pass_tensor(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """A number that changes, given as a tensor at each call in this file; one in a dict or list, where that is written."""
    function = function_of(finding, tree) if finding.kind in _RECOMPILES else None
    if function is None:
        return
    torch, _ = torch_name(tree)
    calls = calls_of(tree, function)
    defaults = {p.name: p.default for p in function.parameters}
    numbers = {f.name: f.root for f in changed(finding) if f.root in defaults and _may_be_number(f)}
    # what is a tensor at some calls keeps its gradient
    tensors = {f.name for f in changed(finding) if "ensor" in f"{f.before} {f.after}"}
    for name, root in sorted(numbers.items()):
        made = f"{torch}.as_tensor" if name in tensors else f"{torch}.tensor"
        edits: list[Edit | None] = [torch_import(tree)]
        for call in calls:
            argument = call.arguments.get(root)
            arguments = call.node.child_by_field_name("arguments")
            if argument is None and arguments is not None and defaults[root] and name == root:
                end = arguments.end_byte - 1
                comma = ", " if arguments.named_child_count else ""
                added = f"{comma}{root}={made}({defaults[root]})"
                edits.append(Edit(tree.range_between(end, end), added))
                continue
            node = _leaf(tree, argument, name[len(root) :]) if argument is not None else None
            if node is None:
                break
            if not tree.node_text(node).startswith(f"{made}("):
                edits.append(replace_node(tree, node, f"{made}({tree.node_text(node)})"))
        else:
            yield from _with_branches(finding, tree, function, name, "pass-tensor", f"Pass `{name}` as a tensor", edits)


def tensor_number(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """An attribute, item, global or captured variable that holds a number which changes: a tensor wherever it is written."""
    if finding.kind not in _RECOMPILES:
        return
    function = function_of(finding, tree)
    parameters = {p.name for p in function.parameters} if function is not None else set()
    torch, _ = torch_name(tree)
    for reading in dict.fromkeys(fact.reading for fact in changed(finding) if _is_number(fact.before)):
        if reading in parameters:
            continue
        edits: list[Edit | None] = [torch_import(tree)]
        for node in _written(tree, reading):
            if node.parent is not None and node.parent.type == "for_statement":
                edits.append(replace_node(tree, node, f"map({torch}.tensor, {tree.node_text(node)})"))
            elif node.type in _NUMBERS and not _mentions(tree.node_text(node), reading):
                edits.append(replace_node(tree, node, f"{torch}.tensor({tree.node_text(node)})"))
        if len(edits) > 1:
            title = f"Keep `{reading}` as a tensor"
            yield from _with_branches(finding, tree, function, reading, "tensor-number", title, edits)


def unspecialized_int(finding: Finding, tree: SourceTree) -> Iterator[Fix]:
    """``torch._dynamo.config.allow_unspec_int_on_nn_module``, where an integer of a module changes."""
    if finding.kind in _RECOMPILES and any(
        f.root == "self" and f.before.lstrip("-").isdecimal() for f in changed(finding)
    ):
        option = "allow_unspec_int_on_nn_module"
        edit = set_option(tree, (option,), "True")
        if edit is not None:
            yield make("unspecialized-int", f"Set `torch._dynamo.config.{option} = True`", edit)


def _with_branches(
    finding: Finding,
    tree: SourceTree,
    function: Definition | None,
    reading: str,
    rule: str,
    title: str,
    edits: list[Edit | None],
) -> Iterator[Fix]:
    """The fix, and the same with ``torch.where`` in the branches on the number, which would break the graph."""
    yield make(rule, title, *edits)
    more = [*edits]
    for condition in conditions_in(tree, function, with_elif=True) if function is not None else ():
        if not _mentions(tree.node_text(condition), reading):
            continue
        place = tree.node_range(condition)
        at = Place(finding.place.file, place.line, place.column, place.end_line, place.end_column)
        chosen = next(
            (f for f in select(replace(finding, kind=Kind.GRAPH_BREAK, place=at), tree) if f.rule == "where"), None
        )
        if chosen is not None:
            more += chosen.edits
    if len(more) > len(edits):
        yield make(f"{rule}-where", f"{title}, and select with `torch.where`", *more)


def _written(tree: SourceTree, reading: str) -> Iterator[tree_sitter.Node]:
    """The expressions whose values a reading may have: what is assigned to it, or given to the constructor of its owner."""
    last = _last_part(reading)
    key = last.strip("[].'\"") if last else reading
    captures = _WRITTEN.everywhere(tree).get("written", [])
    for node in sorted(captures, key=lambda each: each.start_byte):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type == "pair" and last.startswith("["):
            left, right = node.child_by_field_name("key"), node.child_by_field_name("value")
            if (
                left is not None
                and right is not None
                and tree.node_text(left).strip("'\"") == key
                and right.type in _PLAIN
            ):
                yield right
        elif node.type == "keyword_argument" and last:
            left, right = node.child_by_field_name("name"), node.child_by_field_name("value")
            if left is not None and right is not None and tree.node_text(left) == key and right.type in _PLAIN:
                yield right
        elif left is None or right is None or node.type in ("pair", "keyword_argument"):
            continue
        elif node.type == "for_statement":
            if not last and tree.node_text(left) == reading:
                yield right
        elif _is_same(tree.node_text(left), reading, last) or (
            _is_field(node) and tree.node_text(left) == key and last
        ):
            yield right


def _is_field(assignment: tree_sitter.Node) -> bool:
    """Whether an assignment stands in the body of a class."""
    inner = next((a for a in ancestors(assignment) if a.type in ("function_definition", "class_definition")), None)
    return inner is not None and inner.type == "class_definition"


def _leaf(tree: SourceTree, node: tree_sitter.Node, path: str) -> tree_sitter.Node | None:
    """The number at ``path`` of a literal, or of the literal that a variable is assigned; ``node`` itself for no path."""
    for step in _STEPS.finditer(path):
        if node.type == "identifier":
            assigned = [
                right for right in _written(tree, tree.node_text(node)) if right.type in ("dictionary", "list", "tuple")
            ]
            if len(assigned) != 1:
                return None
            node = assigned[0]
        found = _item(tree, node, step["key"] or "")
        if found is None:
            return None
        node = found
    return node if node.type in _NUMBERS else None


def _item(tree: SourceTree, node: tree_sitter.Node, key: str) -> tree_sitter.Node | None:
    items = [child for child in node.named_children if child.type != "comment"]
    if node.type in ("list", "tuple") and key.isdecimal() and int(key) < len(items):
        return items[int(key)]
    for pair in items if node.type == "dictionary" else ():
        name, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if name is not None and value is not None and tree.node_text(name).strip("'\"") == key.strip("'\""):
            return value
    return None


def _last_part(reading: str) -> str:
    """``.scale`` of ``self.scale``, ``["scale"]`` of ``config["scale"]``; '' of a name."""
    match = _LAST_PART.search(reading)
    return match[1].replace("'", '"') if match else ""


def _is_same(left: str, reading: str, last: str) -> bool:
    return left.replace("'", '"').endswith(last) if last else left == reading


def _mentions(text: str, reading: str) -> bool:
    last = _last_part(reading)
    return last in text.replace("'", '"') if last else re.search(rf"(?<![\w.]){re.escape(reading)}\b", text) is not None


def _may_be_number(fact: GuardFact) -> bool:
    if fact.what == "type":
        return fact.before in _NUMBER_TYPES and fact.after in _NUMBER_TYPES
    return fact.what == "value" and _is_number(fact.before or "0")


def _is_number(value: str) -> bool:
    return value in ("True", "False") or value.lstrip("-").replace(".", "", 1).replace("e-", "", 1).isdecimal()
