"""Reads one of the user's files: which statements bind which name, and their text without compile decorators."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import os
import textwrap
from collections.abc import Container, Iterator
from typing import Any

from ..runtime.parsed_source import UnreadableText, parsed

Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
COMPILE_CALLS = (
    "torch.compile",
    "torch._dynamo.optimize",
    "torch.compiler.compile",
    "compile",
    "_dynamo.optimize",
    "dynamo.optimize",
)
REGISTRATION_WORDS = ("register", "impl", "custom_op", "library", "define", "triton_op")


class SourceText:
    """The text of ``file`` as it was in this run (unsaved text included), and its syntax tree."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._lines = linecache.getlines(file)
        tree = parsed("".join(self._lines))
        if tree is None:
            raise UnreadableText(f"{os.path.basename(file)} is too long or nested too deep")
        self._tree = tree
        self.bindings: dict[str, list[ast.stmt]] = {}
        self.star_imports: list[str] = []
        self.has_future_annotations = False
        for statement in self._statements():
            self._read(statement)

    def _statements(self) -> Iterator[ast.stmt]:
        """The statements at the top level, with those under ``if __name__ == "__main__"``."""
        for statement in self._tree.body:
            if isinstance(statement, ast.If) and is_main_guard(statement):
                yield from statement.body
            else:
                yield statement

    def _read(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.ImportFrom):
            self.has_future_annotations |= any(a.name == "annotations" for a in statement.names)
            if any(alias.name == "*" for alias in statement.names):
                self.star_imports.append(ast.unparse(statement))
        for name in _bound_by(statement):
            self.bindings.setdefault(name, []).append(statement)

    @functools.cached_property
    def changed_globals(self) -> set[str]:
        """Names that some function declares ``global``."""
        return {name for node in ast.walk(self._tree) if isinstance(node, ast.Global) for name in node.names}

    def names_in(self, node: ast.AST) -> list[str]:
        """Every name that ``node`` reads, in order, without those in compile decorators."""
        skipped = {id(n) for d in _compile_decorators(node) for n in ast.walk(d)}
        found = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and id(n) not in skipped]
        # annotations in quotes
        for text in (n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)):
            if text.isidentifier() and text in self.bindings and len(text) > 2:
                bound = self.bindings[text][0]
                if isinstance(bound, ast.ClassDef):
                    found.append(text)
        return list(dict.fromkeys(found))

    def submodules_in(self, node: ast.AST, loaded: Container[str]) -> Iterator[str]:
        """Submodules of imported packages that ``node`` reaches by attributes, as in ``torch._inductor.lowering.lowerings``.

        In the program, something else had imported them. Those of three parts and private ones are not there after ``import torch``.
        """
        found = {name for n in ast.walk(node) if isinstance(n, ast.Attribute) and (name := _dotted(n)) in loaded}
        for name in sorted(found):
            parts = name.split(".")
            is_bound = any(isinstance(b, ast.Import) for b in self.bindings.get(parts[0], ()))
            is_outer = any(other.startswith(f"{name}.") for other in found)
            if is_bound and not is_outer and (len(parts) > 2 or any(part.startswith("_") for part in parts)):
                yield name

    def uses_of(self, name: str) -> list[ast.stmt]:
        """Statements at the top level that register something with ``name``: ``name.register_autograd(…)``, or a decorator of it."""
        bound = self.bindings.get(name, [])
        if not any(isinstance(statement, (*Definition, ast.Assign)) for statement in bound):
            return []
        return [s for s in self._statements() if s not in bound and _registers_with(s, name)]

    def registrations(self) -> list[ast.stmt]:
        """Statements at the top level that register something with torch, or replace a function of torch's."""
        found = []
        for statement in self._statements():
            calls: list[ast.expr] = []
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                calls = [statement.value]
            elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                calls = statement.decorator_list
            if any(_registers(call) for call in calls) or self._replaces_in_torch(statement):
                found.append(statement)
        return found

    def _replaces_in_torch(self, statement: ast.stmt) -> bool:
        """``lowering.lowerings[op] = mine``, ``Scheduler.fuse_nodes = mine``.

        Options are read from torch's config modules, and what is replaced in another way is found in the libraries (``patches``).
        """
        if not isinstance(statement, ast.Assign):
            return False
        value = statement.value
        is_function = isinstance(value, ast.Lambda) or (
            isinstance(value, ast.Name) and any(isinstance(s, Definition) for s in self.bindings.get(value.id, ()))
        )
        is_literal = isinstance(value, ast.Constant)
        return any(
            isinstance(target, ast.Subscript)
            or (isinstance(target, ast.Attribute) and (is_function or (is_literal and not _is_option(target))))
            for target in statement.targets
            if self._is_of_torch(target)
        )

    def _is_of_torch(self, target: ast.expr) -> bool:
        while isinstance(target, (ast.Subscript, ast.Attribute)):
            target = target.value
        if not isinstance(target, ast.Name):
            return False
        for bound in self.bindings.get(target.id, ()):
            names = [bound.module or ""] if isinstance(bound, ast.ImportFrom) else []
            names += [alias.name for alias in bound.names] if isinstance(bound, ast.Import) else []
            if any(name.partition(".")[0] == "torch" for name in names):
                return True
        return False

    def definition_of(self, value: Any) -> Any:
        """The node of a lambda, function or class, found by its line and name; None if there is none."""
        code = getattr(value, "__code__", None)
        # a wrapper may have the name of what it wraps
        name = code.co_name if code is not None else value.__qualname__.rpartition(".")[2]
        if name == "<lambda>" and code is not None:
            lambdas = [n for n in ast.walk(self._tree) if isinstance(n, ast.Lambda) and n.lineno == code.co_firstlineno]
            return _only(lambdas, code)
        line = code.co_firstlineno if code is not None else _class_line(value)
        for node in ast.walk(self._tree):
            if isinstance(node, Definition) and node.name == name:
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                if line in (None, first, node.lineno):
                    return node
        return None

    def dedented(self, node: Any, name: str) -> str:
        """The text of a node at the left margin; a lambda becomes ``name = lambda …``."""
        if isinstance(node, ast.Lambda):
            return f"{name} = {ast.unparse(node)}"
        return textwrap.dedent(self.without_compile(node))

    def without_compile(self, node: Any) -> str:
        """The text of a statement without the decorators that compile it or something in it."""
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        lines = self._lines[first - 1 : node.end_lineno]
        removed: set[int] = set()
        for decorator in _compile_decorators(node):
            removed |= set(range(decorator.lineno - first, (decorator.end_lineno or decorator.lineno) - first + 1))
        text = "".join(line for number, line in enumerate(lines) if number not in removed)
        if node.col_offset and not isinstance(node, ast.Lambda):
            text = textwrap.dedent(text)
        return text.rstrip("\n")


