"""Imports the user's file as a module: under its own name, in its package if it has one, with its unsaved text."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.machinery
import importlib.util
import linecache
import os
import sys
from types import ModuleType
from typing import Any

from .. import OWN_FOLDER
from ..runtime.raised import report_aside
from ..runtime.wire import Wire


class _TextLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from text that may not be on disk."""

    def __init__(self, name: str, path: str, text: str, wire: Wire) -> None:
        super().__init__(name, path)
        self._text = text
        self._wire = wire

    def get_data(self, path: str) -> bytes:
        return self._text.encode() if path == self.path else super().get_data(path)

    def get_code(self, fullname: str) -> Any:
        return compile(parsable_prefix(self._text), self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Run the file's top level. If it raises, report that, and keep the names defined so far, which often suffice."""
        try:
            super().exec_module(module)
        except ImportError:
            raise  # another way to load the file may not need the import
        except (Exception, SystemExit) as problem:  # code of the user's; argparse exits
            if not (isinstance(problem, SystemExit) and problem.code in (None, 0)):
                report_aside(problem, self._wire, OWN_FOLDER, "import")


def parsable_prefix(text: str) -> str:
    """``text`` up to its first syntax error; all of it if it has none. Raises SyntaxError when nothing is left."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        lines = text.splitlines(keepends=True)
        for last in range(min(error.lineno or 1, len(lines)) - 1, 0, -1):
            part = "".join(lines[:last])
            try:
                if ast.parse(part).body:
                    return part
            except SyntaxError:
                continue
        raise
    return text


class _TextFinder:
    """Loads one module from the given text, whoever imports it first."""

    def __init__(self, name: str, path: str, text: str, wire: Wire) -> None:
        self._name, self._path, self._text, self._wire = name, path, text, wire

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(
            fullname, self._path, loader=_TextLoader(fullname, self._path, self._text, self._wire)
        )


def load(file: str, text: str, wire: Wire) -> ModuleType:
    """Import ``file`` with ``text`` as its content. Raises ImportError and SyntaxError; what else its code raises is reported."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    root, name = package_of(file)
    if root not in sys.path:
        sys.path.insert(0, root)
    known = sys.modules.get(name)
    if known is not None:
        # a file of torch's, or one that the standby has imported
        with contextlib.suppress(OSError, TypeError):
            if os.path.samefile(str(getattr(known, "__file__", "")), file):
                return known
        name = f"_compile_lens_entry_{name.replace('.', '_')}"
    try:
        return _imported(name, file, text, wire)
    except Exception as problem:  # code of the user's may raise anything
        # other modules of the package need what is not installed: import the file outside of its package
        if "." not in name or _is_raised_in(problem, file):
            raise
        try:
            return _imported(f"_compile_lens_entry_{name.replace('.', '_')}", file, text, wire)
        except ImportError:
            raise problem from None


def _imported(name: str, file: str, text: str, wire: Wire) -> ModuleType:
    finder: Any = _TextFinder(name, file, text, wire)
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module(name)
    finally:
        sys.meta_path.remove(finder)


def _is_raised_in(problem: BaseException, file: str) -> bool:
    """Whether ``file`` itself was running when ``problem`` was raised."""
    entry = problem.__traceback__
    while entry is not None:
        if entry.tb_frame.f_code.co_filename == file:
            return True
        entry = entry.tb_next
    return False


def package_of(file: str) -> tuple[str, str]:
    """The folder that must be on the path, and the dotted name of ``file`` in it: as deep as there are ``__init__.py``."""
    folder, base = os.path.split(os.path.abspath(file))
    stem = os.path.splitext(base)[0]
    parts = [] if stem == "__init__" else [stem]
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.basename(folder).isidentifier():
        folder, package = os.path.split(folder)
        parts.append(package)
    if not parts:
        parts = [stem]
    # a file such as train-1.py cannot be imported by its own name
    dotted = ".".join(reversed(parts))
    return folder, dotted if all(part.isidentifier() for part in parts) else f"_compile_lens_entry_{abs(hash(dotted))}"


def find(module: ModuleType, qualified_name: str) -> Any:
    """What ``qualified_name`` names in ``module``. Raises AttributeError."""
    found: Any = module
    for part in qualified_name.split("."):
        found = getattr(found, part)
    return found
