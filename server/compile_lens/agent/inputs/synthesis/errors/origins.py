"""Which arguments of a call what failed was computed of: the names in the failing expression, what was assigned to them before, and what
the functions around it passed on.

With several tensors, most errors name none of them, and a change to each in turn takes as many trials as there are.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from types import FrameType, TracebackType

from .... import OWN_FOLDER
from ..terms.arguments import INSIDE
from .failed_conditions import source_tree

_TORCH = f"{os.sep}torch{os.sep}"
# of assignments that lead from an argument to what failed
MOST_STEPS = 12
_ASSIGNED = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.comprehension, ast.NamedExpr, ast.withitem)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Origins:
    """How near each argument of a call is to what made it fail."""

    def __init__(self, error: BaseException) -> None:
        self._steps = _steps_to_parameters(error)
        # what is joined has parts of its own: `cat([x, hidden])` of channels
        self.is_of_joined = "same number of dimensions" in str(error)

    def steps(self, path: str) -> int:
        """How many assignments are between the argument ``path`` and what failed: 0 where the failing expression names it, and MOST_STEPS
        where nothing leads to it. Of what is inside of another (`batch/pixels`), its own name counts first."""
        known = (
            self._steps[name] for name in (path.rpartition(INSIDE)[2], path.partition(INSIDE)[0]) if name in self._steps
        )
        return next(known, MOST_STEPS)

    def are_all_behind(self, paths: Iterable[str]) -> bool:
        """Whether what failed was computed of each of ``paths``."""
        return all(self.steps(path) < MOST_STEPS for path in paths)


def _steps_to_parameters(error: BaseException) -> dict[str, int]:
    """The names that lead to what failed, in the outermost function of the program, with the number of assignments between."""
    wanted: list[str] | None = None
    inner: FrameType | None = None
    found: dict[str, int] = {}
    for entry in reversed([*frames_of_program(error)]):
        tree = source_tree(entry.tb_frame)
        row = entry.tb_lineno - entry.tb_frame.f_code.co_firstlineno + 1
        statement = _statement_at(tree, row) if tree is not None else None
        if tree is None or statement is None or (found and _passes_all(statement)):
            continue  # a wrapper passes what it gets
        names = _passed(statement, inner, wanted) if inner is not None and wanted is not None else None
        found = _backwards(tree, names if names is not None else list(_names_in(statement)), row)
        wanted, inner = list(found), entry.tb_frame
    return found


def frames_of_program(error: BaseException) -> Iterator[TracebackType]:
    """Where ``error`` came through, the outermost first, without torch and what calls the program."""
    entry = error.__traceback__
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        if not file.startswith((OWN_FOLDER, "<")) and _TORCH not in file:
            yield entry
        entry = entry.tb_next


def _statement_at(tree: ast.AST, row: int) -> ast.AST | None:
    """The innermost statement in ``row``: of a loop or a condition, what it goes over or asks."""
    found: ast.AST | None = None
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.stmt)
            and not isinstance(node, _FUNCTIONS)
            and node.lineno <= row <= (node.end_lineno or row)
        ):
            found = node
    if isinstance(found, ast.For):
        return found.iter
    return found.test if isinstance(found, (ast.If, ast.While)) else found


def _passes_all(statement: ast.AST) -> bool:
    calls = [each for each in ast.walk(statement) if isinstance(each, ast.Call)]
    return len(calls) == 1 and any(isinstance(each, ast.Starred) for each in calls[0].args)


def _passed(statement: ast.AST, inner: FrameType, wanted: list[str]) -> list[str] | None:
    """The names that ``statement`` passes for the parameters ``wanted`` of the function that it calls; None where that is not seen."""
    code = inner.f_code
    parameters = list(code.co_varnames[: code.co_argcount])
    parameters = parameters[1:] if parameters[:1] == ["self"] else parameters
    if not {*wanted} & {*parameters}:
        return None
    calls = [each for each in ast.walk(statement) if isinstance(each, ast.Call)]
    if len(calls) != 1 or any(isinstance(each, ast.Starred) for each in calls[0].args):
        return None
    given = dict(zip(parameters, calls[0].args, strict=False))
    given.update({each.arg: each.value for each in calls[0].keywords if each.arg})
    return [name for each in wanted if each in given for name in _names_in(given[each])]


def _backwards(tree: ast.AST, names: list[str], row: int) -> dict[str, int]:
    """``names`` and what was assigned to them before ``row``, or in a loop, with the number of assignments between, the nearest first."""
    assigned: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, _ASSIGNED) and getattr(node, "lineno", 0) <= row:
            targets, value = _sides(node)
            for name in (each for target in targets for each in _names_in(target)):
                assigned.setdefault(name, []).extend(_names_in(value))
    found = dict.fromkeys(names, 0)
    waiting = list(found)
    while waiting:
        name = waiting.pop(0)
        for each in assigned.get(name, ()):
            if each not in found and found[name] + 1 < MOST_STEPS:
                found[each] = found[name] + 1
                waiting.append(each)
    return found


def _sides(node: ast.AST) -> tuple[list[ast.expr], ast.expr]:
    """What is assigned to, and what of."""
    if isinstance(node, ast.Assign):
        return node.targets, node.value
    if isinstance(node, (ast.For, ast.comprehension)):
        return [node.target], node.iter
    if isinstance(node, ast.withitem):
        return [node.optional_vars] if node.optional_vars is not None else [], node.context_expr
    value = getattr(node, "value", None)
    return [node.target], value if value is not None else ast.Constant(None)  # type: ignore[attr-defined]


def _names_in(node: ast.AST) -> Iterator[str]:
    """The variables in ``node``, and the keys and attributes that are read: `batch` and `pixels` for `batch["pixels"]`."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id != "self":
            yield each.attr
        elif (
            isinstance(each, ast.Subscript)
            and isinstance(each.slice, ast.Constant)
            and isinstance(each.slice.value, str)
        ):
            yield each.slice.value
