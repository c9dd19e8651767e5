"""Turns the expressions that Dynamo guards (torch/_dynamo/source.py, torch 2.6 to 2.13) into what the user wrote: ``self.up.weight``.

Torch evaluates a guard in a namespace of its own, so its expressions go through tables that no user sees: ``L['self']._modules['up']``,
``list(dict.keys(batch))[1]``, ``f.__closure__[0].cell_contents``.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from msgspec import Struct

from compile_lens.late_pattern import pattern
from compile_lens.syntax.foreign_texts import parse_expression

KEPT_ACROSS = "a value kept across the graph break"
SCOPES = frozenset({"L", "G", "SYNTHETIC_LOCAL"})
# nn.Module's own tables, and those of every object: the user writes the attribute
TABLES = frozenset({"_modules", "_parameters", "_buffers", "__dict__"})
# what stands around a value of the user's
WRAPPERS = frozenset(
    {"___from_numpy", "___as_tensor", "___namedtuple_fields", "___dataclass_fields", "cast_symbool_to_symint_guardless"}
)
GETTERS = frozenset({"dict.__getitem__", "list.__getitem__", "tuple.__getitem__"})
ATTRIBUTE_GETTERS = frozenset({"getattr", "object.__getattribute__"})
# a method or function that is seen through another
PASSED_THROUGH = frozenset({"__func__", "__wrapped__", "__self__", "__mro__", "__dict__"})
METHODS_PASSED_THROUGH = frozenset({"get_base", "__tensor_flatten__", "__obj_flatten__"})
IMPORTED = pattern(r"^__import_(\w+)$")
BUILTINS = pattern(r"^__builtins_dict__")
# nn.Module's: ``_forward_pre_hooks``
HOOKS = pattern(r"^_(?:global_)?(?:forward|backward)_(?:pre_)?hooks")
ON_THE_STACK = pattern(r"^___stack\d")
# a name that torch made up
INTERNAL = pattern(r"___\w|__\w+__|\b(?:L|G)\[|<ephemeral|^random_value_\d")
# no module of a list has a longer number
INDEX = pattern(r"[0-9]{1,9}")
# "L['x']" in a text
WRAPPED = pattern(r"\b(?:L|G)\['(\w+)'\]")
SIZES = {"size": "size", "shape": "size", "stride": "stride"}


class GuardedValue(Struct, frozen=True):
    """What a guard looks at. ``expression`` is what the user writes for it, or for what it is part of ('' if nothing does).

    ``words`` name it in a sentence. ``what`` is the property of it that the expression reads (``size`` and ``dimension``), if any.
    """

    expression: str
    words: str
    what: str = ""
    dimension: int | None = None


@lru_cache(maxsize=4096)
def guarded_value(source: str) -> GuardedValue:
    """What ``source``, an expression of Dynamo's, means in the user's program."""
    try:
        node = parse_expression(source.strip())
    except SyntaxError:
        return GuardedValue("", f"`{source.strip()}`")
    return _special(node) or _plain(node)


def plain_source(expression: str) -> str:
    """``self.up.weight`` for ``L['self']._modules['up']._parameters['weight']``; a text that is no expression stays as it is."""
    try:
        node = parse_expression(expression.strip())
    except SyntaxError:
        return WRAPPED.sub(r"\1", expression)
    return _unparsed(node)


def named_size(source: str) -> str:
    """``size 0 of `x` `` for ``L['x'].size()[0]``; another value by its name."""
    value = guarded_value(source)
    return f"{value.what} {value.dimension} of {value.words}" if value.dimension is not None else value.words


def _special(node: ast.expr) -> GuardedValue | None:
    """The forms that have a name of their own in a sentence."""
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, (int, str))
    ):
        index = node.slice.value
        owner = node.value
        keys = _keys_of(owner)
        if keys is not None:
            return _part(f"key {index!r}", keys)
        if isinstance(owner, ast.Attribute) and owner.attr == "__defaults__":
            return _part(f"default value {index!r}", owner.value)
        if isinstance(owner, ast.Attribute) and owner.attr == "__kwdefaults__":
            return _part(f"the default of `{index}`", owner.value)
        sized = owner.func if isinstance(owner, ast.Call) else owner
        if isinstance(sized, ast.Attribute) and sized.attr in SIZES and isinstance(index, int):
            of = guarded_value(ast.unparse(sized.value))
            return GuardedValue(of.expression, of.words, SIZES[sized.attr], index)
    if isinstance(node, ast.Subscript):
        position = _position(node.slice)
        if position is not None:
            return _part(f"the value of key {position}", node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "storage_offset":
        of = guarded_value(ast.unparse(node.func.value))
        return GuardedValue(of.expression, of.words, "storage offset")
    if isinstance(node, ast.Call) and _called(node) == "___tuple_iterator_getitem" and len(node.args) == 2:
        return _part(f"item {ast.unparse(node.args[1])}", node.args[0])
    if isinstance(node, ast.Attribute) and HOOKS.match(node.attr):
        return _part(f"the {node.attr.strip('_').replace('_', ' ')}", node.value)
    captured = _captured(node)
    if captured is not None:
        return _part("a variable captured", captured, by="by")
    inner = _inner(node)
    found = _special(inner) if inner is not None else None
    # ``.scale`` of "key 1 of `batch`": what it is part of is the most that can be named
    if found is not None and inner is not None and found.dimension is None:
        rest = ast.unparse(node)[len(ast.unparse(inner)) :]
        if rest and not INTERNAL.search(rest):
            return GuardedValue(found.expression, f"`{rest.lstrip('.')}` of {found.words}")
        return found
    return None


def _part(words: str, owner: ast.expr, by: str = "of") -> GuardedValue:
    of = guarded_value(ast.unparse(owner))
    return GuardedValue(of.expression, f"{words} {by} {of.words}")


def _plain(node: ast.expr) -> GuardedValue:
    text = _unparsed(node)
    if ON_THE_STACK.match(text):
        return GuardedValue("", KEPT_ACROSS)
    if INTERNAL.search(text):
        known = _known_part(node)
        return GuardedValue(known, f"an internal part of `{known}`" if known else "an internal value of torch")
    return GuardedValue(text, f"`{text}`")


def _known_part(node: ast.expr) -> str:
    """The longest beginning of an expression that is the user's."""
    inner: ast.expr | None = node
    while inner is not None:
        text = _unparsed(inner)
        if not INTERNAL.search(text) and not isinstance(inner, ast.Constant):
            return text
        inner = _inner(inner)
    return ""


