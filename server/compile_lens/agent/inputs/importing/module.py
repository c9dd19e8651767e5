"""Imports the user's file as a module: under its own name, in its package if it has one, with its unsaved text."""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import importlib.machinery
import importlib.util
import os
import re
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ... import OWN_FOLDER
from ...runtime.entry_protocol import ArgumentsMadeUp, StatementsSkipped
from ...runtime.parsed_source import parsed
from ...runtime.program_text import remember
from ...runtime.raised import report_aside
from ...runtime.wire import Wire
from . import missing_imports, project_modules
from .as_written import runs_as_written
from .failed_imports import Mender, Tell
from .import_names import has_what_is_imported
from .made_up_arguments import made_up
from .partial_packages import make_partial_packages
from .tolerant_import import run_tolerantly

MAX_PACKAGES = 8


class _TextLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from text that may not be on disk."""

    def __init__(self, name: str, path: str, text: str, wire: Wire, is_helped: bool, tell: Tell) -> None:
        super().__init__(name, path)
        self._text = text
        self._wire = wire
        self._is_helped = is_helped
        self._tell = tell

    def get_data(self, path: str) -> bytes:
        return self._text.encode() if path == self.path else super().get_data(path)

    def get_code(self, fullname: str) -> Any:
        return compile(_text_to_run(self._text), self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Run the file's top level. What a statement raises is reported, and what does not need it runs all the same, unless
        the program runs as it is written."""
        code = self.get_code(module.__name__)
        if runs_as_written():
            exec(code, module.__dict__)
            return
        text = parsable_prefix(self._text)
        if not self._is_helped:
            run_tolerantly(code, text, module.__dict__, self._report_unless_import)
            return
        mend = functools.partial(Mender(self.path, self._wire, self._tell).mend, path=self.path)
        with made_up(lambda names: self._wire.tell(ArgumentsMadeUp(tuple(names)))):
            lines = run_tolerantly(code, text, module.__dict__, self._report, mend)
        if lines:
            self._wire.tell(StatementsSkipped(lines))

    def _report(self, problem: BaseException) -> None:
        self._tell(problem, "import")

    def _report_unless_import(self, problem: BaseException) -> None:
        if isinstance(problem, ImportError):
            raise problem  # who imports the file may expect that
        self._report(problem)


# characters, in search of a part of a text that has no syntax error
MOST_READ = 10_000_000


