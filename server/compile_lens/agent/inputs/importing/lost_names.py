"""Supplies names that an `import *` would have bound, once they are used: from a module that is not there, or that has lost names itself.

Nothing says which names those are before one is not found. The error of the program would be that of a name; its cause is the import's.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import sys
from typing import Any

from ...runtime.foreign_code import attempted
from ...runtime.parsed_source import parsed_file
from .absent import Absent, StubModule
from .definitions import attempt
from .tolerant_import import failure_of

MOST_NAMES = 40
# what stands for each name of a module from which all were to be imported
_lost: dict[str, Any] = {}


def lose_names(module: str, value: Any) -> None:
    """Whatever is asked of ``module`` is ``value``: all of its names were to be imported, which failed."""
    _lost.setdefault(module, value)


def with_lost_names(node: ast.stmt, problem: Exception, names: dict[str, Any], path: str) -> Exception | None:
    """What ``node``, a statement of the file ``path`` that raised ``problem``, raises in ``names`` with the names that were lost; None
    where it has run."""
    for _ in range(MOST_NAMES):
        name = getattr(problem, "name", None)
        if type(problem) is not NameError or not isinstance(name, str) or not _is_of(problem, names):
            return problem
        value = _in_place_of(name, names.get("__package__"), path, set())
        if value is None:
            return problem
        names[name] = value
        error = attempt(node, names, path)
        if error is None:
            return None
        problem = error
    return problem


def _is_of(problem: BaseException, names: dict[str, Any]) -> bool:
    """Whether the code that raised ``problem`` looks for its names in ``names``."""
    entry = problem.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    return entry is not None and entry.tb_frame.f_globals is names


def _in_place_of(name: str, package: Any, path: str, seen: set[str]) -> Any:
    """What stands for ``name`` in the file ``path`` of ``package``; None where all its imports have bound what they could."""
    for relative in _imported_whole(path):
        full = attempted(functools.partial(importlib.util.resolve_name, relative, package)) or ""
        if not full or full in seen:
            continue
        seen.add(full)
        module, failure = sys.modules.get(full), failure_of(full)
        if full in _lost:
            return _lost[full]
        if isinstance(module, StubModule):
            return getattr(module, name)
        if failure is not None:
            return Absent(failure)
        file = getattr(module, "__file__", None)
        found = _in_place_of(name, getattr(module, "__package__", None), file, seen) if isinstance(file, str) else None
        if found is not None:
            return found
    return None


@functools.lru_cache(maxsize=64)
def _imported_whole(path: str) -> tuple[str, ...]:
    """The modules, as the file names them, of which it imports all names."""
    tree = parsed_file(path)
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)] if tree is not None else []
    return tuple("." * node.level + (node.module or "") for node in nodes if node.names[0].name == "*")
