"""Runs an import that failed once more, name by name: a stand-in takes the place of what an installed library cannot give.

A library that is installed and fails to import is as good as one that is absent. Of one that lacks a name or a submodule, the rest is
real. The stand-ins are bound in the module that imports them and nowhere else, so code that provides for their absence finds them absent.
"""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from ...runtime.entry_protocol import ImportHelped
from ...runtime.foreign_code import attempted
from ...runtime.libraries import library_roots
from ...runtime.wire import Wire
from .absent import Absent, NeedsAbsent, PartStub, Stub, StubModule
from .as_written import runs_as_written
from .definitions import MADE_AGAIN, attempt, made_again
from .lost_names import lose_names, with_lost_names
from .missing_imports import is_of_project, stubs_are_used
from .moved_stand_ins import MOVED, MovedName, stand_in_for, stands_in_after
from .tolerant_import import failure_of

# what is told of a statement that has run without a part of it
MENDED = "mended"
Tell = Callable[[BaseException, str], object]


class Mender:
    """Mends statements of a project's modules that failed. ``tell`` gets what they raised, unless it comes of an earlier failure."""

    def __init__(self, file: str, wire: Wire, tell: Tell) -> None:
        self._file = file
        self._wire = wire
        self._tell = tell
        # of the statement that is being mended
        self._has_stub = self._has_moved = self._is_told = False

    def mend(self, node: ast.stmt, problem: BaseException, names: dict[str, Any], path: str) -> BaseException | None:
        """Run ``node``, which raised ``problem`` in the file ``path``, in ``names`` without what fails. What it raises at last; None where
        it has run, and what lacks is told.
        """
        if runs_as_written() or not isinstance(problem, Exception):
            return problem
        found = with_lost_names(node, problem, names, path)
        if found is None:
            return None  # it comes of an import that is told
        problem = found
        self._has_stub = self._has_moved = self._is_told = False
        if isinstance(node, ast.Import | ast.ImportFrom):
            remaining = self._import(node, names, path)
        else:
            remaining = made_again(node, problem, names, path, self._part)
            while isinstance(node, MADE_AGAIN) and remaining is not None and stands_in_after(remaining):
                remaining = attempt(node, names, path)
                if remaining is None:
                    return None  # it is told where it stands
        is_new = self._has_stub or self._has_moved or not self._is_told
        if remaining is None and is_new and not isinstance(problem, NeedsAbsent):
            self._tell(problem, MOVED if self._has_moved and not self._has_stub else MENDED)
        return remaining

    def _import(self, node: ast.Import | ast.ImportFrom, names: dict[str, Any], path: str) -> BaseException | None:
        remaining: BaseException | None = None
        for alias in node.names:
            one = ast.copy_location(
                ast.Import([alias])
                if isinstance(node, ast.Import)
                else ast.ImportFrom(node.module, [alias], node.level),
                node,
            )
            module = _module_of(node, alias, names)
            error = attempt(one, names, path)
            # what lacks a name is the library; a name that this statement asks for is bound here alone
            while error is not None and not _lacks_part(error, module) and stands_in_after(error):
                self._is_told = True
                error = attempt(one, names, path)
            if error is None:
                continue
            earlier = failure_of(module)
            if earlier is not None:
                error = NeedsAbsent(earlier)
            value = None if earlier is not None else self._in_place_of(module, node, alias, error)
            name = alias.asname or alias.name.partition(".")[0]
            if value is None:
                remaining = remaining or error
                value = Absent(error.cause if isinstance(error, NeedsAbsent) else error)
                value = names.get(name, value)  # what was there before is there still
            if name == "*":
                lose_names(module, value)
            else:
                names[name] = value
        return remaining

    def _in_place_of(
        self, module: str, node: ast.Import | ast.ImportFrom, alias: ast.alias, error: Exception
    ) -> Any | None:
        """What is bound instead of the part of a library that ``alias`` names; None where it is no library's to give."""
        top = module.partition(".")[0]
        if not stubs_are_used() or not _is_installed(top):
            return None
        if any(is_of_project(each, self._file) for each in list(_files_below(error))):
            return None  # the library imports a file of the project, which fails
        whole = sys.modules.get(top)
        is_part = _lacks_part(error, module)
        is_named = isinstance(node, ast.ImportFrom)
        found = stand_in_for(f"{module}.{alias.name}" if is_named else module) if is_part else None
        if found is not None:
            return self._moved(found, error)
        name = f"{module}.{alias.name}" if is_named and module in sys.modules else module
        made = PartStub if is_part else Stub
        told = name if whole is not None else top
        self._told(told, error)
        self._has_stub = True
        bare = _without_traceback(error)
        if isinstance(node, ast.ImportFrom):
            return made(bare, name=told)
        if alias.asname is None and whole is not None:
            return whole  # `import library.gone`: what is asked of the part is asked later
        return StubModule(alias.name if alias.asname else top, bare, made)

    def _part(self, owner: Any, name: str) -> Any | None:
        """What replaces the attribute ``name`` that ``owner`` lacks, if that is a module of a library."""
        if not isinstance(owner, ModuleType) or not stubs_are_used() or not _is_installed(owner.__name__):
            return None
        error = AttributeError(f"module {owner.__name__!r} has no attribute {name!r}", name=name, obj=owner)
        found = stand_in_for(f"{owner.__name__}.{name}")
        if found is not None:
            return self._moved(found, error)
        self._told(f"{owner.__name__}.{name}", error)
        self._has_stub = True
        return PartStub(error, name=f"{owner.__name__}.{name}")

    def _moved(self, found: MovedName, error: Exception) -> Any:
        self._wire.tell(ImportHelped(found.name, instead=found.instead))
        self._has_moved = True
        return found.value

    def _told(self, name: str, error: Exception) -> None:
        self._wire.tell(ImportHelped(name, why=f"{type(error).__name__}: {error}"))


