"""Lets a process outside of a sandbox import installed code alone, until a run is in its sandbox and imports as Python does.

The files of an environment that end with ``.pth`` add folders to ``sys.path``, and finders to ``sys.meta_path``: those of the sources that
an editable install links to, which are a workspace. `import torch` looks on all of them for a dozen modules that need not be installed,
and for entry points, which it calls. A finder of an editable install may even build the project when it is asked.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import os
import re
import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .regular_file import read_regular_text

SITE_FOLDERS = ("site-packages", "dist-packages")
# where the finders of Python itself are defined
OF_PYTHON = ("_frozen_importlib", "_frozen_importlib_external")
# what torch imports that its developers, and those of these libraries, link to sources of their own
OF_TORCH = ("triton", "numpy", "sympy", "mpmath", "networkx", "jinja2", "typing_extensions", "filelock", "fsspec")
T = TypeVar("T")


class _LinkedLibraries:
    """A finder of ``OF_TORCH`` alone, in the folders and by the finders that have them: these have other modules, too."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """As `importlib.abc.MetaPathFinder`; None for a module of something else."""
        where = self._found.get(name.partition(".")[0])
        if isinstance(where, str):
            return importlib.machinery.PathFinder.find_spec(name, [where]) if path is None else None
        return None if where is None else where.find_spec(name, path, target)


@dataclass(frozen=True)
class _Everything:
    """``sys.path`` and ``sys.meta_path`` as they were, and what of them was kept."""

    path: list[str]
    kept_path: list[str]
    finders: list[Any]
    kept_finders: list[Any]


_before: _Everything | None = None


def restrict(finders: Sequence[Any] = ()) -> None:
    """Take all else out of ``sys.path`` and ``sys.meta_path``. ``finders`` are those that there were, where they are out already."""
    global _before
    if _before is not None:
        return
    path, all_finders = list(sys.path), list(finders or sys.meta_path)
    kept_path, kept_finders = _with_linked_torch(path, installed_folders(path), all_finders)
    linked = _linked_libraries(path, kept_path, all_finders)
    kept_finders += [_LinkedLibraries(linked)] if linked else []
    _before = _Everything(path, kept_path, all_finders, kept_finders)
    sys.path[:], sys.meta_path[:] = kept_path, kept_finders


def restore() -> list[str]:
    """Put back what ``restrict`` took, in place and order; what was added or taken out since then stays so. The folders of ``sys.path``."""
    global _before
    if _before is None:
        return []
    folders = [folder for folder in _before.path if folder not in _before.kept_path]
    sys.path[:] = whole_path()
    finders = [finder for finder in sys.meta_path if not isinstance(finder, _LinkedLibraries)]
    sys.meta_path[:] = _with_changes(_before.finders, finders, _before.kept_finders)
    _before = None
    return folders


@contextlib.contextmanager
def lifted() -> Iterator[None]:
    """Let a block import from everywhere, in a process where something else refuses what is not installed."""
    was_restricted = _before is not None
    restore()
    try:
        yield
    finally:
        if was_restricted:
            restrict()


def whole_path() -> list[str]:
    """``sys.path`` as the program will find it."""
    return list(sys.path) if _before is None else _with_changes(_before.path, sys.path, _before.kept_path)


def is_of_python(finder: object) -> bool:
    """Whether a finder on ``sys.meta_path`` is one of those that each interpreter begins with."""
    return getattr(finder, "__module__", "") in OF_PYTHON


def installed_folders(path: Sequence[str]) -> list[str]:
    """Those of ``path`` that have the standard library, or what an installer has put there.

    These are the interpreter's own folders and the user's, as ``site`` names them, what is in them, and those of PYTHONPATH: of these,
    the host has left out what is the user's own (workers/import_path.py). Folders of other environments count, which their names tell;
    one in a repository that is no environment's does not where a line of a ``.pth`` file has it, as an editable install writes one for
    a folder of any name.
    """
    standard, sites = _standard(), _sites()
    given = {_normal(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry}
    inside = tuple(os.path.join(_real(folder), "") for folder in sites)
    others = [entry for entry in path if os.path.isabs(entry) and os.path.basename(entry.rstrip("/\\")) in SITE_FOLDERS]
    linked = _named_in_pth_files([*sites, *others]) if not sites.issuperset(map(_normal, others)) else set()

    def is_installed(entry: str) -> bool:
        name = _normal(entry)
        if (
            name in sites
            or name in given
            or _real(entry) in standard
            or os.path.join(_real(entry), "").startswith(inside)
        ):
            return True
        return entry in others and (_is_of_environment(entry) or not (name in linked and lies_in_repository(entry)))

    return [entry for entry in path if os.path.isabs(entry) and is_installed(entry)]


def lies_in_repository(place: str) -> bool:
    """Whether a folder around ``place``, with links followed, is one of git's."""
    folder = os.path.realpath(place)
    while not os.path.lexists(os.path.join(folder, ".git")):
        folder, before = os.path.dirname(folder), folder
        if folder == before:
            return False
    return True


