"""Writes an expression of a file so that it means the same elsewhere: names become what the file assigns to them, or imports them from.

`Net(encoder, width)` of `encoder = Encoder(8)`, `width = 8` and `from pkg.parts import Encoder` is `Net(pkg.parts.Encoder(8), 8)`.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from .factories import FROM_FILES

# names in one another, and characters of what is written
MOST_STEPS, LONGEST = 12, 2000
# of what Python has built in: what only makes a value of its arguments
_BUILT_IN = frozenset(
    [
        *("int", "float", "complex", "bool", "str", "list", "tuple", "dict", "set", "frozenset", "range", "slice", "object"),
        *("len", "sum", "min", "max", "abs", "round", "sorted", "reversed", "zip", "enumerate", "map", "filter", "type"),
        *("True", "False", "None"),
    ]
)  # fmt: skip
_OF_PYTHON = frozenset(
    [
        *("argparse", "collections", "copy", "dataclasses", "enum", "fractions"),
        *("functools", "itertools", "math", "operator", "types", "typing"),
    ]
)
# where a module is, which whoever constructs it here decides
_PLACING = frozenset({"cuda", "cpu", "to"})


class NotWritable(Exception):
    """The expression says nothing outside of its file."""


class File:
    """A parsed file. ``dotted`` is its name as a module; '' where it cannot be imported under one. ``own`` are the names of the module
    for which expressions are written, where the file is that, or speaks of it as one of its docstrings does."""

    def __init__(self, tree: ast.Module, dotted: str, own: Collection[str] = (), is_package: bool = False) -> None:
        self._tree = tree
        self._dotted = dotted
        self._own = own
        self._package = dotted if is_package else dotted.rpartition(".")[0]
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self._imports: dict[str, str] = {}
        for node in ast.walk(tree):
            self._imports.update(self._imported(node))
        self._defined = {
            node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        }

    def calls(self, name: str, root: str) -> Iterator[ast.Call]:
        """The calls of ``name``, of a module of the package ``root``: `Net`, or `Net.from_name`."""
        for node in ast.walk(self._tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
                continue
            first, _, rest = ast.unparse(node.func).partition(".")
            full = ".".join(filter(None, (self._imports.get(first), rest)))
            is_here = first in self._own and first not in self._imports and f"{first}.{rest}".rstrip(".") == name
            is_imported = first in self._imports and full.partition(".")[0] == root
            if is_here or (is_imported and f".{full}".endswith(f".{name}")):
                yield node

    def written(self, node: ast.expr) -> str:
        """``node`` as text that means the same in another file. Raises NotWritable."""
        text = ast.unparse(ast.fix_missing_locations(_WritesOut(self, node).visit(copy.deepcopy(node))))
        if len(text) > LONGEST:
            raise NotWritable
        return text

    def arguments(self, call: ast.Call) -> tuple[list[ast.expr], dict[str, ast.expr]]:
        """The arguments of a call, by position and by name, those that are unpacked among them. Raises NotWritable where one is that the
        file does not write."""
        positional: list[ast.expr] = []
        named: dict[str, ast.expr] = {}
        for each in call.args:
            value = self.literal_of(each.value, each) if isinstance(each, ast.Starred) else None
            positional += value.elts if isinstance(value, (ast.Tuple, ast.List)) else [each]
        for keyword in call.keywords:
            if keyword.arg is not None:
                named[keyword.arg] = keyword.value
                continue
            value = self.literal_of(keyword.value, keyword)
            if isinstance(value, ast.Dict) and all(isinstance(key, ast.Constant) for key in value.keys):
                named |= {str(key.value): item for key, item in zip(value.keys, value.values, strict=True)}  # type: ignore[union-attr]
            elif isinstance(value, ast.Call) and ast.unparse(value.func) == "dict" and not value.args:
                named |= {each.arg: each.value for each in value.keywords if each.arg is not None}
            else:
                raise NotWritable
        if any(isinstance(each, ast.Starred) for each in positional):
            raise NotWritable
        return positional, named

    def literal_of(self, node: ast.expr, at: ast.AST) -> ast.expr:
        """What ``node`` stands for, as far as it is a name that is assigned."""
        for _ in range(MOST_STEPS):
            found = self.value_of(node.id, at) if isinstance(node, ast.Name) else None
            if found is None:
                return node
            node = at = found
        return node

    def value_of(self, name: str, at: ast.AST) -> ast.expr | None:
        """What ``name`` stands for at the node ``at``: what was assigned to it last before, or a parameter's default."""
        scope: ast.AST | None = at
        line = sys.maxsize
        while scope is not None:
            if isinstance(scope, ast.stmt) and line == sys.maxsize:
                line = scope.lineno
            scope = self._parents.get(scope)
            if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found = _assigned(scope, name, line) or _default(scope, name)
                if found is None and name in _parameters(scope):
                    raise NotWritable
                line = sys.maxsize - 1  # it is called when all of the file has run
            else:
                found = _assigned(scope, name, line) if isinstance(scope, ast.Module) else None
            if found is not None:
                return found
        return None

    def attribute_of_self(self, name: str, at: ast.AST) -> ast.expr:
        """What a method of the class around ``at`` assigns to ``self.NAME``. Raises NotWritable."""
        scope: ast.AST | None = at
        while scope is not None and not isinstance(scope, ast.ClassDef):
            scope = self._parents.get(scope)
        for node in ast.walk(scope) if scope is not None else ():
            targets = node.targets if isinstance(node, ast.Assign) else ()
            if any(ast.unparse(target) in (f"self.{name}", name) for target in targets):
                return node.value  # type: ignore[attr-defined, no-any-return]
        raise NotWritable

    def full_name(self, name: str) -> str:
        """The name under which other files know ``name``. Raises NotWritable where they do not."""
        if name in self._own:
            return name
        if name in self._imports:
            return self._imports[name]
        if name in self._defined and self._dotted:
            return f"{self._dotted}.{name}"
        if name in _BUILT_IN:
            return name
        raise NotWritable

    def _imported(self, node: ast.AST) -> Mapping[str, str]:
        if isinstance(node, ast.Import):
            return {
                each.asname or each.name.partition(".")[0]: each.name if each.asname else each.name.partition(".")[0]
                for each in node.names
            }
        if not isinstance(node, ast.ImportFrom):
            return {}
        module = node.module or ""
        if node.level:
            above = self._package.split(".") if self._package else []
            if node.level - 1 > len(above) or not above:
                return {}
            above = above[: len(above) - node.level + 1]
            module = ".".join([*above, *([module] if module else [])])
        return {each.asname or each.name: f"{module}.{each.name}" for each in node.names if each.name != "*"}


