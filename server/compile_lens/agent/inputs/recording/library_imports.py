"""Lets libraries be imported without the function that profiles the program: under it, an import takes several times as long.

What a library does when it is imported is no call of the program's. A module of the project may compute when it is imported, so it is
profiled, except for the libraries that it imports itself.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib.machinery
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ...runtime.foreign_code import attempted
from ...runtime.libraries import library_roots


@contextlib.contextmanager
def not_profiled(is_profiling: Callable[[], bool], profile: Any, is_own: Callable[[str], bool]) -> Iterator[None]:
    """While the body runs, `import` statements import libraries without ``profile``, which is there again after each while
    ``is_profiling``. ``is_own`` tells whether a file is of the project: its package may be installed."""
    original: Any = builtins.__import__
    is_library = functools.lru_cache(maxsize=None)(functools.partial(_is_library, is_own))

    def imported(name: str, *arguments: Any, **named: Any) -> Any:
        level = named.get("level", arguments[3] if len(arguments) > 3 else 0)
        if level or sys.getprofile() != profile or not is_library(name.partition(".")[0]):
            return original(name, *arguments, **named)
        sys.setprofile(None)
        try:
            return original(name, *arguments, **named)
        finally:
            if is_profiling() and sys.getprofile() is None:
                sys.setprofile(profile)

    builtins.__import__ = imported
    try:
        yield
    finally:
        if builtins.__import__ is imported:  # the program may have put its own around it
            builtins.__import__ = original


def _is_library(is_own: Callable[[str], bool], top: str) -> bool:
    """Whether the module or package ``top`` is Python's own, or of an installed library."""
    if top in sys.stdlib_module_names:
        return True
    module = sys.modules.get(top)
    spec: Any = getattr(module, "__spec__", None) or attempted(lambda: importlib.machinery.PathFinder.find_spec(top))
    path = str(getattr(spec, "origin", None) or "")
    return path.startswith(library_roots()) and not is_own(path)
