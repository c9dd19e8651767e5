"""What a call that a program says may consist of before it is written anywhere: what our own search writes, and nothing else.

A program can say any text. What stands in a comment or in ``get_inputs()`` runs later, without a sandbox if the user wants it so. So each
form is listed here: the call of a class or a function of the project, as the sources have it, on constants, tensors, and objects of listed
makers. Nothing is called that came out of another call, but the object that the call is for.
"""

from __future__ import annotations

import ast
import sys

from compile_lens.entries.effects import effect_names
from compile_lens.entries.makers import (
    DTYPES,
    MAKERS,
    METHODS,
    METHODS_OF_TENSORS,
    is_torch_class,
    is_value_of_libraries,
    is_word,
)
from compile_lens.entries.project_names import ProjectFiles, ProjectName, ProjectNames
from compile_lens.entries.tensor_code import has_effects
from compile_lens.late_pattern import pattern
from compile_lens.shown_text import one_line
from compile_lens.syntax.definitions import definitions
from compile_lens.syntax.foreign_texts import parse_expression
from compile_lens.syntax.tree import SourceTree

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)
# a function that the search makes up: it returns what it gets first (agent/inputs/synthesis/changes/other_values.py)
RETURNS_FIRST = "lambda *args, **named: [*args, *named.values()][0]"
# the name of an object that is prepared (`_unused` in agent/inputs/synthesis/terms/arguments.py)
_MADE = pattern(r"m\d*")
# classes of modules that take whatever is passed (agent/inputs/synthesis/changes/stand_ins.py)
OF_ANY_CALL = frozenset(
    f"type('Model', ({base},), {{'forward': lambda self, *args, **named: {result}}})"
    for base, result in (
        ("torch.nn.Module", "[*args, *named.values()][0]"),
        ("torch.nn.Sequential", "torch.nn.Sequential.forward(self, [*args, *named.values()][0])"),
    )
)
_CLASS = pattern(r"_*[A-Z]\w*")
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")


def written_call(tree: SourceTree, text: str, files: ProjectFiles | None = None) -> ast.Call | None:
    """``text`` if it is a call that may be written into the file: of classes and functions of its project, on constants, tensors and
    objects that are only made. None for anything else. Without ``files``, the project is the file alone."""
    if one_line(text) != text:
        return None
    try:
        call = parse_expression(text)
        return call if isinstance(call, ast.Call) and _Grammar(ProjectNames(tree, files)).is_target(call) else None
    except (SyntaxError, RecursionError):
        return None


