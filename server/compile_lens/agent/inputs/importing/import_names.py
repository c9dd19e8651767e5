"""Tells whether a folder or a file of the project is the module that an import means: whether it has what is imported of it.

`examples/timm/` is no `timm`, and one `utils.py` of several is the right one.
"""

from __future__ import annotations

import ast
import functools
import os
import re
from collections.abc import Iterator, Sequence

# a module that may define any name
_OPEN = re.compile(r"^\s*from\s+\S+\s+import\s+\*|\b__getattr__\b|\bglobals\(\)|\bsys\.modules\b", re.MULTILINE)


def has_what_is_imported(folder: str, name: str, imports: Sequence[ast.AST]) -> bool:
    """Whether the module ``name`` in ``folder`` has something of what ``imports`` ask for: not all, since parts may be built later."""
    asked = [(path, wanted) for path, wanted in imported_names(name, imports) if wanted or path != name]
    return not asked or any(has_names(os.path.join(folder, *path.split(".")), wanted) for path, wanted in asked)


def imported_names(name: str, imports: Sequence[ast.AST]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The dotted names of modules, ``name`` or below it, and what is imported of each."""
    for node in imports:
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            if node.module.partition(".")[0] == name:
                yield node.module, tuple(alias.name for alias in node.names if alias.name != "*")
        elif isinstance(node, ast.Import):
            yield from ((alias.name, ()) for alias in node.names if alias.name.partition(".")[0] == name)


def has_names(place: str, wanted: Sequence[str]) -> bool:
    """Whether ``place``, a module's path without its ending, is there and has the names that are ``wanted`` of it."""
    text = _text_of(f"{place}.py") or _text_of(os.path.join(place, "__init__.py"))
    if not text and not os.path.exists(f"{place}.py") and not os.path.isdir(place):
        return False
    return _OPEN.search(text) is not None or all(
        re.search(rf"\b{re.escape(each)}\b", text) or _is_there(os.path.join(place, each)) for each in wanted
    )


def _is_there(place: str) -> bool:
    return os.path.isdir(place) or os.path.isfile(f"{place}.py")


@functools.lru_cache(maxsize=64)
def _text_of(path: str) -> str:
    """The text of a file; '' where there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""