def _is_of_environment(folder: str) -> bool:
    """Whether ``folder`` is that of a virtual environment: ``lib/python3.11/site-packages``, or ``Lib/site-packages`` on Windows."""
    above = os.path.dirname(os.path.dirname(folder))
    return any(os.path.isfile(os.path.join(place, "pyvenv.cfg")) for place in (above, os.path.dirname(above)))


def _standard() -> set[str]:
    """The folders and archives of the standard library, with links followed."""
    library = {
        os.path.dirname(os.__file__),
        *(path for path in map(sysconfig.get_path, ("stdlib", "platstdlib")) if path),
    }
    archive = f"python{sys.version_info[0]}{sys.version_info[1]}.zip"
    around = {sys.base_prefix, sys.base_exec_prefix, *map(os.path.dirname, library)}
    found = [*library, *(os.path.join(folder, "lib-dynload") for folder in library)]
    found += [os.path.join(folder, archive) for folder in around]
    if sys.platform == "win32":  # where its extensions are, and python.exe
        found += [os.path.join(sys.base_exec_prefix, "DLLs"), sys.base_prefix, sys.base_exec_prefix]
    return set(map(_real, found))


def _sites() -> set[str]:
    found = [path for path in map(sysconfig.get_path, ("purelib", "platlib")) if path]
    found += site.getsitepackages() if hasattr(site, "getsitepackages") else []
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    # those of the folders that a system gives this name: Windows lists the folder of Python, too
    return {_normal(folder) for folder in found if os.path.basename(folder) in SITE_FOLDERS}


def _named_in_pth_files(folders: Sequence[str]) -> set[str]:
    """The folders that lines of files in ``folders`` add to ``sys.path``, as ``site.addpackage`` reads them."""
    found = set()
    for folder in folders:
        for name in _listed(folder):
            if name.endswith(".pth"):
                with contextlib.suppress(OSError, ValueError):
                    lines = read_regular_text(os.path.join(folder, name)).splitlines()
                    found |= {
                        _normal(os.path.join(folder, line.strip()))
                        for line in lines
                        if line.strip() and not line.startswith(("#", "import ", "import\t"))
                    }
    return found


def _with_linked_torch(path: list[str], kept: list[str], finders: list[Any]) -> tuple[list[str], list[Any]]:
    """What to keep of ``path``, and of ``finders``. Whoever develops torch has installed a link to it: the one entry, or finder, that has
    it stays."""
    own = [finder for finder in finders if is_of_python(finder)]
    linked = _linked_to("torch", path, kept, finders)
    if isinstance(linked, str):
        return [entry for entry in path if entry in kept or entry == linked], own
    return kept, own if linked is None else [each for each in finders if each is linked or each in own]


def _linked_libraries(path: list[str], kept: list[str], finders: list[Any]) -> dict[str, Any]:
    """By name, where those of ``OF_TORCH`` are that are not installed, but linked to: an entry of ``path``, or a finder."""
    found = {name: _linked_to(name, path, kept, finders) for name in OF_TORCH}
    return {name: where for name, where in found.items() if where is not None}


def _linked_to(name: str, path: list[str], kept: list[str], finders: list[Any]) -> Any:
    """The finder, or the entry of ``path``, that has the library ``name`` by a link that an installer has recorded; None for an installed
    one."""
    if _has(name, importlib.machinery.PathFinder, kept):
        return None
    record = re.compile(rf"(?:pytorch[-_])?{name}-[^-]+\.dist-info|{name}\.egg-link")
    if not any(record.fullmatch(each) for folder in kept for each in _listed(folder)):
        return None
    linked = next((finder for finder in finders if not is_of_python(finder) and _has(name, finder, None)), None)
    others = (entry for entry in path if entry not in kept)
    return linked or next((entry for entry in others if _has(name, importlib.machinery.PathFinder, [entry])), None)


def _has(name: str, finder: Any, path: Sequence[str] | None) -> bool:
    try:
        spec = finder.find_spec(name, path)
    except Exception:  # a finder may build what it is asked for
        return False
    return spec is not None and spec.origin is not None


def _with_changes(whole: Sequence[T], now: Sequence[T], kept: Sequence[T]) -> list[T]:
    """``whole`` with what was done to the part ``kept`` of it, which is ``now``: what comes first there comes before all."""
    found = [each for each in whole if each not in kept or each in now]
    last = next((each for each in reversed(now) if each in whole), None)
    place, is_after = 0, False
    for each in now:
        if each in whole:
            place = found.index(each) + 1
            is_after = each is last
        else:
            place = len(found) if is_after else place
            found.insert(place, each)
            place += 1
    return found


def _normal(path: str) -> str:
    return os.path.normcase(os.path.abspath(path))


def _real(path: str) -> str:
    return os.path.normcase(os.path.realpath(path))


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
