"""Rewrites a program so that a statement that fails does not take the rest with it.

Statements at the top level and on the way to the model (functions and plain classes of the file) are guarded one by one: what a failed
one would have bound is absent (``absent.py``), so what depends on it fails, too, and is skipped. Modules, what they use, and what is
compiled stay as they are: they are analyzed later. A `try` of the program's that handles errors keeps them; where all that follows is the
end of the program, it handles none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...runtime.handlers import only_says, providing
from ...runtime.parsed_source import parsed
from ..importing.definitions import MADE_AGAIN

GUARD = "__compile_lens_guard__"
ERROR = "__compile_lens_error__"
_AS_THEY_ARE = (ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal)
_COMPILES = re.compile(r"\b(?:compile|jit|optimize|script|trace|Function)\b")
# a class with one of these is not on the way to the model: it is one, or it is data
_NOT_ON_THE_WAY = frozenset({"forward", "__getitem__", "__iter__", "__torch_function__"})
_ENDINGS = frozenset({"KeyboardInterrupt", "SystemExit", "GeneratorExit"})


def rewritten(
    source: str, file: str, guarded: dict[tuple[int, int], ast.stmt] | None = None, in_heirs: bool = False
) -> Any:
    """The code of ``source`` with guards; ``GUARD`` must be among its names. Raises SyntaxError.

    A program that is too long or nested too deep has none: it ends at its first error. ``guarded`` gets the statements that may be mended,
    by line and column: imports, and what stands outside of functions. ``in_heirs``: classes that inherit from others have guards, too,
    since who runs their methods knows that they are no modules.
    """
    tree = parsed(source)
    if tree is None:
        return compile(source, file, "exec", dont_inherit=True)
    kept = _kept(tree)
    first = 1 if ast.get_docstring(tree) is not None else 0
    while first < len(tree.body) and isinstance(tree.body[first], ast.ImportFrom) and _is_future(tree.body[first]):
        first += 1
    guarding = _Guarding(kept, {} if guarded is None else guarded, _at_the_end(tree), in_heirs)
    tree.body[first:] = guarding.block(tree.body[first:])
    return compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _kept(tree: ast.Module) -> frozenset[str]:
    """Functions that stay as they are: what modules and compiled functions use, and what is given to a compiler."""
    functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    waiting: list[ast.AST] = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and not _is_on_the_way(n)]
    waiting += [f for f in functions.values() if any(_COMPILES.search(ast.unparse(d)) for d in f.decorator_list)]
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and _COMPILES.search(ast.unparse(call.func)):
            waiting += [functions[a.id] for a in call.args if isinstance(a, ast.Name) and a.id in functions]
    found: set[str] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & functions.keys()
        waiting += [functions[name] for name in used - found]
        found |= used
    return frozenset(found)


def _at_the_end(tree: ast.Module) -> frozenset[int]:
    """The `try` statements, by ``id``, after which the program only ends: the last of its top level, and of the functions called there."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    waiting: list[ast.stmt] = tree.body[-1:]
    found: set[int] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Try):
            found.add(id(node))
        for each in ("body", "orelse") if isinstance(node, ast.If | ast.With | ast.Try) else ():
            waiting += getattr(node, each, [])[-1:]
        calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)] if isinstance(node, ast.Expr) else []
        called = [functions.pop(call.func.id, None) for call in calls if isinstance(call.func, ast.Name)]
        waiting += [function.body[-1] for function in called if function is not None]
    return frozenset(found)


def _is_on_the_way(node: ast.ClassDef, in_heirs: bool = False) -> bool:
    """Whether it is a plain class, such as a trainer; or with ``in_heirs`` any that may be none of modules or data."""
    is_plain = in_heirs or all(isinstance(base, ast.Name) and base.id == "object" for base in node.bases)
    return is_plain and not any(getattr(n, "name", "") in _NOT_ON_THE_WAY for n in node.body)


