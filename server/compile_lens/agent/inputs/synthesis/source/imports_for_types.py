"""Imports what a module names in annotations alone: what stands under ``if TYPE_CHECKING:``."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import re
import sys
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed, source_of


def imported_for_types(module: str, annotation: str) -> dict[str, Any]:
    """The values of those names in ``annotation`` that ``module`` imports for its type checker alone, as far as they can be imported."""
    known = _imports(module)
    found: dict[str, Any] = {}
    for name in set(re.findall(r"[A-Za-z_]\w*", annotation)) & known.keys():
        source, attribute = known[name]
        value = attempted(functools.partial(_imported, source, attribute))
        if value is not None:
            found[name] = value
    return found


def _imported(source: str, attribute: str) -> Any:
    made = importlib.import_module(source)
    return getattr(made, attribute) if attribute else made


@functools.lru_cache(maxsize=64)
def _imports(module: str) -> dict[str, tuple[str, str]]:
    """For each name that is imported under ``if TYPE_CHECKING:``, the module and what of it; '' where it is the module itself."""
    loaded = sys.modules.get(module)
    text = source_of(loaded) if loaded is not None else ""
    tree = parsed(text) if "TYPE_CHECKING" in text else None
    found: dict[str, tuple[str, str]] = {}
    for block in tree.body if tree is not None else ():
        if not isinstance(block, ast.If) or not ast.unparse(block.test).endswith("TYPE_CHECKING"):
            continue
        for node in block.body:
            if isinstance(node, ast.ImportFrom):
                source = attempted(functools.partial(_absolute, node, str(getattr(loaded, "__package__", ""))))
                found.update({alias.asname or alias.name: (source, alias.name) for alias in node.names if source})
            elif isinstance(node, ast.Import):
                found.update({alias.asname: (alias.name, "") for alias in node.names if alias.asname})
    return found


def _absolute(node: ast.ImportFrom, package: str) -> str:
    return importlib.util.resolve_name("." * node.level + (node.module or ""), package)