def _inner(node: ast.expr) -> ast.expr | None:
    """What an expression reads an attribute or an item of."""
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return node.value
    if isinstance(node, ast.Call):
        return (
            node.func.value if isinstance(node.func, ast.Attribute) and not node.args else next(iter(node.args), None)
        )
    return None


def _keys_of(node: ast.expr) -> ast.expr | None:
    """``batch`` of ``list(dict.keys(batch))``."""
    if isinstance(node, ast.Call) and _called(node) == "list" and len(node.args) == 1:
        keys = node.args[0]
        if isinstance(keys, ast.Call) and _called(keys) == "dict.keys" and len(keys.args) == 1:
            return keys.args[0]
    return None


def _position(node: ast.expr) -> object:
    """1 of ``list(dict.keys(batch))[1]``, where it is an index itself."""
    if isinstance(node, ast.Subscript) and _keys_of(node.value) is not None and isinstance(node.slice, ast.Constant):
        position: object = node.slice.value
        return position
    return None


def _captured(node: ast.expr) -> ast.expr | None:
    """``f`` of ``f.__closure__[0].cell_contents``."""
    if isinstance(node, ast.Attribute) and node.attr == "cell_contents":
        node = node.value
    if isinstance(node, ast.Subscript):
        node = node.value
    return node.value if isinstance(node, ast.Attribute) and node.attr == "__closure__" else None


def _called(node: ast.Call) -> str:
    return ast.unparse(node.func)


def _unparsed(node: ast.expr) -> str:
    rewritten = _Users().visit(parse_expression(ast.unparse(node)))
    return ast.unparse(rewritten)


class _Users(ast.NodeTransformer):
    """Rewrites torch's tables and wrappers into attributes and names, innermost first."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        owner = node.value
        if isinstance(owner, ast.Name) and owner.id in SCOPES and isinstance(key, str):
            return _named(key)
        if isinstance(owner, ast.Name) and BUILTINS.match(owner.id) and isinstance(key, str):
            return _named(key)
        if isinstance(owner, ast.Attribute) and owner.attr in TABLES and isinstance(key, str):
            return _attribute(owner.value, key)
        if isinstance(owner, ast.Attribute) and owner.attr == "__mro__":
            return owner.value
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        before = node.value
        self.generic_visit(node)
        if node.attr in PASSED_THROUGH and not isinstance(before, ast.Constant):
            # a table is needed as long as it is subscripted: the subscript removes it
            return node if node.attr in ("__dict__", "__mro__") else node.value
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = _called(node)
        first = node.args[0] if node.args else None
        if first is not None:
            if name in WRAPPERS or (name == "dict" and isinstance(first, ast.Attribute) and first.attr == "__dict__"):
                return first
            second = node.args[1] if len(node.args) == 2 else None
            if name in GETTERS and second is not None:
                return ast.Subscript(first, second, ast.Load())
            if name in ATTRIBUTE_GETTERS and isinstance(second, ast.Constant) and isinstance(second.value, str):
                return _attribute(first, second.value)
            if name == "__import__" and isinstance(first, ast.Constant):
                return _named(str(first.value))
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "size":
            return _attribute(node.func.value, "shape")
        elif isinstance(node.func, ast.Attribute) and node.func.attr in METHODS_PASSED_THROUGH:
            return node.func.value
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "__neg__":
            return ast.UnaryOp(ast.USub(), node.func.value)
        return node


def _named(key: str) -> ast.expr:
    imported = IMPORTED.match(key)
    path = imported[1].replace("_dot_", ".") if imported else key
    first, *rest = path.split(".")
    found: ast.expr = ast.Name(first, ast.Load())
    for part in rest:
        found = ast.Attribute(found, part, ast.Load())
    return found


def _attribute(owner: ast.expr, key: str) -> ast.expr:
    """``owner.key``; ``owner[0]`` for the numbered modules of a list."""
    if key.isidentifier():
        return ast.Attribute(owner, key, ast.Load())
    return ast.Subscript(owner, ast.Constant(int(key) if INDEX.fullmatch(key) else key), ast.Load())
