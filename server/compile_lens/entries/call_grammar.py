"""What a call that a program says may consist of before it is written anywhere: nothing in it does more than make objects for the call.

A program can say any text. What stands in a comment or in ``get_inputs()`` runs later, without a sandbox if the user wants it so.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from compile_lens.entries.effects import effect_names
from compile_lens.entries.tensor_code import has_effects
from compile_lens.late_pattern import pattern
from compile_lens.shown_text import one_line
from compile_lens.syntax.definitions import definitions
from compile_lens.syntax.foreign_texts import parse_expression
from compile_lens.syntax.imports import read_imports
from compile_lens.syntax.tree import Query, SourceTree, identifiers

INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128", *INTEGERS, "bool")
# callables of libraries that only make an object of their arguments
_MAKERS = frozenset(
    [
        "types.SimpleNamespace", "argparse.Namespace", "PIL.Image.new", "collections.OrderedDict", "collections.deque",
        *(f"torch.{name}" for name in ("device", "Size", "Generator", "tensor", "zeros", "ones", "full", "eye", "empty", "arange",
                                       "linspace", "rand", "randn", "randint", "nn.functional.normalize")),
        *("int", "float", "complex", "bool", "str", "list", "tuple", "dict", "set", "frozenset", "range", "slice", "object"),
    ]
)  # fmt: skip
_PACKAGES_OF_TORCH = ("torch.nn.", "torch.optim.", "torch.distributions.")
# methods of any object of these calls: how it computes, and its parts
_METHODS = frozenset(
    ["eval", "train", "to", "half", "float", "double", "bfloat16", "cpu", "get_submodule", "requires_grad_", "copy"]
)
# methods of tensors that give their numbers a form (agent/inputs/synthesis/terms/tensor_contents.py)
_METHODS_OF_TENSORS = frozenset(["softmax", "cumsum", "round", "argsort", "expand"])
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
# a function that the search makes up: it returns what it gets first (agent/inputs/synthesis/changes/other_values.py)
RETURNS_FIRST = "lambda *args, **named: [*args, *named.values()][0]"
# classes of modules that take whatever is passed (agent/inputs/synthesis/changes/stand_ins.py)
OF_ANY_CALL = frozenset(
    f"type('Model', ({base},), {{'forward': lambda self, *args, **named: {result}}})"
    for base, result in (
        ("torch.nn.Module", "[*args, *named.values()][0]"),
        ("torch.nn.Sequential", "torch.nn.Sequential.forward(self, [*args, *named.values()][0])"),
    )
)
_CLASS = pattern(r"_*[A-Z]\w*")
_ASSIGNED = Query("(module (expression_statement (assignment left: (_) @name)))")


def written_call(tree: SourceTree, text: str) -> ast.Call | None:
    """``text`` if it is a call that may be written into the file: of its own classes and functions, on constants, tensors and objects that
    are only made. None for anything else."""
    if one_line(text) != text:
        return None
    try:
        call = parse_expression(text)
        return call if isinstance(call, ast.Call) and _Grammar(tree, call).allows(call) else None
    except (SyntaxError, RecursionError):
        return None


class _Grammar:
    def __init__(self, tree: SourceTree, whole: ast.Call) -> None:
        known = definitions(tree)
        self._classes = {d.qualified_name for d in known if d.kind == "class"}
        self._functions = {d.qualified_name for d in known if d.kind == "function"}
        self._values = {
            tree.node_text(i) for node in _ASSIGNED.everywhere(tree).get("name", []) for i in identifiers(node)
        }
        self._imports = read_imports(tree)
        self._effects = effect_names(tree)
        self._tree = tree
        self._definitions = {d.qualified_name: d for d in known}
        self._has_others = "import *" in tree.text
        self._made = {node.target.id for node in ast.walk(whole) if isinstance(node, ast.NamedExpr)}
        self._whole = whole

    def allows(self, node: ast.expr | None) -> bool:
        """Whether ``node`` only makes objects, or is the call that they are for."""
        match node:
            case ast.Constant():
                return True
            case ast.Tuple(items) | ast.List(items) | ast.Set(items):
                return all(map(self.allows, items))
            case ast.Dict(keys, values):
                return all(map(self.allows, (*keys, *values)))
            case ast.Starred(value) | ast.UnaryOp(ast.USub() | ast.UAdd() | ast.Not(), value):
                return self.allows(value)
            case ast.BinOp(left, op, right):
                return isinstance(op, _OPERATORS) and self.allows(left) and self.allows(right)
            case ast.Compare(left, [ast.Lt() | ast.Eq()], [ast.Constant()]):
                return _is_tensor(left)
            case ast.Subscript(ast.Tuple([ast.NamedExpr(value=made), *steps]), ast.Constant(0)):
                return self.allows(made) and all(map(self._prepares, steps))
            case ast.Subscript(value, ast.Constant()):
                return _is_tensor(node) or self.allows(value)
            case ast.Subscript():
                return _is_tensor(node)
            case ast.Name() | ast.Attribute():
                return self._is_value(_dotted(node))
            case ast.Lambda():
                return ast.unparse(node) == RETURNS_FIRST or self._applies_own(node)
            case ast.Call():
                return self._is_class_of_any_call(node) or (self._takes_only_these(node) and self._may_call(node))
        return False

    def _is_class_of_any_call(self, node: ast.Call) -> bool:
        """Whether ``node`` makes one of ``OF_ANY_CALL``, by Python's own ``type`` and torch."""
        own = self._classes | self._functions | self._values | self._made
        is_other = any(name in own or self._imports.resolve(name) not in (None, "", name) for name in ("type", "torch"))
        return not (is_other or self._has_others) and ast.unparse(node) in OF_ANY_CALL

    def _takes_only_these(self, call: ast.Call) -> bool:
        return all(map(self.allows, (*call.args, *(keyword.value for keyword in call.keywords))))

    def _prepares(self, step: ast.expr) -> bool:
        """Whether ``step`` calls a method of the object that is made, or sets an attribute of it."""
        match step:
            case ast.Call(ast.Name("setattr"), [ast.Name(made), ast.Constant(str(name)), value], []):
                return made in self._made and not name.startswith("__") and self.allows(value)
        return isinstance(step, ast.Call) and self.allows(step)

    def _may_call(self, call: ast.Call) -> bool:
        func = call.func
        if dotted := _dotted(func):
            return self._is_maker(dotted, call)
        if isinstance(func, ast.Attribute):
            return self.allows(func.value) and (
                func.attr in _METHODS
                or (func.attr in _METHODS_OF_TENSORS and self._makes_tensor(func.value))
                or (self._is_own(func.value) and self._may_call_method(func.attr, call))
            )
        return isinstance(func, ast.Call | ast.Subscript | ast.Lambda) and self.allows(func)

    def _makes_tensor(self, node: ast.expr) -> bool:
        """Whether ``node`` is a tensor of an entry, or one that its methods make of it."""
        match node:
            case ast.Compare(left):
                return _is_tensor(left)
            case ast.Call(ast.Attribute(value, method)) if method in _METHODS_OF_TENSORS:
                return self._makes_tensor(value)
            case ast.Call(func):
                return self._imports.resolve(_dotted(func)) == "torch.eye" or _dotted(func) == "torch.eye"
        return _is_tensor(node)

    def _applies_own(self, node: ast.Lambda) -> bool:
        """Whether ``node`` passes what it gets to an ``autograd.Function`` of the file, whose class cannot be called itself."""
        match node:
            case ast.Lambda(
                ast.arguments([], [], ast.arg(given), [], _, None, _),
                ast.Call(ast.Attribute(ast.Name(cls), "apply"), [ast.Starred(ast.Name(passed))], []),
            ):
                return given == passed and cls in self._classes
        return False

    def _is_own(self, made: ast.expr) -> bool:
        """Whether ``made`` constructs an object of a class of the file."""
        return isinstance(made, ast.Call) and _dotted(made.func) in self._classes

    def _is_maker(self, dotted: str, call: ast.Call) -> bool:
        """Whether ``dotted`` may be called: it makes an object, or is a function of the file, with no effects unless it is the target."""
        parts = dotted.split(".")
        full = self._imports.resolve(dotted) or (f"torch.{dotted}" if parts[0] == "nn" else dotted)
        is_bound = parts[0] in self._classes | self._functions | self._values
        if full in _MAKERS and not is_bound:
            return True
        if not self._is_harmless(parts):
            return False
        if dotted in self._functions:
            return call is self._whole or not self._reaches_out(dotted)
        if dotted in self._classes:
            return call in (self._whole, self._whole.func) or not self._reaches_out(f"{dotted}.__init__")
        if parts[0] in self._classes or (parts[0] in self._made and len(parts) == 2):
            return self._may_call_method(parts[-1], call)
        is_class = any(_CLASS.fullmatch(part) for part in parts[-2:])
        if is_bound or full.startswith("torch."):
            return is_class and full.startswith(_PACKAGES_OF_TORCH)
        if full.partition(".")[0] in sys.stdlib_module_names or (full == dotted and len(parts) == 1):
            return is_class and self._has_others and len(parts) == 1
        return is_class or not (call.args or call.keywords)

    def _is_value(self, dotted: str) -> bool:
        """Whether ``dotted`` names something of the file, a type, or something of a library that is not of Python's own."""
        parts = dotted.split(".")
        root = parts[0]
        if not dotted or not self._is_harmless(parts) or self._reaches_out(dotted):
            return False
        if root in self._classes | self._functions | self._values | self._made or dotted in (_MAKERS | {"len"}):
            return True
        full = self._imports.resolve(dotted) or dotted
        is_of_library = full.partition(".")[0] not in sys.stdlib_module_names
        return is_of_library and (full != dotted or len(parts) > 1 or self._has_others)

    def _may_call_method(self, name: str, call: ast.Call) -> bool:
        """Whether the method ``name`` may be called: none of the file's of that name has effects, unless it is the target."""
        known = [path for path in self._functions if path.endswith(f".{name}")]
        return self._is_harmless([name]) and (call is self._whole or not any(map(self._reaches_out, known)))

    def _reaches_out(self, name: str) -> bool:
        """Whether the function or method ``name`` of the file says that it reaches what is outside of the program."""
        known = self._definitions.get(name)
        return known is not None and known.kind == "function" and has_effects(self._tree, known)

    def _is_harmless(self, parts: list[str]) -> bool:
        return not any(part.startswith("__") or part in self._effects for part in parts)


def _dotted(node: ast.expr) -> str:
    """``a.b.c``; '' for what is no dotted name."""
    return ".".join(reversed(list(_parts(node)))) if _root(node) else ""


def _root(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _parts(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Attribute):
        yield node.attr
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _is_tensor(node: ast.expr) -> bool:
    """``float32[2, 3]``, ``float32[()]``."""
    match node:
        case ast.Subscript(ast.Name(dtype), shape) if dtype in DTYPES:
            sizes = shape.elts if isinstance(shape, ast.Tuple) else [shape]
            return all(isinstance(size, ast.Constant) and isinstance(size.value, int) for size in sizes)
    return False
