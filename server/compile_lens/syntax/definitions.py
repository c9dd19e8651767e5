"""Finds functions and classes of a file: their first lines, qualified names and parameters."""

from __future__ import annotations

import tree_sitter
from msgspec import Struct

from compile_lens.syntax.tree import Query, Range, SourceTree, ancestors, kept_with_tree, parse

_DEFINITIONS = Query("[(function_definition) (class_definition) (lambda)] @definition")


class Parameter(Struct, frozen=True):
    """A parameter. ``place`` covers its name only; ``annotation`` and ``default`` are source text or ''."""

    name: str
    place: Range
    annotation: str = ""
    default: str = ""


class Definition(Struct, frozen=True):
    """A function, class or lambda.

    ``kind`` is ``function``, ``class`` or ``lambda``. ``qualified_name`` is Python's ``__qualname__`` (``Net.forward``,
    ``outer.<locals>.inner``). ``first_line`` is ``co_firstlineno``: the line of the first decorator, or of ``def`` or
    ``class``, which is ``def_line``. ``name_place`` is the name, or the word ``lambda``. ``decorators`` are source
    texts without the ``@``.
    """

    name: str
    qualified_name: str
    kind: str
    name_place: Range
    first_line: int
    def_line: int
    last_line: int
    parameters: tuple[Parameter, ...] = ()
    decorators: tuple[str, ...] = ()


@kept_with_tree
def definitions(tree: SourceTree) -> tuple[Definition, ...]:
    """All functions, classes and lambdas in order, an outer one before its inner ones."""
    captures = _DEFINITIONS.captures_in_pieces(tree)
    nodes = sorted(captures.get("definition", []), key=lambda node: (node.start_byte, -node.end_byte))
    return tuple(_definition(tree, node) for node in nodes)


def definition_at(tree: SourceTree, line: int) -> Definition | None:
    """The innermost function or class (not lambda) that contains a line; decorators count."""
    innermost = _innermost(tree)
    return innermost[line] if 0 <= line < len(innermost) else None


def parse_with_definitions(text: str) -> SourceTree:
    """As ``parse``, for a thread: whoever asks for definitions of the tree later gets them at once, however long the text is."""
    tree = parse(text)
    _innermost(tree)
    return tree


# a file with thousands of findings is asked about each of their lines
@kept_with_tree
def _innermost(tree: SourceTree) -> list[Definition | None]:
    found: list[Definition | None] = [None] * (len(tree.lines) + 2)
    for definition in definitions(tree):
        if definition.kind != "lambda":
            last = min(definition.last_line, len(found) - 1)
            found[definition.first_line : last + 1] = [definition] * (last + 1 - definition.first_line)
    return found


def parameter_range(tree: SourceTree, def_line: int, name: str) -> Range | None:
    """The place of the parameter ``name`` of the function or lambda that begins at ``def_line``.

    ``def_line`` may be the line of the ``def`` or the ``co_firstlineno`` of a decorated function.
    """
    for definition in definitions(tree):
        if def_line in (definition.first_line, definition.def_line):
            for parameter in definition.parameters:
                if parameter.name == name:
                    return parameter.place
    return None


def qualified_name(tree: SourceTree, node: tree_sitter.Node) -> str:
    """``__qualname__`` of a ``function_definition``, ``class_definition`` or ``lambda`` node."""
    parts: list[str] = []
    for ancestor in ancestors(node):
        if ancestor.type in ("function_definition", "lambda"):
            if parts:
                parts.append("<locals>")
            parts.append(_name(tree, ancestor))
        elif ancestor.type == "class_definition":
            parts.append(_name(tree, ancestor))
    return ".".join(reversed(parts))


def whole_definition(node: tree_sitter.Node) -> tree_sitter.Node:
    """The definition with its decorators, for a definition's node."""
    parent = node.parent
    return parent if parent is not None and parent.type == "decorated_definition" else node


def decorator_nodes(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    """The ``decorator`` nodes of a definition's node, first to last."""
    whole = whole_definition(node)
    return [] if whole == node else [child for child in whole.named_children if child.type == "decorator"]


def decorator_expression(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The expression of a ``decorator`` node, or None if the code is broken."""
    return next((child for child in node.named_children if child.type != "comment"), None)


def _definition(tree: SourceTree, node: tree_sitter.Node) -> Definition:
    name_node = node.child_by_field_name("name")
    if name_node is None:
        name_place = tree.range_between(node.start_byte, min(node.start_byte + len("lambda"), node.end_byte))
    else:
        name_place = tree.node_range(name_node)
    def_line = tree.position(node.start_byte)[0]
    decorators = decorator_nodes(node)
    first_line = tree.position(decorators[0].start_byte)[0] if decorators else def_line
    expressions = (decorator_expression(decorator) for decorator in decorators)
    return Definition(
        name=_name(tree, node),
        qualified_name=qualified_name(tree, node),
        kind={"function_definition": "function", "class_definition": "class"}.get(node.type, "lambda"),
        name_place=name_place,
        first_line=first_line,
        def_line=def_line,
        last_line=tree.position(node.end_byte)[0],
        parameters=_parameters(tree, node.child_by_field_name("parameters")),
        decorators=tuple(tree.node_text(expression) for expression in expressions if expression is not None),
    )


def _name(tree: SourceTree, node: tree_sitter.Node) -> str:
    if node.type == "lambda":
        return "<lambda>"
    name = node.child_by_field_name("name")
    return tree.node_text(name) if name is not None else ""


def _parameters(tree: SourceTree, node: tree_sitter.Node | None) -> tuple[Parameter, ...]:
    if node is None:
        return ()
    found: list[Parameter] = []
    for child in node.named_children:
        name = child if child.type == "identifier" else child.child_by_field_name("name")
        if name is None and child.named_children:
            name = child.named_children[0]
        while name is not None and name.type in ("list_splat_pattern", "dictionary_splat_pattern"):
            name = name.named_children[0] if name.named_children else None
        if name is None or name.type != "identifier":
            continue
        annotation, default = child.child_by_field_name("type"), child.child_by_field_name("value")
        found.append(
            Parameter(
                name=tree.node_text(name),
                place=tree.node_range(name),
                annotation=tree.node_text(annotation) if annotation is not None else "",
                default=tree.node_text(default) if default is not None else "",
            )
        )
    return tuple(found)