def parsable_prefix(text: str) -> str:
    """``text`` up to its first syntax error; all of it if it has none. Raises SyntaxError when nothing is left."""
    try:
        ast.parse(text)
    except SyntaxError as error:
        lines = text.splitlines(keepends=True)
        longest = min(error.lineno or 1, len(lines)) - 1
        # each try reads all that is before
        tries = max(20, MOST_READ // (len(text) + 1))
        for last in range(longest, max(0, longest - tries), -1):
            part = "".join(lines[:last])
            try:
                if ast.parse(part).body:
                    return part
            except SyntaxError:
                continue
        raise
    return text


def _text_to_run(text: str) -> str:
    return text if runs_as_written() else parsable_prefix(text)


class _TextFinder:
    """Loads one module from the given text, whoever imports it first."""

    def __init__(self, name: str, path: str, text: str, wire: Wire, is_helped: bool, tell: Tell) -> None:
        self._name, self._path = name, path
        self._load = functools.partial(_TextLoader, text=text, wire=wire, is_helped=is_helped, tell=tell)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != self._name:
            return None
        return importlib.util.spec_from_file_location(fullname, self._path, loader=self._load(fullname, self._path))


class _FirstFailure:
    """Says what the first statement raised that failed: the program itself comes no further."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._is_told = False

    def tell(self, problem: BaseException, where: str) -> None:
        if not self._is_told:
            self._is_told = True
            report_aside(problem, self._wire, OWN_FOLDER, where)


def load(file: str, text: str, wire: Wire, is_helped: bool = True) -> ModuleType:
    """Import ``file`` with ``text`` as its content. Raises SyntaxError, and what packages above it raise; what its own code raises is
    reported. ``is_helped``: missing modules are looked for, and missing arguments are made up.
    """
    remember(file, text)
    tell = _FirstFailure(wire).tell
    if is_helped:
        missing_imports.install(file, wire)
        project_modules.install(file, wire, tell)
    root, name = package_of(file, text)
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
        return _imported(name, _TextFinder(name, file, text, wire, is_helped, tell))
    except Exception as problem:  # code of the user's may raise anything
        # packages above it need what is not installed, or does not fit: import the file with what their `__init__.py` can do
        if "." not in name or _is_raised_in(problem, file) or runs_as_written():
            raise
        try:
            report = functools.partial(tell, where="import") if is_helped else None
            finder = _TextFinder(name, file, text, wire, is_helped, tell)
            return _imported(name, finder, in_partial_packages=root, report=report)
        except ImportError:
            raise problem from None


def _imported(
    name: str,
    finder: Any,
    in_partial_packages: str = "",
    report: Callable[[BaseException], object] | None = None,
) -> ModuleType:
    """``in_partial_packages`` is the folder of the outermost package, if those above the module cannot be imported as a whole."""
    sys.meta_path.insert(0, finder)
    try:
        if in_partial_packages:
            make_partial_packages(in_partial_packages, name, report)
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


def package_of(file: str, text: str = "") -> tuple[str, str]:
    """The folder that must be on the path, and the dotted name of ``file`` in it: as deep as there are ``__init__.py``, or as the
    relative imports in ``text`` reach. They work in a folder that no statement can name, too (`python -m my-net.model`)."""
    folder, base = os.path.split(os.path.abspath(file))
    stem = os.path.splitext(base)[0]
    parts = [] if stem == "__init__" else [stem]
    relative = _relative_depth(text)
    least = max(relative, _own_depth(folder, text))
    while _may_be_package(folder, len(parts) <= relative) and (
        os.path.isfile(os.path.join(folder, "__init__.py")) or len(parts) <= least
    ):
        folder, package = os.path.split(folder)
        parts.append(package)
    if len(parts) > 1 and _shadows(folder, parts[-1], text) and os.path.basename(folder).isidentifier():
        folder, package = os.path.split(folder)
        parts.append(package)
    if not parts:
        parts = [stem]
    # a file such as train-1.py cannot be imported by its own name
    dotted = ".".join(reversed(parts))
    if all(part.isidentifier() for part in parts) or (relative and len(parts) > 1 and "." not in parts[0]):
        return folder, dotted
    return folder, f"_compile_lens_entry_{abs(hash(dotted))}"


def _may_be_package(folder: str, is_needed: bool) -> bool:
    """Whether the name of ``folder`` may be that of a package. A dot would make two of it."""
    name = os.path.basename(folder)
    return name.isidentifier() or (is_needed and bool(name) and "." not in name)


def _shadows(folder: str, package: str, text: str) -> bool:
    """Whether ``package`` in ``folder`` is named after a library that ``text`` imports, and is not it: `examples/timm/`.

    The package of a project stands in its top folder, or in one for source.
    """
    above = os.path.dirname(folder)
    if (
        os.path.basename(folder) in missing_imports.SOURCES
        or missing_imports.is_project(folder)
        or not missing_imports.is_in_project(above)
    ):
        return False
    tree = _tree_of_prefix(text)
    if tree is None:
        return False
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return not has_what_is_imported(folder, package, imports)


def _own_depth(folder: str, text: str) -> int:
    """How many packages stand above a file that imports its own by its full name: 2 for `from x.y import z` in `x/y/`, whether `y` has
    an ``__init__.py`` or not; nor does `x` need one where the module `x.y` is there."""
    imported = set(re.findall(r"^(?:from|import)\s+([A-Za-z_]\w*)\b", text, re.MULTILINE))
    found = 0
    for depth in range(1, MAX_PACKAGES + 1):
        name = os.path.basename(folder)
        if not name.isidentifier():
            break
        is_package = os.path.isfile(os.path.join(folder, "__init__.py"))
        if name in imported and (is_package or (depth > 1 and _has_imported(folder, text))):
            found = depth
        folder = os.path.dirname(folder)
    return found


def _has_imported(folder: str, text: str) -> bool:
    """Whether ``folder`` has a module that ``text`` imports as one of the package with the name of the folder: `from x.y import z`."""
    above, name = os.path.split(folder)
    dotted = re.findall(rf"^(?:from|import)\s+({re.escape(name)}(?:\.\w+)+)", text, re.MULTILINE)
    places = (os.path.join(above, *each.split(".")) for each in dotted)
    return any(os.path.isfile(f"{place}.py") or os.path.isdir(place) for place in places)


def _relative_depth(text: str) -> int:
    """How many packages the relative imports of ``text`` need above it: 1 for `from . import x`."""
    if not re.search(r"^\s*from\s*\.", text, re.MULTILINE):
        return 0
    tree = _tree_of_prefix(text)
    nodes = ast.walk(tree) if tree is not None else ()
    return max((node.level for node in nodes if isinstance(node, ast.ImportFrom)), default=0)


def _tree_of_prefix(text: str) -> ast.Module | None:
    try:
        return parsed(parsable_prefix(text))
    except (SyntaxError, RecursionError, MemoryError):
        return None


def written_outside(qualified_name: str) -> str:
    """The name of a method as code outside of its class writes it: ``Net._Net__step`` for ``Net.__step``, as Python stores it."""
    owner, _, name = qualified_name.rpartition(".")
    cls = owner.rpartition(".")[2].lstrip("_")
    return f"{owner}._{cls}{name}" if cls and name.startswith("__") and not name.endswith("__") else qualified_name


class NoSuchName(AttributeError):
    """What a module lacks, as Python says it. Another AttributeError is one of the program's code, or of ours."""


def find(module: ModuleType, qualified_name: str) -> Any:
    """What ``qualified_name`` names in ``module``. Raises NoSuchName."""
    found: Any = module
    for part in qualified_name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise NoSuchName(str(error)) from None
    return found
