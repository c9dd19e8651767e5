"""Finds the folder of a project that its files import under another name: the top folder of a repository, `src` as the package itself.

Which folder it is shows in how many of the project's imports it satisfies. Another name is believed where it is the project's own, or
where all that is imported under it is there: a library that is not installed has modules called `models` and `utils`, too.
"""

from __future__ import annotations

import ast
import functools
import importlib.machinery
import importlib.util
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...runtime.parsed_source import parsed
from ...runtime.regular_file import read_regular
from .import_names import has_names, imported_names

MOST_FILES = 400
MOST_READ = 200
READ_S = 1.0
# without other evidence, so many modules must be there
LEAST_MODULES = 2
_SOURCES = ("src", "lib", "python")
_NOT_SOURCE = re.compile(r"\..*|__pycache__|build|dist|node_modules|.*\.egg-info")
# what says how a project is called, and what it depends on
_DESCRIPTIONS = ("PKG-INFO", "pyproject.toml", "setup.cfg", "setup.py")
_REQUIREMENTS = (*_DESCRIPTIONS, "requirements.txt", "environment.yml")
_NAME = re.compile(r"""^\s*name\s*[=:]\s*["']?([\w.-]+)""", re.IGNORECASE | re.MULTILINE)
_VERSION = re.compile(r"-v?\d[\w.]*$")

Import = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class RenamedFolder:
    """A folder that stands for a package of another name, and how many of the project's imports it satisfies."""

    path: str
    satisfied: int


def renamed_folder(
    root: str, near: str, package: str, imports: Sequence[ast.AST], there: Sequence[str] = ()
) -> RenamedFolder | None:
    """The folder of the project in ``root`` that is imported as ``package``; None where none is.

    ``near`` is the folder of the file that is run, ``imports`` are those of the file that asks, and ``there`` are the folders in which
    the package is looked for already.
    """
    here = [each for each in imported_names(package, imports) if not _is_in(there, each)]
    asked = {each for each in (*here, *_asked(root, package)) if not _is_in(there, each)}
    if not here or not any(_below(path) for path, _ in asked):
        return None
    found = [
        RenamedFolder(folder, sum(_is_in([folder], each) for each in asked))
        for folder in _candidates(root, near)
        if folder not in there and any(_is_in([folder], each) for each in here)
    ]
    best = max(found, key=lambda each: each.satisfied, default=None)
    if best is None:
        return None
    if there or _is_own_name(root, package):
        return best if best.satisfied * 2 > len(asked) else None
    modules = {path for path, _ in asked if _below(path)}
    is_whole = best.satisfied == len(asked) and len(modules) >= LEAST_MODULES
    return best if is_whole and not _is_required(root, package) else None


def spec_of(package: str, folder: str) -> importlib.machinery.ModuleSpec | None:
    """The spec of ``package`` for the folder that stands for it."""
    start = os.path.join(folder, "__init__.py")
    if os.path.isfile(start):
        return importlib.util.spec_from_file_location(package, start, submodule_search_locations=[folder])
    spec = importlib.machinery.ModuleSpec(package, None, is_package=True)
    spec.submodule_search_locations = [folder]
    return spec


def _below(path: str) -> str:
    """``nets.small`` of ``package.nets.small``."""
    return path.partition(".")[2]


def _is_in(folders: Iterable[str], asked: Import) -> bool:
    path, wanted = asked
    return any(has_names(os.path.join(folder, *filter(None, _below(path).split("."))), wanted) for folder in folders)


def _candidates(root: str, near: str) -> Iterator[str]:
    """Folders that may stand for a package: the project's own, those in it and in its folders for source, those around the file."""
    found: dict[str, None] = {root: None}
    for place in (root, *(os.path.join(root, each) for each in _SOURCES)):
        found |= dict.fromkeys(os.path.join(place, each) for each in _folders_in(place))
    while near.startswith(root + os.sep):
        found[near] = None
        near = os.path.dirname(near)
    yield from found


def _folders_in(place: str) -> list[str]:
    try:
        return sorted(e.name for e in os.scandir(place) if e.is_dir() and not _NOT_SOURCE.fullmatch(e.name))
    except OSError:
        return []


@functools.lru_cache(maxsize=16)
def _asked(root: str, package: str) -> frozenset[Import]:
    """What files of the project import of ``package``."""
    word = re.compile(rf"^\s*(?:from|import)\s+{re.escape(package)}\b", re.MULTILINE)
    found: set[Import] = set()
    read = 0
    for path in _python_files(root):
        text = _text(path)
        if word.search(text) is not None:
            tree = parsed(text)
            read += 1
            found.update(imported_names(package, list(ast.walk(tree))) if tree is not None else ())
        if read >= MOST_READ:
            break
    return frozenset(found)


def _python_files(root: str) -> Iterator[str]:
    end, count = time.monotonic() + READ_S, 0
    for place, folders, names in os.walk(root):
        folders[:] = sorted(each for each in folders if not _NOT_SOURCE.fullmatch(each))
        for name in sorted(names):
            if name.endswith(".py"):
                count += 1
                yield os.path.join(place, name)
            if count >= MOST_FILES or time.monotonic() > end:
                return


def _is_own_name(root: str, package: str) -> bool:
    """Whether the project is called like ``package``, or has a folder that is, but for a sign that no module's name may have."""
    named = [name for each in _DESCRIPTIONS for name in _NAME.findall(_text(os.path.join(root, each)))[:1]]
    names = {_plain(each) for each in (*named, _VERSION.sub("", os.path.basename(root)), *_folders_in(root))}
    mapped: Any = re.search(
        rf"package_dir[^\n]*(?:\n[^\n]*){{0,8}}?[\"']{re.escape(package)}[\"']", _text(os.path.join(root, "setup.py"))
    )
    return _plain(package) in names or mapped is not None


def _is_required(root: str, package: str) -> bool:
    """Whether the project says that it needs something of this name."""
    word = re.compile(rf"(?<![\w.]){'[-_.]'.join(map(re.escape, _plain(package).split('_')))}(?![\w.])", re.IGNORECASE)
    return any(word.search(_text(os.path.join(root, each))) is not None for each in _REQUIREMENTS)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def _text(path: str) -> str:
    try:
        return read_regular(path).decode("utf-8", "replace")
    except OSError:
        return ""
