"""Makes a definition again without the part of it that failed: an annotation, a default, a decorator, or what a library lacks.

A function or a class whose annotation cannot be evaluated is the same without it, so annotations are taken as text. A default that
failed is absent, and a decorator that failed is left out. What runs only when the function is called is never touched.
"""

from __future__ import annotations
import __future__

import ast
import copy
import sys
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, TracebackType
from typing import Any

from ...runtime.foreign_code import attempted
from .absent import Absent, NeedsAbsent

# a name that stands for a part of a statement
PART = "__compile_lens_part_{}__"
MOST_PARTS = 12
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# whose result does not depend on what came before of the same statement
MADE_AGAIN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.Expr)
_TEXT = __future__.annotations.compiler_flag


def made_again(
    node: ast.stmt, problem: Exception, names: dict[str, Any], file: str, lacking: Callable[[Any, str], Any]
) -> Exception | None:
    """Run ``node``, a statement of a module or of its `if`, in ``names`` without the parts of it that fail. What it raises at last; None
    where it has run.

    ``lacking`` says what replaces an attribute that an object does not have; None where nothing does.
    """
    if not isinstance(node, MADE_AGAIN):
        return problem
    statement = copy.deepcopy(node)
    flags = 0
    for _ in range(MOST_PARTS):
        place = _place_in(problem, names)
        if place is None:
            return problem
        if not flags & _TEXT and any(_holds(part, place) for part in _annotations(statement)):
            flags |= _TEXT
        elif not (
            _replaced_attribute(statement, problem, names, lacking)
            or _replaced_default(statement, problem, names, place)
            or _dropped_decorator(statement, place)
        ):
            return problem
        error = attempt(statement, names, file, flags)
        if error is None:
            return None
        problem = error
    return problem


def attempt(node: ast.stmt, names: dict[str, Any], file: str, flags: int = 0) -> Exception | None:
    """Run ``node`` in ``names``; what it raises."""
    try:
        exec(compile(ast.Module([node], []), file, "exec", flags, dont_inherit=True), names)
    except Exception as error:  # code of the user's may raise anything
        return error
    return None


Place = tuple[int, int, int, int]  # first line, last line, first column, last column; columns below 0 are not known


def _place_in(problem: BaseException, names: dict[str, Any]) -> Place | None:
    """Where the module's top level, or a class of it, was when ``problem`` was raised; None where no such code ran."""
    found: TracebackType | None = None
    entry = problem.__traceback__
    while entry is not None:
        if entry.tb_frame.f_globals is names and not _is_function(entry.tb_frame.f_code):
            found = entry
        entry = entry.tb_next
    if found is None:
        return None
    line = found.tb_lineno
    if sys.version_info >= (3, 11):
        positions = list(found.tb_frame.f_code.co_positions())[found.tb_lasti // 2]
        first, last, column, end = positions
        if first is not None and last is not None and column is not None and end is not None:
            return first, last, column, end
    return line, line, -1, -1


def _is_function(code: CodeType) -> bool:
    return bool(code.co_flags & 0x1)  # CO_OPTIMIZED (inspect.CO_OPTIMIZED): its names are local


def _holds(part: ast.expr, place: Place) -> bool:
    """Whether what ran at ``place`` is ``part``, or inside of it."""
    first, last, column, end = place
    part_end = part.end_lineno or part.lineno
    if column < 0:
        return part.lineno <= first <= part_end
    return (part.lineno, part.col_offset) <= (first, column) and (last, end) <= (part_end, part.end_col_offset or 0)


def _definitions(node: ast.stmt) -> Iterator[Definition]:
    """``node`` and what is defined in it before any of it is called: the methods of a class, and its classes."""
    if isinstance(node, Definition):
        yield node
    if isinstance(node, ast.ClassDef):
        for each in node.body:
            yield from _definitions(each)


def _annotations(node: ast.stmt) -> Iterator[ast.expr]:
    for each in _definitions(node):
        if isinstance(each, ast.ClassDef):
            yield from (part.annotation for part in each.body if isinstance(part, ast.AnnAssign))
            continue
        arguments = each.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        yield from (one.annotation for one in every if one is not None and one.annotation is not None)
        if each.returns is not None:
            yield each.returns
    if isinstance(node, ast.AnnAssign):
        yield node.annotation


def _replaced_default(node: ast.stmt, problem: Exception, names: dict[str, Any], place: Place) -> bool:
    """Have what is absent in the place of the default that failed."""
    cause = problem.cause if isinstance(problem, NeedsAbsent) else problem
    for each in _definitions(node):
        for defaults in () if isinstance(each, ast.ClassDef) else (each.args.defaults, each.args.kw_defaults):
            for index, default in enumerate(defaults):
                if default is not None and _holds(default, place):
                    defaults[index] = _bound(default, Absent(cause), names)
                    return True
    return False


def _dropped_decorator(node: ast.stmt, place: Place) -> bool:
    for each in _definitions(node):
        for decorator in each.decorator_list:
            if _holds(decorator, place):
                each.decorator_list.remove(decorator)
                return True
    return False


def _replaced_attribute(
    node: ast.stmt, problem: Exception, names: dict[str, Any], lacking: Callable[[Any, str], Any]
) -> bool:
    """Have a stand-in where ``node`` asks a library for what it lacks."""
    owner, name = getattr(problem, "obj", None), getattr(problem, "name", None)
    if not isinstance(problem, AttributeError) or owner is None or not name:
        return False
    asking = [each for each in _evaluated(node) if each.attr == name and _value(each.value, names) is owner]
    found = lacking(owner, name) if asking else None
    if found is None:
        return False
    _Replacing({id(each) for each in asking}, lambda each: _bound(each, found, names)).visit(node)
    return True


def _bound(place: ast.expr, value: Any, names: dict[str, Any]) -> ast.expr:
    """A name of ``value`` at ``place``."""
    name = next(each for each in map(PART.format, range(sys.maxsize)) if each not in names)
    names[name] = value
    return ast.copy_location(ast.Name(name, ast.Load()), place)


class _Replacing(ast.NodeTransformer):
    def __init__(self, which: set[int], make: Callable[[ast.expr], ast.expr]) -> None:
        self._which, self._make = which, make

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self._make(node) if id(node) in self._which else self.generic_visit(node)


def _evaluated(node: ast.AST) -> Iterator[ast.Attribute]:
    """The attributes that are read while the statement itself runs."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        inside: Sequence[ast.AST] = (*node.decorator_list, node.args, *([node.returns] if node.returns else ()))
    elif isinstance(node, ast.Lambda):
        inside = (node.args,)
    else:
        inside = tuple(ast.iter_child_nodes(node))
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        yield node
    for each in inside:
        yield from _evaluated(each)


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    """What a dotted name stands for; None where it is another expression, or stands for nothing."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, names)
        return attempted(lambda: getattr(owner, node.attr)) if owner is not None else None
    return None