def _is_option(target: ast.Attribute) -> bool:
    """Whether this is ``torch._dynamo.config.name``, or ``config.name`` for a config module."""
    return any("config" in part for part in _dotted(target.value).split("."))


def is_main_guard(statement: ast.If) -> bool:
    """Whether this is ``if __name__ == "__main__"``."""
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(statement.test))


def compiles(expression: ast.expr) -> bool:
    """Whether an expression is a call of ``torch.compile``, or a decorator that compiles."""
    if isinstance(expression, ast.Call):
        if isinstance(expression.func, ast.Call) or _dotted(expression.func).endswith("partial"):
            return any(compiles(part) for part in (expression.func, *expression.args))
        return _dotted(expression.func) in COMPILE_CALLS
    return _dotted(expression) in COMPILE_CALLS


def _compile_decorators(node: ast.AST) -> list[ast.expr]:
    return [d for n in ast.walk(node) if isinstance(n, Definition) for d in n.decorator_list if compiles(d)]


def _dotted(expression: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(expression, ast.Attribute):
        parts.append(expression.attr)
        expression = expression.value
    if isinstance(expression, ast.Name):
        parts.append(expression.id)
    return ".".join(reversed(parts))


def _bound_by(statement: ast.stmt) -> list[str]:
    """Names that a statement binds at its own level, also within ``if``, ``try``, ``with`` and ``for``."""
    if isinstance(statement, Definition):
        return [statement.name]
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
    found = [n.id for n in _own_nodes(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt):
            found += _bound_by(child)
        elif isinstance(child, ast.ExceptHandler):
            found += [name for inner in child.body for name in _bound_by(inner)]
    return found


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Expressions of a statement, without those of statements inside it and without variables of comprehensions."""
    pending: list[ast.AST] = [
        c for c in ast.iter_child_nodes(statement) if not isinstance(c, (ast.stmt, ast.ExceptHandler))
    ]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            pending += ast.iter_child_nodes(node)


def _registers_with(statement: ast.stmt, name: str) -> bool:
    calls: list[ast.expr] = []
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        calls = [statement.value.func]
    elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        calls = [d.func if isinstance(d, ast.Call) else d for d in statement.decorator_list]
    return any(isinstance(call, ast.Attribute) and _dotted(call).startswith(f"{name}.register") for call in calls)


def _registers(call: ast.expr) -> bool:
    while isinstance(call, ast.Call):
        name = _dotted(call.func).rpartition(".")[2]
        if any(name.startswith(word) for word in REGISTRATION_WORDS):
            return True
        call = call.func
    return any(_dotted(call).rpartition(".")[2].startswith(word) for word in REGISTRATION_WORDS)


def _only(lambdas: list[ast.Lambda], code: Any) -> ast.Lambda | None:
    """The lambda among those on a line that ``code`` was compiled from."""
    if len(lambdas) == 1:
        return lambdas[0]
    parameters = code.co_varnames[: code.co_argcount]
    positions = getattr(code, "co_positions", None)
    if positions is not None:
        columns = [start for line, _, start, _ in positions() if line == code.co_firstlineno and start is not None]
        inside = [n for n in lambdas if columns and n.col_offset <= max(columns) <= (n.end_col_offset or 0)]
        lambdas = inside or lambdas
    return next((n for n in reversed(lambdas) if tuple(a.arg for a in n.args.args) == parameters), None)


def _class_line(value: Any) -> int | None:
    line = getattr(value, "__firstlineno__", None)  # Python 3.13
    if line is not None:
        return int(line)
    try:
        return inspect.getsourcelines(value)[1]
    except (OSError, TypeError):
        return None