def _module_of(node: ast.Import | ast.ImportFrom, alias: ast.alias, names: dict[str, Any]) -> str:
    """The full name of the module that is imported, or from which something is."""
    if isinstance(node, ast.Import):
        return alias.name
    relative = "." * node.level + (node.module or "")
    return attempted(lambda: importlib.util.resolve_name(relative, names.get("__package__"))) or ""


def _lacks_part(error: Exception, module: str) -> bool:
    """Whether a library was imported and does not have what was asked of it: a name, or a submodule."""
    if not isinstance(error, ImportError):
        return False
    if isinstance(error, ModuleNotFoundError):
        top = module.partition(".")[0]
        return bool(error.name) and error.name != top and f"{module}.".startswith(f"{error.name}.")
    return error.name == module and module in sys.modules


def _is_installed(name: str) -> bool:
    """Whether the module, or the package that it is in, is of an installed library, Python's own among them."""
    top = name.partition(".")[0]
    if top in sys.builtin_module_names:
        return True
    module = sys.modules.get(top)
    spec = attempted(lambda: module.__spec__ if module is not None else importlib.machinery.PathFinder.find_spec(top))
    if spec is None:
        return False
    places = [*([spec.origin] if spec.origin else []), *(spec.submodule_search_locations or ())]
    if spec.origin in ("built-in", "frozen"):
        return True
    return any(os.path.join(place, "").startswith(library_roots()) for place in places)


def _files_below(error: BaseException) -> Iterator[str]:
    """The files whose code ran below the statement that was run once more."""
    entry = error.__traceback__
    frames = []
    while entry is not None:
        frames.append(entry.tb_frame.f_code.co_filename)
        entry = entry.tb_next
    yield from frames[2:]  # ours, and the statement's own


def _without_traceback(error: Exception) -> Exception:
    """``error`` as a stand-in may raise it again, without the frames in which it was raised."""
    error.__traceback__ = error.__context__ = None
    return error
