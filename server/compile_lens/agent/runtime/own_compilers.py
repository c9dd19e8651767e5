"""Decides whether what we compile ourselves, outside of a sandbox, may use the compiler that the user's variables name.

Tools that set variables as one enters a folder add programs and headers of its workspace. A run in the sandbox may use these. What is
compiled for all runs is not, since whoever filled the workspace would be the one to run.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator

from ..torch_internals import inductor
from .compiler_variables import COMPILERS, SEARCH_PATH, named_beside_the_search_path
from .own_home import own_home

# torch would install one (torch/_inductor/cpp_builder.py, ``cpp_compiler_search``)
INSTALLS = "TORCH_INDUCTOR_INSTALL_GXX"


def why_not_compile(places: Iterable[str]) -> str:
    """Why nothing of ours is compiled with the variables of this process, as a clause; '' if it may be.

    ``places`` are folders of the program that it is for, and what other repositories have brought; what is around them is a workspace's.
    """
    around = _workspaces(places)
    path = os.pathsep.join(_own_part(around))
    for name in _names():
        found = shutil.which(name)
        if found and (why := _why_foreign(found, around)):
            return why
        if found != shutil.which(name, path=path):  # of what the search path names otherwise, nothing is looked up
            return f"{found} is looked up in the current folder"
    for variable, word in named_beside_the_search_path(os.environ):
        if why := _why_foreign(word, around):
            return f"{why}, and {variable} names it"
    return ""


def first() -> str:
    """The name of the compiler that torch would try first."""
    return next(_names(), "g++")


def variables(places: Iterable[str]) -> dict[str, str]:
    """What to set while something of ours is compiled: programs that a compiler starts are not those of a workspace either."""
    around = _workspaces(places)
    return {SEARCH_PATH: os.pathsep.join(_own_part(around)), INSTALLS: ""}


def _names() -> Iterator[str]:
    """The compilers that torch looks for."""
    option = getattr(getattr(inductor.CONFIG.get(), "cpp", None), "cxx", ())
    chosen = option if isinstance(option, (list, tuple)) else (option,)
    for text in (*chosen, *map(os.environ.get, COMPILERS)):
        yield from str(text).split()[:1] if text else ()


def _own_part(around: list[str]) -> list[str]:
    entries = os.environ.get(SEARCH_PATH, os.defpath).split(os.pathsep)
    return [entry for entry in entries if os.path.isabs(entry) and not _why_foreign(entry, around)]


def _why_foreign(path: str, around: list[str]) -> str:
    """Why somebody else may have put ``path`` there, a file or a folder; '' for none."""
    path = os.path.abspath(path)
    for name in dict.fromkeys((path, os.path.join(_real(os.path.dirname(path)), os.path.basename(path)), _real(path))):
        # the interpreter of this environment runs here, too: whoever filled it needs no compiler
        if any(_is_below(name, prefix) for prefix in (sys.prefix, sys.base_prefix, _real(sys.prefix))):
            continue
        if any(_is_below(name, place) for place in around):
            return f"{path} is in a workspace"
        if os.name == "posix" and (folder := _open_to_others(name)):
            return f"others may write to {folder}, where {path} is"
    return ""


def _workspaces(places: Iterable[str]) -> list[str]:
    """The repositories around ``places``, or these themselves. One that holds the user's home is none: what is there, as in a repository of
    one's settings, is the user's own."""
    found = []
    for place in map(os.path.realpath, places):
        around, folder = place, place
        while folder != os.path.dirname(folder) and not _holds_home(folder):
            if os.path.lexists(os.path.join(folder, ".git")):
                around = folder
            folder = os.path.dirname(folder)
        if not _holds_home(around):
            found.append(around)
    return found


def _open_to_others(path: str) -> str:
    """The outermost file or folder on the way to ``path`` that anybody may change or has made where anybody may; '' for none."""
    is_shared = False
    parts = path.split(os.sep)
    for count in range(1, len(parts) + 1):
        place = os.sep.join(parts[:count]) or os.sep
        try:
            status = os.lstat(place)
        except OSError:
            return ""
        if is_shared and status.st_uid not in (0, os.geteuid()):
            return os.path.dirname(place)
        if not stat.S_ISLNK(status.st_mode):
            # in a folder with the sticky bit, each changes what is their own
            is_shared = bool(status.st_mode & stat.S_IWOTH)
            if is_shared and not (stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX):
                return place
    return ""


def _holds_home(folder: str) -> bool:
    return _is_below(own_home(), folder)


def _real(path: str) -> str:
    return os.path.realpath(path)


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))