class _Guarding:
    def __init__(
        self,
        kept: frozenset[str],
        guarded: dict[tuple[int, int], ast.stmt],
        at_the_end: frozenset[int],
        in_heirs: bool,
    ) -> None:
        self._kept = kept
        self._mended = guarded
        self._at_the_end = at_the_end
        self._in_heirs = in_heirs
        self._count = 0
        self._functions = 0

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [each for statement in statements for each in self._statement(statement)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, _AS_THEY_ARE):
            return [node]
        if isinstance(node, ast.FunctionDef):
            self._function(node)
        elif isinstance(node, ast.ClassDef):
            if _is_on_the_way(node, self._in_heirs):
                for each in node.body:
                    if isinstance(each, ast.FunctionDef):
                        self._function(each)
        elif isinstance(node, ast.If):
            node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        elif isinstance(node, ast.For):
            return self._for(node)
        elif isinstance(node, ast.While) and not node.orelse:
            self._while(node)
        elif isinstance(node, ast.With):
            return self._with(node)
        elif isinstance(node, ast.Try):
            return self._try(node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            return [self._import(node)]
        return [self._guarded(node)]

    def _import(self, node: ast.Import | ast.ImportFrom) -> ast.stmt:
        guarded: Any = self._guarded(node)
        guarded.body = [_at(node, ast.With([ast.withitem(_expression(f"{GUARD}.importing()", node))], [node]))]
        result: ast.stmt = guarded
        return result

    def _function(self, node: ast.FunctionDef) -> None:
        is_generator = any(isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(node))
        if node.name not in self._kept and not is_generator:
            self._functions += 1
            node.body = self.block(node.body)
            self._functions -= 1

    def _guarded(self, node: ast.stmt) -> ast.stmt:
        """``node`` in a `try`, which makes what it would have bound absent."""
        names = sorted({n.id for n in _stored(node)} - {"*"})
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names = [node.name]
        is_simple = isinstance(
            node, ast.Assign | ast.AnnAssign | ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
        )
        place = f"{node.lineno}, {node.col_offset}, globals()"
        if isinstance(node, ast.Import | ast.ImportFrom):
            # of several names that are imported, one may be there
            self._mended[node.lineno, node.col_offset] = node
            lines = [f"{GUARD}.last = {GUARD}.imported({ERROR}, {place})"]
            lines += [f"{name} = {GUARD}.last[{name!r}]" for name in names]
            return self._tried(node, lines)
        failed = f"{GUARD}.failed({ERROR}, {node.lineno})"
        lines = [f"{'return' if isinstance(node, ast.Return) else f'{GUARD}.last ='} {failed}"]
        for name in names:
            bound = f"{name} = {GUARD}.last"
            # a compound statement may have bound it, or found it bound
            lines += [bound] if is_simple else [f"try: {name}", f"except NameError: {bound}"]
        if not self._functions and isinstance(node, MADE_AGAIN):
            self._mended[node.lineno, node.col_offset] = node
            lines = [f"if not {GUARD}.mended({ERROR}, {place}):", *(f"    {line}" for line in lines)]
        return self._tried(node, lines)

    def _tried(self, node: ast.stmt, lines: Sequence[str]) -> ast.stmt:
        guarded: ast.stmt = _at(node, ast.Try([node], [_handler("\n".join(lines), node)], [], []))
        return guarded

    def _for(self, node: ast.For) -> list[ast.stmt]:
        self._count += 1
        values, item = f"__compile_lens_values_{self._count}__", f"__compile_lens_item_{self._count}__"
        taken = self._guarded(_at(node.iter, ast.Assign([_name(values, node.iter, ast.Store())], node.iter)))
        bound = self._guarded(_at(node.target, ast.Assign([node.target], _name(item, node.target, ast.Load()))))
        node.body = [bound, *self.block(node.body)]
        node.iter = _expression(f"{GUARD}.each({values})", node.iter)
        node.target = _name(item, node.target, ast.Store())
        node.orelse = self.block(node.orelse)
        return [taken, self._guarded(node)]

    def _while(self, node: ast.While) -> None:
        self._count += 1
        end = _at(
            node.test, ast.If(_at(node.test, ast.UnaryOp(ast.Not(), node.test)), [_at(node.test, ast.Break())], [])
        )
        failed = f"{GUARD}.failed({ERROR}, {node.lineno})\nbreak"
        node.body = [_at(node.test, ast.Try([end], [_handler(failed, node.test)], [], [])), *self.block(node.body)]
        node.test = _expression(f"{GUARD}.turn({self._count})", node.test)

    def _with(self, node: ast.With) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        for each in node.items:
            self._count += 1
            name = f"__compile_lens_context_{self._count}__"
            place = each.context_expr
            before.append(self._guarded(_at(place, ast.Assign([_name(name, place, ast.Store())], place))))
            each.context_expr = _expression(f"{GUARD}.context({name})", place)
        node.body = self.block(node.body)
        return [*before, self._guarded(node)]

    def _try(self, node: ast.Try) -> list[ast.stmt]:
        handlers = providing(node.handlers)
        if id(node) in self._at_the_end:
            handlers = [each for each in handlers if not only_says(each)]
        names = {n.id for each in handlers if each.type for n in ast.walk(each.type) if isinstance(n, ast.Name)}
        handles_errors = any(each.type is None for each in handlers) or bool(names - _ENDINGS)
        if handles_errors:
            expecting = ast.withitem(_expression(f"{GUARD}.expecting()", node))
            node.body = [_at(node, ast.With([expecting], node.body))]
        else:
            node.body = self.block(node.body)
        for handler in node.handlers:
            handler.body = self.block(handler.body)
        node.orelse, node.finalbody = self.block(node.orelse), self.block(node.finalbody)
        return [self._guarded(node)]


def _handler(text: str, place: Any) -> ast.ExceptHandler:
    kind = _name("BaseException", place, ast.Load())
    handler: ast.ExceptHandler = _at(place, ast.ExceptHandler(kind, ERROR, ast.parse(text).body))
    for statement in handler.body:
        _at_all(statement, place)
    return handler


def _expression(text: str, place: ast.AST) -> Any:
    return _at_all(ast.parse(text, mode="eval").body, place)


def _name(name: str, place: ast.AST, context: ast.expr_context) -> Any:
    return _at(place, ast.Name(name, context))


def _at(place: Any, node: Any) -> Any:
    """``node`` at the lines of ``place``."""
    for field in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        setattr(node, field, getattr(place, field))
    return node


def _at_all(node: Any, place: ast.AST) -> Any:
    for child in ast.walk(node):
        if hasattr(child, "lineno"):
            _at(place, child)
    return node


def _stored(node: ast.AST) -> Iterator[ast.Name]:
    """The names that ``node`` binds in its own scope."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield ast.Name((alias.asname or alias.name).partition(".")[0])
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield ast.Name(child.name)
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            if not child.id.startswith("__compile_lens") or isinstance(node, ast.Assign):
                yield child
        elif not isinstance(child, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            yield from _stored(child)
