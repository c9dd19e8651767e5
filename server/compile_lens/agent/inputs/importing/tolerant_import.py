"""Runs a module's top level past statements that fail: what they would have bound is absent, and what needs it is skipped, too."""

from __future__ import annotations
import __future__

import ast
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from ...runtime.parsed_source import parsed
from .absent import Absent, NeedsAbsent

# mends a statement that failed: gets it, what it raised, and the names of its module; what remains, or None
Mend = Callable[[ast.stmt, BaseException, dict[str, Any]], "BaseException | None"]
_FEATURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
# why names of a module may be absent, by the name of the module
_failures: dict[str, BaseException] = {}


def failure_of(module: str) -> BaseException | None:
    """What the first statement of a module raised that was skipped; None where none was."""
    return _failures.get(module)


def run_tolerantly(
    code: CodeType,
    text: str,
    names: dict[str, Any],
    on_failure: Callable[[BaseException], object],
    mend: Mend | None = None,
) -> tuple[int, ...]:
    """Run ``code``, made of ``text``, with ``names``; the lines of the statements that failed.

    ``on_failure`` gets the exceptions that are not consequences of earlier ones, and may raise them. A statement that ``mend`` can run
    has not failed. A `sys.exit(0)` ends the module.
    """
    lines: list[int] = []
    tree: ast.Module | None = None
    flags = code.co_flags & _FEATURES
    while True:
        try:
            exec(code, names)
            return tuple(lines)
        except (Exception, SystemExit) as problem:  # code of the user's; argparse exits
            if isinstance(problem, SystemExit) and problem.code in (None, 0):
                return tuple(lines)
            line = _line_in(problem, names)
            tree = tree or parsed(text) or ast.Module([], [])
            index = next((i for i, node in enumerate(tree.body) if line and _first(node) <= line <= _last(node)), None)
            remaining: BaseException | None = problem
            if mend is not None and index is not None:
                remaining = mend(tree.body[index], problem, names)
            if remaining is not None:
                cause = remaining.cause if isinstance(remaining, NeedsAbsent) else remaining
                if not isinstance(remaining, NeedsAbsent):
                    on_failure(remaining)
                _failures.setdefault(str(names.get("__name__")), cause)
            if index is None:
                return tuple(lines)
            if remaining is not None:
                failed = tree.body[index]
                lines.append(failed.lineno)
                for name in _bound(failed):
                    names.setdefault(name, Absent(cause))
            rest = ast.Module(tree.body[index + 1 :], [])
            if not rest.body:
                return tuple(lines)
            code = compile(rest, code.co_filename, "exec", flags, dont_inherit=True)


def _line_in(problem: BaseException, names: dict[str, Any]) -> int:
    """The line of the module's top level that raised ``problem``; 0 if it did not run."""
    entry = problem.__traceback__
    while entry is not None:
        if entry.tb_frame.f_globals is names and entry.tb_frame.f_code.co_name == "<module>":
            return entry.tb_lineno
        entry = entry.tb_next
    return 0


def _first(node: ast.stmt) -> int:
    return min((d.lineno for d in getattr(node, "decorator_list", ())), default=node.lineno)


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _bound(node: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module's top level binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((a.asname or a.name).partition(".")[0] for a in node.names if a.name != "*")
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id
        elif isinstance(child, ast.stmt):
            yield from _bound(child)
        elif isinstance(child, ast.Tuple | ast.List | ast.ExceptHandler):
            yield from (n.id for n in ast.walk(child) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
