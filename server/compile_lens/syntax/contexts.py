"""Finds what a place in a Python file names: a log, an environment variable, an option, an argument, a dotted name."""

from __future__ import annotations

from enum import Enum

import tree_sitter
from msgspec import Struct

from compile_lens.syntax.imports import Imports
from compile_lens.syntax.settings_text import items, settings_of_line
from compile_lens.syntax.tree import Range, SourceTree, ancestors

COMPILE = frozenset({"torch.compile", "torch.compiler.compile"})
OPTIMIZE = frozenset({"torch._dynamo.optimize", "torch._dynamo.optimize_assert"})
SET_LOGS = frozenset({"torch._logging.set_logs", "torch.compiler.set_logs"})
CONFIG_MODULES = frozenset(
    {
        "torch._inductor.config",
        "torch._dynamo.config",
        "torch._functorch.config",
        "torch.compiler.config",
        "torch.fx.experimental._config",
    }
)
LOGS_VARIABLE = "TORCH_LOGS"


class MentionKind(str, Enum):
    """The kind of thing that a mention names."""

    LOG = "log"
    VARIABLE = "variable"
    VALUE = "value"  # the value of an environment variable, `owner`
    OPTION = "option"
    ARGUMENT = "argument"
    MODE = "mode"
    BACKEND = "backend"
    NAME = "name"  # a dotted name that an import leads to
    METHOD = "method"  # a method of something unknown, maybe of a tensor


class Mention(Struct, frozen=True):
    """A name and its place. ``owner``: the variable whose value it is. ``value``: the node assigned to it, if any."""

    sort: MentionKind
    name: str
    range: Range
    owner: str = ""
    value: tree_sitter.Node | None = None


def mention_at(tree: SourceTree, imports: Imports, line: int, column: int) -> Mention | None:
    """What a place names, or None. Line and column count from 1."""
    offset = tree.offset(line, column)
    # a cursor directly after a word counts
    text_node = _word_node(tree, offset) or (_word_node(tree, offset - 1) if column > 1 else None)
    if text_node is None:
        return None
    if text_node.type == "identifier":
        return identifier_mention(tree, imports, text_node)
    return next(
        (found for found in string_mentions(tree, imports, text_node) if _holds(found.range, line, column)), None
    )


def _word_node(tree: SourceTree, offset: int) -> tree_sitter.Node | None:
    node = tree.root.descendant_for_byte_range(offset, offset)
    return (
        next((found for found in ancestors(node) if found.type in ("string", "identifier")), None)
        if node is not None
        else None
    )


def identifier_mention(tree: SourceTree, imports: Imports, node: tree_sitter.Node) -> Mention | None:
    """What a name in code refers to."""
    parent = node.parent
    if parent is None:
        return None
    if parent.type == "keyword_argument" and parent.child_by_field_name("name") == node:
        return _keyword(tree, imports, node, parent)
    if parent.type == "attribute" and parent.child_by_field_name("attribute") == node:
        dotted = dotted_name(tree, parent)
        full = imports.resolve(dotted) if dotted else ""
        if full.startswith(("torch", "triton")):
            return Mention(MentionKind.NAME, full, tree.node_range(node), value=_assigned(parent))
        called = parent.parent is not None and parent.parent.type == "call"
        if called and imports.has_torch and not full:
            return Mention(MentionKind.METHOD, tree.node_text(node), tree.node_range(node))
        return None
    full = imports.resolve(tree.node_text(node))
    if full.startswith(("torch.", "triton")) or full == "torch":
        return Mention(MentionKind.NAME, full, tree.node_range(node), value=_assigned(node))
    return None


def _keyword(tree: SourceTree, imports: Imports, node: tree_sitter.Node, argument: tree_sitter.Node) -> Mention | None:
    name, place, value = tree.node_text(node), tree.node_range(node), argument.child_by_field_name("value")
    call = enclosing_call(argument)
    callee = callee_name(tree, imports, call) if call is not None else ""
    if callee in COMPILE:
        return Mention(MentionKind.ARGUMENT, name, place, value=value)
    if callee in SET_LOGS:
        return Mention(MentionKind.LOG, name, place, value=value)
    module = callee.removesuffix(".patch")
    if callee.endswith(".patch") and module in CONFIG_MODULES:
        return Mention(MentionKind.OPTION, f"{module}.{name}", place, value=value)
    return Mention(MentionKind.VARIABLE, name, place, value=value) if name.isupper() else None


def string_mentions(tree: SourceTree, imports: Imports, string: tree_sitter.Node) -> list[Mention]:
    """Everything that a string names, in order: one name, the items of a list of logs, or settings in a command."""
    content = content_of(tree, string)
    if content is None:
        return []
    text, start = content
    whole = tree.range_between(start, start + len(text.encode()))
    variable = variable_set_by(tree, string)
    if variable:
        return _value_mentions(tree, variable, text, start, whole)
    argument = _argument(tree, imports, string)
    if argument is not None:
        return [Mention(argument.sort, argument.name, whole, value=argument.value)]
    if "\n" not in text and "=" in text:
        found: list[Mention] = []
        for setting in settings_of_line(text):
            at = start + len(text[: setting.value_column].encode())
            name_at = start + len(text[: setting.name_column].encode())
            found.append(
                Mention(MentionKind.VARIABLE, setting.name, tree.range_between(name_at, name_at + len(setting.name)))
            )
            place = tree.range_between(at, at + len(setting.value.encode()))
            found += _value_mentions(tree, setting.name, setting.value, at, place)
        return found
    if "_" in text and text.isupper() and text.replace("_", "").isalnum():
        return [Mention(MentionKind.VARIABLE, text, whole)]
    return []