class _WritesOut(ast.NodeTransformer):
    """Replaces names. ``at`` is where the expression stands in its file."""

    def __init__(self, file: File, at: ast.AST, steps: int = 0, bound: frozenset[str] = frozenset()) -> None:
        self._file = file
        self._at = at
        self._steps = steps
        self._bound = bound

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id in self._bound or not isinstance(node.ctx, ast.Load):
            return node
        value = self._file.value_of(node.id, self._at)
        if value is not None:
            return self._of(value)
        first, *rest = _checked(self._file.full_name(node.id)).split(".")
        name: ast.expr = ast.Name(first, ast.Load())
        for part in rest:
            name = ast.Attribute(name, part, ast.Load())
        return name

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id == "self" and "self" not in self._bound:
            return self._of(self._file.attribute_of_self(node.attr, self._at))
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute) and node.func.attr in _PLACING:
            return self.visit(node.func.value)
        if FROM_FILES.search(ast.unparse(node.func).rpartition(".")[2]):
            raise NotWritable
        return self.generic_visit(node)

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return self._inside(node, {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)})

    def visit(self, node: ast.AST) -> Any:
        """The node that takes the place of ``node``. Raises NotWritable."""
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            raise NotWritable
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
            names = (n for each in node.generators for n in ast.walk(each.target))
            return self._inside(node, {n.id for n in names if isinstance(n, ast.Name)})
        return super().visit(node)

    def _inside(self, node: ast.AST, bound: set[str]) -> ast.AST:
        return _WritesOut(self._file, self._at, self._steps, self._bound | bound).generic_visit(node)

    def _of(self, value: ast.expr) -> Any:
        if self._steps >= MOST_STEPS:
            raise NotWritable
        return _WritesOut(self._file, value, self._steps + 1).visit(copy.deepcopy(value))


def _checked(full: str) -> str:
    """``full``, unless it is of a module of Python's own that does more than make values."""
    root = full.partition(".")[0]
    if root in sys.stdlib_module_names and root not in _OF_PYTHON:
        raise NotWritable
    return full


def _assigned(scope: ast.AST, name: str, before: int = sys.maxsize) -> ast.expr | None:
    """The last value that ``scope`` itself assigns to ``name`` above the line ``before``; the first item of what it loops over."""
    found: ast.expr | None = None
    for node in _statements(scope):
        if getattr(node, "lineno", 0) >= before:
            break
        if isinstance(node, ast.Assign):
            for target in node.targets:
                found = _value_for(name, target, node.value) or found
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            found = _value_for(name, node.target, node.value) or found
        elif isinstance(node, ast.For) and isinstance(node.iter, (ast.Tuple, ast.List)) and node.iter.elts:
            found = _value_for(name, node.target, node.iter.elts[0]) or found
        elif isinstance(node, ast.For) and _value_for(name, node.target, node.iter) is not None:
            raise NotWritable
    return found


def _value_for(name: str, target: ast.expr, value: ast.expr) -> ast.expr | None:
    if isinstance(target, ast.Name):
        return value if target.id == name else None
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        pairs = zip(target.elts, value.elts, strict=False) if len(target.elts) == len(value.elts) else ()
        return next((found for t, v in pairs if (found := _value_for(name, t, v)) is not None), None)
    if isinstance(target, (ast.Tuple, ast.List)) and any(isinstance(t, ast.Name) and t.id == name for t in target.elts):
        raise NotWritable
    return None


def _statements(scope: ast.AST) -> Iterator[ast.AST]:
    """The statements of ``scope``, without those of functions and classes in it, in the order of lines."""
    for child in ast.iter_child_nodes(scope):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(child, ast.stmt):
            yield child
        if isinstance(child, (ast.stmt, ast.ExceptHandler)):
            yield from _statements(child)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)]


def _default(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> ast.expr | None:
    """The default of a parameter; else the first of the values that a decorator of a test gives it: `parametrize("width", [8, 16])`."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    late = zip(reversed(positional), reversed(arguments.defaults), strict=False)
    for each, default in (*late, *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)):
        if each.arg == name and default is not None:
            return default
    for call in (each for each in function.decorator_list if isinstance(each, ast.Call) and len(each.args) > 1):
        names, values = call.args[:2]
        if isinstance(names, ast.Constant) and isinstance(values, (ast.List, ast.Tuple)) and values.elts:
            called = [each.strip() for each in str(names.value).split(",")]
            first = values.elts[0]
            items = first.elts if len(called) > 1 and isinstance(first, (ast.Tuple, ast.List)) else [first]
            if name in called and len(items) == len(called):
                return items[called.index(name)]
    return None