class _Grammar:
    def __init__(self, names: ProjectNames) -> None:
        self._names = names
        self._effects = effect_names(names.tree)

    def is_target(self, call: ast.Call) -> bool:
        """Whether ``call`` is that of a function or an object of the project, which is made for it."""
        if not self._takes_values(call):
            return False
        match call.func:
            case ast.Lambda() as applied:
                return self._applies_own(applied)
            case ast.Name() | ast.Attribute() if dotted := dotted_name(call.func):
                found = self._find(dotted)
                return found is not None and found.kind != "value" and self._may_reach_out(found, call)
            case ast.Attribute(made, method):
                return self._is_made(made, True) and self._has_method(made, method, call, True)
            case ast.Call() | ast.Subscript():
                return self._is_made(call.func, True)
        return False

    def _is_value(self, node: ast.expr | None) -> bool:
        match node:
            case ast.Constant():
                return True
            case ast.Tuple(items) | ast.List(items) | ast.Set(items):
                return all(map(self._is_value, items))
            case ast.Dict(keys, values):
                return all(key is not None and self._is_value(key) for key in keys) and all(map(self._is_value, values))
            case ast.UnaryOp(ast.USub() | ast.UAdd() | ast.Not(), value):
                return self._is_value(value)
            case ast.BinOp(left, op, right):
                return isinstance(op, _OPERATORS) and self._is_value(left) and self._is_value(right)
            case ast.Name() | ast.Attribute():
                return self._is_named_value(dotted_name(node))
            case ast.Lambda():
                return ast.unparse(node) == RETURNS_FIRST
            case ast.Subscript(ast.Name() | ast.Attribute() as table, ast.Constant()) if not is_tensor(node):
                found = self._find(dotted_name(table))
                return found is not None and found.kind == "value"
            case ast.Call() if self._is_class_of_any_call(node):
                return True
        return self._is_tensor(node) or (node is not None and self._is_made(node, False))

    def _is_tensor(self, node: ast.expr | None) -> bool:
        """Whether ``node`` is a tensor of an entry, or one that its methods make of it."""
        match node:
            case ast.Compare(left, [ast.Lt() | ast.Eq()], [limit]):
                return is_tensor(left) and _is_number(limit)
            case ast.Call(ast.Attribute(value, method)) if method in METHODS | METHODS_OF_TENSORS:
                return self._is_tensor(value) and self._takes_values(node)
            case ast.Call(ast.Name() | ast.Attribute() as func):
                full = self._names.of_libraries(dotted_name(func))
                return full.startswith("torch.") and full in MAKERS and self._takes_values(node)
        return node is not None and is_tensor(node)

    def _is_made(self, node: ast.expr, is_for_target: bool) -> bool:
        """Whether ``node`` makes an object; with ``is_for_target`` that of the project whose call this is all about."""
        match node:
            case ast.Subscript(ast.Tuple([ast.NamedExpr(ast.Name(name), made), *steps]), ast.Constant(0)):
                is_prepared = all(self._prepares(step, name, made) for step in steps)
                return _MADE.fullmatch(name) is not None and self._is_made(made, is_for_target) and is_prepared
            case ast.Call(ast.Name() | ast.Attribute() as func) if dotted := dotted_name(func):
                return self._takes_values(node) and self._makes(dotted, node, is_for_target)
            case ast.Call(ast.Call() as func) if not is_for_target:
                if not node.args and not node.keywords and self._records_calls(func):
                    return True
                return self._is_class_of_any_call(func) and self._takes_values(node)
            case ast.Call(ast.Attribute(made, method)):
                if not (self._takes_values(node) and self._is_made(made, is_for_target)):
                    return False
                if self._has_method(made, method, node, False):
                    return True
                return method in METHODS and self._method(made, method) is None
        return False

    def _records_calls(self, made: ast.Call) -> bool:
        """Whether ``made`` constructs an object of a class of the project that can be called, which does nothing outside of the program:
        `LazyCall(torch.nn.Identity)()`."""
        found = self._find(dotted_name(made.func))
        is_class = found is not None and found.kind == "class" and self._is_made(made, False)
        called = self._method(made, "__call__") if is_class else None
        return called is not None and not self._reaches_out(called)

    def _is_class_of_any_call(self, node: ast.Call) -> bool:
        """Whether ``node`` makes one of ``OF_ANY_CALL``, by Python's own ``type`` and torch."""
        is_other = any(
            self._names.find(name) is not None or self._names.of_libraries(name) != name for name in ("type", "torch")
        )
        return not is_other and not self._names.takes_unknown_names() and ast.unparse(node) in OF_ANY_CALL

    def _takes_values(self, call: ast.Call) -> bool:
        given = [each.value if isinstance(each, ast.Starred) else each for each in call.args]
        is_spread = all(
            isinstance(each.value, ast.List | ast.Tuple) for each in call.args if isinstance(each, ast.Starred)
        )
        is_named = all(keyword.arg is not None and not keyword.arg.startswith("__") for keyword in call.keywords)
        return is_spread and is_named and all(map(self._is_value, (*given, *(each.value for each in call.keywords))))

    def _prepares(self, step: ast.expr, name: str, made: ast.expr) -> bool:
        """Whether ``step`` gives the object ``name`` an attribute, or calls a method of it that the project has."""
        match step:
            case ast.Call(ast.Name("setattr"), [ast.Name(of), ast.Constant(str(attribute)), value], []):
                is_own = not self._names.binds("setattr") and of == name
                return is_own and attribute.isidentifier() and not attribute.startswith("__") and self._is_value(value)
            case ast.Call(ast.Attribute(ast.Name(of), method)):
                return of == name and self._takes_values(step) and self._has_method(made, method, step, False)
        return False

    def _makes(self, dotted: str, call: ast.Call, is_for_target: bool) -> bool:
        """Whether ``dotted`` makes an object of its arguments."""
        found = self._find(dotted)
        if found is not None:
            if found.kind == "value":
                return False
            if is_for_target:
                return self._may_reach_out(found, call)
            return not self._reaches_out(found) or (found.kind == "class" and not _texts(call))
        full = self._names.of_libraries(dotted)
        if is_for_target or not full or self._names.find(dotted) is not None:
            return False
        return full in MAKERS or is_torch_class(self._all_of_torch(full)) or self._is_imported_class(full, call)

    def _is_imported_class(self, full: str, call: ast.Call) -> bool:
        """Whether ``full`` is a class of an installed package that the file itself names, and gets nothing that leads anywhere."""
        top, parts = full.partition(".")[0], full.split(".")
        if (
            top in sys.stdlib_module_names
            or top == "torch"
            or not self._names.says(full)
            or not self._is_harmless(parts)
        ):
            return False
        return _CLASS.fullmatch(parts[-1]) is not None and self._takes_words(call)

    def _all_of_torch(self, full: str) -> str:
        """The name of a class of torch, as it is without ``from torch.nn import *``."""
        return f"torch.nn.{full}" if full.isidentifier() and self._names.takes_all_of("torch.nn") else full

    def _takes_words(self, call: ast.Call) -> bool:
        """Whether no text that ``call`` gets leads to a file or an address, but for those that stand in the file."""
        return all(isinstance(text, str) and self._is_word(text) for text in _texts(call))

    def _is_word(self, text: str) -> bool:
        return is_word(text) or any(f"{quote}{text}{quote}" in self._names.tree.text for quote in "'\"")

    def _may_reach_out(self, target: ProjectName, call: ast.Call) -> bool:
        """Whether the target may be called: if it reaches what is outside of the program, with nothing that says where, and as a function
        of the file itself on tensors, as what is compiled is called."""
        if not self._reaches_out(target):
            return True
        is_computing = target.tree is self._names.tree and any(
            isinstance(node, ast.expr) and is_tensor(node) for node in ast.walk(call)
        )
        return self._takes_words(call) and (target.kind == "class" or is_computing)

    def _has_method(self, made: ast.expr, name: str, call: ast.Call, is_target: bool) -> bool:
        """Whether an object of the project has the method ``name``, which does nothing outside of the program unless it is the target."""
        method = self._method(made, name)
        if method is None or not self._is_harmless([name]):
            return False
        return self._may_reach_out(method, call) if is_target else not self._reaches_out(method)

    def _method(self, made: ast.expr, name: str) -> ProjectName | None:
        """The method ``name`` that the project gives to the object ``made``, however that is prepared."""
        while True:
            match made:
                case ast.Call(ast.Attribute(value)) if not dotted_name(made.func):
                    made = value
                case ast.Subscript(ast.Tuple([ast.NamedExpr(value=value), *_])):
                    made = value
                case ast.Call(ast.Name() | ast.Attribute()):
                    cls = self._class_of(self._find(dotted_name(made.func)))
                    return self._names.method(cls, name) if cls is not None else None
                case _:
                    return None

    def _class_of(self, found: ProjectName | None) -> ProjectName | None:
        """The class whose object ``found`` makes: itself, or that of a method which makes one."""
        if found is None or found.kind == "class":
            return found
        owner, _, _ = found.name.rpartition(".")
        return ProjectName(found.tree, found.file, owner, "class") if owner else None

    def _applies_own(self, node: ast.Lambda) -> bool:
        """Whether ``node`` passes what it gets to an ``autograd.Function`` of the file, whose class cannot be called itself."""
        match node:
            case ast.Lambda(
                ast.arguments([], [], ast.arg(given), [], _, None, _),
                ast.Call(ast.Attribute(ast.Name(cls), "apply"), [ast.Starred(ast.Name(passed))], []),
            ):
                found = self._find(cls)
                return given == passed and found is not None and found.kind == "class"
        return False

    def _is_named_value(self, dotted: str) -> bool:
        """Whether ``dotted`` names something of the project, or a type, a number or a function of computing of a library."""
        found = self._find(dotted)
        if found is not None:
            return not self._reaches_out(found)
        full = self._names.of_libraries(dotted)
        if not full or self._names.find(dotted) is not None:
            return False
        is_class = any(_CLASS.fullmatch(part) for part in full.split(".")[-2:])
        is_said = full.partition(".")[0] not in sys.stdlib_module_names and is_class and self._names.says(full)
        return is_value_of_libraries(self._all_of_torch(full)) or (is_said and self._is_harmless(full.split(".")))

    def _find(self, dotted: str) -> ProjectName | None:
        """What of the project ``dotted`` is, unless a name in it says that it reaches what is outside of the program."""
        return self._names.find(dotted) if dotted and self._is_harmless(dotted.split(".")) else None

    def _reaches_out(self, known: ProjectName) -> bool:
        """Whether a function, a method or a constructor of the project says that it reaches what is outside of the program."""
        if known.kind == "value":
            return not effect_names(known.tree).isdisjoint(known.name.split("."))
        reached = [known]
        if known.kind == "class":
            reached = [
                ProjectName(c.tree, c.file, f"{c.name}.{m}", "")
                for c in self._names.lineage(known)
                for m in _CONSTRUCTORS
            ]
        return any(
            definition.qualified_name == each.name and has_effects(each.tree, definition)
            for each in reached
            for definition in definitions(each.tree)
        )

    def _is_harmless(self, parts: list[str]) -> bool:
        return not any(part.startswith("__") or part in self._effects for part in parts)


def dotted_name(node: ast.expr) -> str:
    """``a.b.c``; '' for what is no dotted name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id])) if isinstance(node, ast.Name) else ""


def is_tensor(node: ast.expr) -> bool:
    """``float32[2, 3]``, ``float32[()]``."""
    match node:
        case ast.Subscript(ast.Name(dtype), shape) if dtype in DTYPES:
            sizes = shape.elts if isinstance(shape, ast.Tuple) else [shape]
            return all(isinstance(size, ast.Constant) and type(size.value) is int for size in sizes)
    return False


def _texts(call: ast.Call) -> list[str | bytes]:
    """The texts that a call gets, also inside of other arguments."""
    constants = (node.value for node in ast.walk(call) if isinstance(node, ast.Constant))
    return [value for value in constants if isinstance(value, str | bytes)]


def _is_number(node: ast.expr) -> bool:
    number = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(number, ast.Constant) and type(number.value) in (int, float, bool)
