"""Finds values for what is read of a configuration: in examples of docstrings, and among the defaults of command-line options.

`params = {"width": 8, "kernel": 3}` in the docstring of a class fits together, and so do the defaults of `train.py`.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from ....models.configuration_sizes import LAYERS, VOCABULARIES, WIDTHS, smaller_size
from ..terms.arguments import literal
from .package_files import package_files, statements_mentioning

MOST_FILES = 400
_WRITTEN = re.compile(r"=\s*(\{[^{}]*\})")
_OPTIONS = r"\.add_argument\("


@functools.lru_cache(maxsize=32)
def documented_values(cls: type, module: ModuleType) -> dict[str, str]:
    """Names and expressions: of the docstrings of ``cls``, else of the options of programs of its package, made smaller."""
    found: dict[str, Any] = {}
    for each in (cls, getattr(cls, "__init__"), module):  # noqa: B009 - mypy does not like it said otherwise
        for name, value in _in_docstring(inspect.getdoc(each) or ""):
            found.setdefault(name, value)
    if not found:
        found = _of_options(module)
    texts = {name: literal(_smaller(name, value)) for name, value in found.items()}
    return {name: text for name, text in texts.items() if text is not None}


def _smaller(name: str, value: Any) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    size = smaller_size(name, value, (*LAYERS, *VOCABULARIES, *WIDTHS))
    return value if size is None else size


def _in_docstring(text: str) -> Iterator[tuple[str, Any]]:
    for written in _WRITTEN.findall(text):
        try:
            value = ast.literal_eval(written)
        except (ValueError, SyntaxError):
            continue
        if isinstance(value, dict):
            yield from ((key, each) for key, each in value.items() if isinstance(key, str))


def _of_options(module: ModuleType) -> dict[str, Any]:
    """The defaults of the options that the file and the files around it declare; those of the nearest file of each."""
    file = os.path.abspath(str(getattr(module, "__file__", None) or ""))
    found: dict[str, Any] = {}
    for number, (path, _) in enumerate(package_files(file, module.__name__)):
        if number >= MOST_FILES:
            break
        for statement in statements_mentioning(path, _OPTIONS):
            for node in ast.walk(statement):
                if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
                    for name, value in _option(node):
                        found.setdefault(name, value)
    return found


def _option(call: ast.Call) -> Iterator[tuple[str, Any]]:
    """The name and the default of an option: False for a flag; nothing for one without."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    words = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    long = next((word for word in words if word.startswith("--")), "")
    name = getattr(named.get("dest"), "value", None) or long.lstrip("-").replace("-", "_")
    if not name:
        return
    action = getattr(named.get("action"), "value", "")
    if action in ("store_true", "store_false"):
        yield name, action == "store_false"
    elif "default" in named:
        try:
            value = ast.literal_eval(named["default"])
        except (ValueError, SyntaxError):
            return
        if value is not None:
            yield name, value