def _value_mentions(tree: SourceTree, variable: str, text: str, start: int, whole: Range) -> list[Mention]:
    if variable != LOGS_VARIABLE:
        return [Mention(MentionKind.VALUE, text, whole, variable)]
    return [
        Mention(MentionKind.LOG, name, tree.range_between(at, at + len(name.encode())), variable)
        for name, column in items(text)
        for at in [start + len(text[:column].encode())]
    ]


def content_of(tree: SourceTree, string: tree_sitter.Node) -> tuple[str, int] | None:
    """The text of a plain string and the byte at which it begins; None for one with escapes or interpolation."""
    parts = [child for child in string.children if child.type not in ("string_start", "string_end")]
    if not parts:
        first = string.children[0] if string.children else string
        return "", first.end_byte
    if len(parts) > 1 or parts[0].type != "string_content" or parts[0].named_child_count:
        return None
    return tree.node_text(parts[0]), parts[0].start_byte


def variable_set_by(tree: SourceTree, string: tree_sitter.Node) -> str:
    """The environment variable whose value a string is: in an assignment, a dict, a keyword, ``setdefault``, ``setenv``; or ''."""
    parent = string.parent
    if parent is None:
        return ""
    if parent.type == "assignment" and parent.child_by_field_name("right") == string:
        left = parent.child_by_field_name("left")
        if left is not None and left.type == "subscript":
            key = left.child_by_field_name("subscript")
            owner = left.child_by_field_name("value")
            named = owner is not None and tree.node_text(owner).rpartition(".")[2] in ("environ", "env", "environment")
            return _variable(tree, key) if named or _variable(tree, key).startswith("TORCH") else ""
        return ""
    if parent.type == "pair" and parent.child_by_field_name("value") == string:
        return _variable(tree, parent.child_by_field_name("key"))
    if parent.type == "keyword_argument":
        name = parent.child_by_field_name("name")
        text = tree.node_text(name) if name is not None else ""
        return text if text.isupper() and "_" in text else ""
    if parent.type == "argument_list":
        positional = [child for child in parent.named_children if child.type not in ("keyword_argument", "comment")]
        if len(positional) > 1 and positional[1] == string:
            return _variable(tree, positional[0])
    return ""


def _variable(tree: SourceTree, node: tree_sitter.Node | None) -> str:
    content = content_of(tree, node) if node is not None and node.type == "string" else None
    return content[0] if content is not None and content[0].isupper() and "_" in content[0] else ""


def _argument(tree: SourceTree, imports: Imports, string: tree_sitter.Node) -> Mention | None:
    """What a string names as an argument: a mode, a backend, the key of an option."""
    parent = string.parent
    call = enclosing_call(string)
    if parent is None or call is None:
        return None
    callee = callee_name(tree, imports, call)
    content = content_of(tree, string)
    text, place = content[0] if content is not None else "", tree.node_range(string)
    if parent.type == "keyword_argument" and callee in COMPILE | OPTIMIZE:
        name = parent.child_by_field_name("name")
        sort = {"mode": MentionKind.MODE, "backend": MentionKind.BACKEND}.get(
            tree.node_text(name) if name is not None else ""
        )
        return Mention(sort, text, place) if sort is not None else None
    if parent.type == "argument_list" and callee in OPTIMIZE:
        return Mention(MentionKind.BACKEND, text, place)
    module = "torch._inductor.config" if callee in COMPILE else callee.removesuffix(".patch")
    if callee not in COMPILE and not (callee.endswith(".patch") and module in CONFIG_MODULES):
        return None
    if parent.type == "pair" and parent.child_by_field_name("key") == string:
        return Mention(MentionKind.OPTION, f"{module}.{text}", place, value=parent.child_by_field_name("value"))
    if parent.type == "argument_list" and callee.endswith(".patch") and _first_positional(parent) == string:
        return Mention(MentionKind.OPTION, f"{module}.{text}", place)
    return None


def _first_positional(arguments: tree_sitter.Node) -> tree_sitter.Node | None:
    return next(
        (child for child in arguments.named_children if child.type not in ("keyword_argument", "comment")), None
    )


def enclosing_call(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The call whose argument a node is, directly or inside a dict."""
    for ancestor in ancestors(node):
        if ancestor.type == "call" and ancestor != node:
            return ancestor
        if ancestor.type in ("lambda", "block", "subscript", "function_definition"):
            return None
    return None


def callee_name(tree: SourceTree, imports: Imports, call: tree_sitter.Node) -> str:
    """The full dotted name of the called function (``functools.partial(f, …)`` calls ``f``), or ''."""
    function = call.child_by_field_name("function")
    if function is None:
        return ""
    full = imports.resolve(dotted_name(tree, function))
    if full == "functools.partial":
        arguments = call.child_by_field_name("arguments")
        first = _first_positional(arguments) if arguments is not None else None
        return imports.resolve(dotted_name(tree, first)) if first is not None else ""
    return full


def dotted_name(tree: SourceTree, node: tree_sitter.Node) -> str:
    """``a.b.c`` for a chain of attributes on a name, '' for any other expression."""
    parts: list[str] = []
    while node.type == "attribute":
        attribute, value = node.child_by_field_name("attribute"), node.child_by_field_name("object")
        if attribute is None or value is None:
            return ""
        parts.append(tree.node_text(attribute))
        node = value
    return ".".join([tree.node_text(node), *reversed(parts)]) if node.type == "identifier" else ""


def _assigned(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The value assigned to a name."""
    parent = node.parent
    if parent is None or parent.type != "assignment" or parent.child_by_field_name("left") != node:
        return None
    return parent.child_by_field_name("right")


def _holds(place: Range, line: int, column: int) -> bool:
    return (place.line, place.column) <= (line, column) <= (place.end_line, place.end_column)
