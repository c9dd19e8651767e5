"""Finds the places where a compilation starts: ``@torch.compile``, ``torch.compile(model)``, ``model.compile()``."""

from __future__ import annotations

from enum import Enum

import tree_sitter
from msgspec import Struct

from compile_lens.syntax.callees import Callee, CalleeNames, read_names
from compile_lens.syntax.definitions import decorator_expression, decorator_nodes, qualified_name, whole_definition
from compile_lens.syntax.tree import Query, SourceTree, ancestors, kept_with_tree, parse

_CANDIDATES = Query("(call) @call (function_definition) @definition (class_definition) @definition")

# options of torch.compile (torch/__init__.py); nn.Module.compile passes all of its own on (nn/modules/module.py)
_COMPILE_OPTIONS = frozenset({"fullgraph", "dynamic", "backend", "mode", "options", "disable", "recompile_limit"})

# methods of a module that return the module: `Net().to("cuda").eval()` is still a Net
_RETURN_SELF = frozenset(
    {"to", "eval", "train", "cuda", "cpu", "half", "float", "double", "bfloat16", "requires_grad_", "to_empty", "apply"}
)
_LONGEST_NAME = 60
# in the order of the file; more are not looked at, and the status says so
MOST_REGIONS = 2_000


class RegionKind(str, Enum):
    """The form of a compile region."""

    DECORATOR = "decorator"
    CALL = "call"
    METHOD = "method"
    EXPORT = "export"


class Region(Struct, frozen=True):
    """A place where a compilation starts: the decorator with its ``@``, or the call.

    ``name`` is the qualified name of a decorated function or class, else the compiled expression without the arguments
    of a constructor (``torch.compile(Net())`` → ``Net``). ``target`` is the source text of what is compiled.
    ``target_line`` to ``target_end_line`` is the function, class or lambda in this file that is compiled, from its
    first decorator on (the interpreter's ``co_firstlineno``), or None where the source does not tell.
    """

    name: str
    kind: RegionKind
    line: int
    column: int
    end_line: int
    end_column: int
    target_line: int | None
    target_end_line: int | None
    target: str
    fullgraph: bool


def find_regions(source: str | SourceTree) -> tuple[Region, ...]:
    """The compile regions of a file, in order, at most ``MOST_REGIONS``. Never raises on broken code."""
    return _regions(parse(source) if isinstance(source, str) else source)


# several features ask for those of one text
@kept_with_tree
def _regions(tree: SourceTree) -> tuple[Region, ...]:
    names = read_names(tree)
    if not names.imports.has_torch:
        return ()
    captures = _CANDIDATES.everywhere(tree)
    found: list[Region] = []
    for node in captures.get("definition", []):
        found.extend(_decorated(tree, names, node))
    for node in captures.get("call", []):
        region = _called(tree, names, node)
        if region is not None:
            found.append(region)
    found.sort(key=lambda region: (region.line, region.column, -region.end_line, -region.end_column))
    return tuple(found[:MOST_REGIONS])


def _decorated(tree: SourceTree, names: CalleeNames, node: tree_sitter.Node) -> list[Region]:
    regions: list[Region] = []
    for decorator in decorator_nodes(node):
        expression = decorator_expression(decorator)
        callee = names.callee(expression) if expression is not None else None
        if expression is None or callee is None or callee.subject is not None:
            continue
        name = qualified_name(tree, node)
        regions.append(_region(tree, callee, decorator, expression, RegionKind.DECORATOR, name, name, node))
    return regions


def _called(tree: SourceTree, names: CalleeNames, node: tree_sitter.Node) -> Region | None:
    function = node.child_by_field_name("function")
    if function is None:
        return None
    callee = names.callee(node)
    if callee is not None and callee.subject is not None:
        kind = RegionKind.EXPORT if callee.is_export else RegionKind.CALL
        return _of_expression(tree, names, callee, node, kind, callee.subject)
    subject = _module_compiled_in_place(tree, names, node, function)
    if subject is None:
        return None
    return _of_expression(tree, names, Callee(names.fullgraph(node)), node, RegionKind.METHOD, subject)


def _of_expression(
    tree: SourceTree,
    names: CalleeNames,
    callee: Callee,
    call: tree_sitter.Node,
    kind: RegionKind,
    subject: tree_sitter.Node,
) -> Region:
    text = " ".join(tree.node_text(subject).split())
    return _region(tree, callee, call, call, kind, _short_name(tree, subject), text, names.definition_of(subject))


def _region(
    tree: SourceTree,
    callee: Callee,
    start: tree_sitter.Node,
    end: tree_sitter.Node,
    kind: RegionKind,
    name: str,
    target: str,
    definition: tree_sitter.Node | None,
) -> Region:
    place = tree.range_between(start.start_byte, end.end_byte)
    lines = tree.node_range(whole_definition(definition)) if definition is not None else None
    return Region(
        name=name,
        kind=kind,
        line=place.line,
        column=place.column,
        end_line=place.end_line,
        end_column=place.end_column,
        target_line=lines.line if lines is not None else None,
        target_end_line=lines.end_line if lines is not None else None,
        target=target,
        fullgraph=callee.fullgraph,
    )


def _module_compiled_in_place(
    tree: SourceTree, names: CalleeNames, call: tree_sitter.Node, function: tree_sitter.Node
) -> tree_sitter.Node | None:
    """The receiver of ``receiver.compile(…)`` if it may be an ``nn.Module``; None for ``re.compile`` and similar calls."""
    method = function.child_by_field_name("attribute") if function.type == "attribute" else None
    if method is None or tree.node_text(method) != "compile":
        return None
    receiver = function.child_by_field_name("object")
    arguments = call.child_by_field_name("arguments")
    if receiver is None or arguments is None or not _takes_compile_options(tree, arguments):
        return None
    if tree.node_text(receiver) == "self" and _class_defines_compile(tree, call):
        return None
    return receiver if names.may_be_a_module_object(receiver) else None


def _takes_compile_options(tree: SourceTree, arguments: tree_sitter.Node) -> bool:
    for argument in arguments.named_children:
        if argument.type in ("comment", "dictionary_splat"):
            continue
        name = argument.child_by_field_name("name") if argument.type == "keyword_argument" else None
        if name is None or tree.node_text(name) not in _COMPILE_OPTIONS:
            return False
    return True


def _class_defines_compile(tree: SourceTree, node: tree_sitter.Node) -> bool:
    class_node = next((ancestor for ancestor in ancestors(node) if ancestor.type == "class_definition"), None)
    body = class_node.child_by_field_name("body") if class_node is not None else None
    if body is None:
        return False
    members = (member.child_by_field_name("definition") or member for member in body.named_children)
    names = (member.child_by_field_name("name") for member in members if member.type == "function_definition")
    return any(name is not None and tree.node_text(name) == "compile" for name in names)


def _short_name(tree: SourceTree, subject: tree_sitter.Node) -> str:
    node = subject
    while node.type in ("call", "parenthesized_expression"):
        inner = node.child_by_field_name("function")
        if inner is None:
            inner = next((child for child in node.named_children if child.type != "comment"), None)
        elif inner.type == "attribute":
            method = inner.child_by_field_name("attribute")
            if method is not None and tree.node_text(method) in _RETURN_SELF:
                inner = inner.child_by_field_name("object")
        if inner is None:
            break
        node = inner
    if node.type == "lambda":
        return "<lambda>"
    text = "".join(tree.node_text(node).split()) if node.type == "attribute" else " ".join(tree.node_text(node).split())
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"
