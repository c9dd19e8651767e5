"""Imports the modules of the analyzed file's project past their statements that fail, as far as nothing expects that they do.

Data, downloads and configurations of another machine end a module at its top level, and would take every file with them that imports it.
What a failed statement would have bound is absent (``absent.py``): whoever needs it gets the exception.
"""

from __future__ import annotations

import functools
import importlib.machinery
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from ...runtime.wire import Wire
from .as_written import runs_as_written
from .failed_imports import Mender, Tell
from .missing_imports import HANDLERS, expects_failure, is_of_project, program_frames
from .tolerant_import import run_tolerantly


def install(file: str, wire: Wire, tell: Tell) -> None:
    """Import modules of the project of ``file`` in this way from now on. ``tell`` gets what they raise, and how it is told."""
    if runs_as_written():
        return
    known = next((each for each in sys.meta_path if isinstance(each, ProjectModules)), None)
    if known is not None:
        known.tell = tell
        return
    finder: Any = ProjectModules(file, wire, tell)
    of_path = next((index for index, each in enumerate(sys.meta_path) if each is importlib.machinery.PathFinder), 0)
    sys.meta_path.insert(of_path, finder)


class ProjectModules:
    """A finder that comes before the one of the import path, and finds what that one does."""

    def __init__(self, file: str, wire: Wire, tell: Tell) -> None:
        self._file = os.path.abspath(file)
        self._wire = wire
        self.tell = tell
        self._asking: set[str] = set()

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """The spec of a module of the project, or None."""
        if name in self._asking:
            return None  # another finder asks all of them
        if path is not None and not any(is_of_project(os.path.join(each, ""), self._file) for each in path):
            return None  # the other modules of a library need not be looked for twice
        self._asking.add(name)
        try:
            spec = self._found(name, path, target)
        finally:
            self._asking.discard(name)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader:
            return None
        if not is_of_project(os.path.abspath(spec.loader.path), self._file):
            return None
        spec.loader = _Loader(name, spec.loader.path, self._mender(spec.loader.path), self.tell)
        return spec

    def _found(self, name: str, path: Sequence[str] | None, target: ModuleType | None) -> Any:
        """What the finders after this one find: an installer may have added one for a project that it links to."""
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            if (spec := finder.find_spec(name, path, target)) is not None:
                return spec
        return None

    def _mender(self, path: str) -> Callable[[Any, BaseException, dict[str, Any]], BaseException | None]:
        return functools.partial(Mender(self._file, self._wire, self.tell).mend, path=path)


class _Loader(importlib.machinery.SourceFileLoader):
    """Runs a module of the project past what fails."""

    def __init__(self, name: str, path: str, mend: Any, tell: Tell) -> None:
        super().__init__(name, path)
        self._mend = mend
        self._tell = tell

    def exec_module(self, module: ModuleType) -> None:
        """Run it. Raises what its importers expect that it raises, and what ends the program."""
        code = self.get_code(module.__name__)
        assert code is not None
        text = self.get_source(module.__name__) or ""
        run_tolerantly(code, text, module.__dict__, self._failed, self._mended)

    def _mended(self, node: Any, problem: BaseException, names: dict[str, Any]) -> BaseException | None:
        _raise_if_expected(problem)
        remaining: BaseException | None = self._mend(node, problem, names)
        return remaining

    def _failed(self, problem: BaseException) -> None:
        _raise_if_expected(problem)
        self._tell(problem, "import")


def _raise_if_expected(problem: BaseException) -> None:
    """Raise ``problem`` again where it ends the program, or a `try` around what imports the module handles it."""
    if not isinstance(problem, Exception):
        raise problem
    kinds = frozenset(cls.__name__ for cls in type(problem).__mro__)
    if isinstance(problem, ImportError):
        kinds |= HANDLERS
    if any(expects_failure(frame, kinds) for frame in program_frames(sys._getframe(1))):
        raise problem
