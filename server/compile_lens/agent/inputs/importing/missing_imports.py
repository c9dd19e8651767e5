"""Finds modules that the interpreter does not: in other folders of the project, or else a stub for one that is only optional.

Both are asked last, for the project's own files and what they import, and never where the code provides for the module being absent.
"""

from __future__ import annotations

import ast
import functools
import importlib.machinery
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from ... import OWN_FOLDER
from ...runtime.entry_protocol import ImportHelped
from ...runtime.handlers import providing
from ...runtime.libraries import library_roots
from ...runtime.parsed_source import parsed_file
from ...runtime.wire import Wire
from .absent import StubModule, on_model_base, tell_of_need
from .import_names import has_what_is_imported
from .installed_extensions import folders_of_package, installed_extension
from .moved_stand_ins import known_names, tell_to, use_moved_names
from .renamed_folders import renamed_folder, spec_of

# what stands in the top folder of a project
MARKS = (".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg")
# what may also stand further down
WEAK_MARKS = ("requirements.txt", "README.md", "README.rst")
MAX_ABOVE = 8
# folders of a project that its packages stand in
SOURCES = ("src", "lib", "python")
HANDLERS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
IMPORT_SYSTEM = "<frozen importlib"
_stubs_are_used = True


class MissingImports:
    """The last finder on ``sys.meta_path``."""

    def __init__(self, file: str, wire: Wire) -> None:
        self._file = os.path.abspath(file)
        self._wire = wire
        self._stubbed: set[str] = set()

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """The spec of a module that no other finder knows, or None."""
        top, _, rest = name.partition(".")
        if top in self._stubbed:
            return self._stub(name)
        package = sys.modules.get(top) if rest else None
        there = tuple(getattr(package, "__path__", ()))
        compiled = self._installed(name) if rest else None
        if compiled is not None:
            return compiled
        if rest and ("." in rest or not any(is_of_project(folder, self._file) for folder in there)):
            return None
        imports = self._needed_here()
        if not imports:
            return None
        if package is not None:
            return self._in_renamed_folder(name, top, imports, package, there)
        for folder in _folders(self._file, name):
            if folder not in sys.path and _has_module(folder, name) and has_what_is_imported(folder, name, imports):
                sys.path.append(folder)
                sys.path_importer_cache.pop(folder, None)
                self._wire.tell(ImportHelped(name, folder))
                return importlib.machinery.PathFinder.find_spec(name, [folder])
        if any(_has_module(folder, name) for folder in sys.path if folder):
            return None  # it is there, and something of it is not
        renamed = renamed_folder(project_root(self._file), os.path.dirname(self._file), name, imports)
        if renamed is not None:
            self._wire.tell(ImportHelped(name, renamed.path, satisfied=renamed.satisfied))
            return spec_of(name, renamed.path)
        if not _stubs_are_used or _provide_for_absence((*imports, *_nodes(self._file)), name):
            return None
        self._stubbed.add(name)
        tell_of_need(sys._getframe(1))
        self._wire.tell(ImportHelped(name))
        return self._stub(name)

    def _installed(self, name: str) -> importlib.machinery.ModuleSpec | None:
        """The spec of a compiled module that a package of the project lacks here, and has where it is installed."""
        is_own = any(is_of_project(folder, self._file) for folder in folders_of_package(name))
        found = installed_extension(name) if is_own and self._needed_here() else None
        if found is None:
            return None
        self._wire.tell(ImportHelped(name, found[1], is_compiled=True))
        return found[0]

    def _in_renamed_folder(
        self, name: str, top: str, imports: Sequence[ast.AST], package: ModuleType, there: tuple[str, ...]
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of a module that the package ``top`` of the project lacks and another of its folders has."""
        renamed = renamed_folder(project_root(self._file), os.path.dirname(self._file), top, imports, there)
        if renamed is None:
            return None
        package.__path__ = [*there, renamed.path]
        self._wire.tell(ImportHelped(top, renamed.path, satisfied=renamed.satisfied))
        return importlib.machinery.PathFinder.find_spec(name, [renamed.path])

    def _stub(self, name: str) -> importlib.machinery.ModuleSpec:
        loader: Any = _StubLoader()
        return importlib.machinery.ModuleSpec(name, loader, is_package=True)

    def _needed_here(self) -> tuple[ast.AST, ...]:
        """The imports of the file that asks, where it does so for the sake of the project's own files and nothing on the stack expects
        that it fails; else nothing.

        It may be a library's: one that cannot be imported itself is as good as absent.
        """
        frames = list(program_frames(sys._getframe(2)))
        if not any(is_of_project(frame.f_code.co_filename, self._file) for frame in frames):
            return ()
        if not _is_import(frames[0]) or any(expects_failure(frame) for frame in frames):
            return ()
        return _nodes(frames[0].f_code.co_filename)


def stubs_are_used() -> bool:
    """Whether what cannot be imported is replaced with stubs in this process."""
    return _stubs_are_used


def use_stubs(are_used: bool) -> None:
    """Whether modules that are not installed are replaced with stubs in this process."""
    global _stubs_are_used
    _stubs_are_used = are_used
    use_moved_names(are_used)


class _StubLoader:
    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        top = spec.name.partition(".")[0]
        module = StubModule(spec.name, ModuleNotFoundError(f"No module named {top!r}", name=top))
        vars(module).update(known_names(spec.name))
        return module

    def exec_module(self, module: ModuleType) -> None:
        return None


def install(file: str, wire: Wire) -> None:
    """Look for missing modules from now on."""
    if not any(isinstance(finder, MissingImports) for finder in sys.meta_path):
        finder: Any = MissingImports(file, wire)
        sys.meta_path.append(finder)
        on_model_base.append(lambda name: wire.tell(ImportHelped(name, is_base=True)))
        tell_to(wire.tell)


@functools.cache
def project_root(file: str) -> str:
    """The nearest folder above ``file`` that is a project's; else the furthest that looks like one, or its own."""
    found = folder = os.path.dirname(file)
    for _ in range(MAX_ABOVE):
        if is_project(folder):
            return folder
        if any(os.path.exists(os.path.join(folder, mark)) for mark in WEAK_MARKS):
            found = folder
        above = os.path.dirname(folder)
        if above in (folder, os.path.expanduser("~")):
            break
        folder = above
    return found


def is_project(folder: str) -> bool:
    """Whether ``folder`` is the top folder of a project."""
    return any(os.path.exists(os.path.join(folder, mark)) for mark in MARKS)


def is_in_project(folder: str) -> bool:
    """Whether ``folder`` or one above it is the top folder of a project."""
    for _ in range(MAX_ABOVE):
        if is_project(folder):
            return True
        folder = os.path.dirname(folder)
    return False


def is_of_project(path: str, file: str) -> bool:
    """Whether ``path`` is the analyzed file, or one of its project that is not installed code."""
    if path == file:
        return True
    return path.startswith(project_root(file) + os.sep) and not any(path.startswith(root) for root in library_roots())


def _folders(file: str, name: str) -> Iterator[str]:
    """Folders that may have to be on the path for a module ``name``: those above ``file``, the nearest first, then those in the
    project's root, and where nothing marks a project, the one that holds a folder of that name above the file.
    """
    root = project_root(file)
    folder = os.path.dirname(file)
    while True:
        for inside in ("", *SOURCES):
            yield os.path.join(folder, inside) if inside else folder
        if folder == root or os.path.dirname(folder) == folder:
            break
        folder = os.path.dirname(folder)
    try:
        inside_root = sorted(entry.name for entry in os.scandir(root) if entry.is_dir() and entry.name[0] not in "._")
    except OSError:
        inside_root = []
    yield from (os.path.join(root, each) for each in inside_root)
    yield from (str(above.parent) for above in Path(file).parents[:MAX_ABOVE] if above.name == name)


def _has_module(folder: str, name: str) -> bool:
    """Whether ``folder`` holds a module ``name``, or a package with Python files or packages in it."""
    inside = os.path.join(folder, name)
    if os.path.isfile(f"{inside}.py") or os.path.isfile(os.path.join(inside, "__init__.py")):
        return True
    try:
        entries = os.listdir(inside)
    except OSError:
        return False
    return any(each.endswith(".py") or os.path.isfile(os.path.join(inside, each, "__init__.py")) for each in entries)


def program_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of the program, without those of ours and of the import system."""
    while frame is not None:
        path = frame.f_code.co_filename
        if not path.startswith((OWN_FOLDER, IMPORT_SYSTEM)) and not path.endswith(
            os.path.join("importlib", "__init__.py")
        ):
            yield frame
        frame = frame.f_back


def _is_import(frame: FrameType) -> bool:
    return any(
        isinstance(node, ast.Import | ast.ImportFrom | ast.Call)
        for node in _nodes(frame.f_code.co_filename)
        if _spans(node, frame.f_lineno)
    )


def expects_failure(frame: FrameType, kinds: frozenset[str] = HANDLERS) -> bool:
    """Whether the line that runs in ``frame`` stands in a `try` that handles a failing import, or in `suppress` of one. ``kinds``: the
    names of the exceptions that count."""
    around = [
        node for node in _nodes(frame.f_code.co_filename) if any(_spans(part, frame.f_lineno) for part in _body(node))
    ]
    return any(_handles_failure(node, kinds) for node in around)


def _handles_failure(node: ast.AST, kinds: frozenset[str] = HANDLERS) -> bool:
    if isinstance(node, ast.With):
        suppressed = [_names(item.context_expr) for item in node.items]
        return any("suppress" in names and names & kinds for names in suppressed)
    handlers = providing(getattr(node, "handlers", ()))
    return any(each.type is None or _names(each.type) & kinds for each in handlers)


def _provide_for_absence(nodes: Sequence[ast.AST], top: str) -> bool:
    """Whether one of these statements imports ``top`` and handles that it is not there: a stub that another line gets would be there for
    it, too, and take the program another way."""
    guarded = (part for node in nodes if _handles_failure(node) for each in _body(node) for part in ast.walk(each))
    return any(top in _imported(part) for part in guarded)


def _imported(node: ast.AST) -> set[str]:
    """The top names of the modules that a statement imports."""
    if isinstance(node, ast.ImportFrom):
        return {(node.module or "").partition(".")[0]} if not node.level else set()
    return {each.name.partition(".")[0] for each in node.names} if isinstance(node, ast.Import) else set()


def _body(node: ast.AST) -> Sequence[ast.AST]:
    return node.body if isinstance(node, ast.Try | ast.With) else ()


def _names(node: ast.expr) -> set[str]:
    found = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return found | {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def _spans(node: ast.AST, line: int | None) -> bool:
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    return line is not None and first is not None and first <= line <= (last or first)


@functools.lru_cache(maxsize=256)
def _nodes(path: str) -> tuple[ast.AST, ...]:
    """The statements of a file that matter here, and calls of `__import__`."""
    tree = parsed_file(path)
    if tree is None:
        return ()
    kinds = (ast.Import, ast.ImportFrom, ast.Try, ast.With)
    return tuple(node for node in ast.walk(tree) if isinstance(node, kinds) or _is_import_call(node))


def _is_import_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__import__"
