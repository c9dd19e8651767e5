"""Calls functions that a library would have called with the program's settings: those that its decorators are about.

`@library.main(config_path="conf", config_name="train")` names a file of settings; `def main(options: Options)` names a class of them, all
of which have defaults.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import re
import sys
import typing
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

from ...runtime.foreign_code import attempted
from ...runtime.parsed_source import parsed
from .composed_settings import composed, file_of
from .open_values import registered

# what makes another function of one, or keeps it for later, and starts nothing
_KEEPS = re.compile(r"jit|compile|kernel|fixture|parametri|regist|property|method|overload|hook|wraps|cache|grad|valid")
_DEPTH = 3


def decorated_functions(names: Mapping[str, Any], source: str, file: str) -> Iterator[tuple[str, FunctionType]]:
    """The functions of the program that a library outside of Python and torch decorates, as the program has written them."""
    tree = parsed(source)
    for node in tree.body if tree is not None else ():
        if isinstance(node, ast.FunctionDef) and any(_starts(each, names) for each in node.decorator_list):
            beneath = _beneath(names.get(node.name), node.name, file)
            if beneath is not None:
                yield node.name, beneath


def settings_for(function: Any, source: str, file: str) -> dict[str, Any]:
    """What parameters of ``function``, as far as it requires them, get from files of settings and from the defaults of classes."""
    given: dict[str, Any] = {}
    hints = attempted(functools.partial(typing.get_type_hints, function)) or {}
    signature = attempted(functools.partial(inspect.signature, function))
    required = [
        each
        for each in (signature.parameters.values() if signature is not None else ())
        if each.default is each.empty
        and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    ]
    for index, parameter in enumerate(required):
        value = _of_files(function.__name__, source, file) if index == 0 else None
        value = value_of_class(hints.get(parameter.name)) if value is None else value
        if value is not None:
            given[parameter.name] = value
    return given


def value_of_class(hint: Any) -> Any:
    """An object of a class of the program's own that needs no arguments; None for anything else."""
    if not isinstance(hint, type) or hint.__module__.partition(".")[0] in sys.stdlib_module_names - {"__main__"}:
        return None
    return attempted(hint)


def _starts(decorator: ast.expr, names: Mapping[str, Any]) -> bool:
    """Whether a decorator may be of a library that starts the function: not of Python or torch, and not one that only keeps it."""
    root = decorator
    while isinstance(root, ast.Call | ast.Attribute):
        root = root.func if isinstance(root, ast.Call) else root.value
    if not isinstance(root, ast.Name) or _KEEPS.search(ast.unparse(decorator).partition("(")[0]):
        return False
    value = names.get(root.id)
    # asked of its class where it is an object: a stub has any attribute
    owner = value if isinstance(value, type | FunctionType) else type(value)
    module = str(getattr(value, "__name__", "") if inspect.ismodule(value) else owner.__module__)
    top = module.partition(".")[0]
    return value is not None and top not in sys.stdlib_module_names and top not in ("builtins", "torch", "__main__")


def _beneath(value: Any, name: str, file: str) -> FunctionType | None:
    """The function of the program within what a decorator has made of it."""
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        each, depth = waiting.pop(0)
        found = attempted(lambda each=each: inspect.unwrap(each))  # type: ignore[misc]
        if isinstance(found, FunctionType):
            if found.__code__.co_filename == file and found.__code__.co_name == name:
                return found
        elif depth < _DEPTH:
            attributes = attempted(lambda each=each: object.__getattribute__(each, "__dict__"))  # type: ignore[misc]
            inside = list(attributes.values())[:64] if isinstance(attributes, dict) else []
            waiting += [(part, depth + 1) for part in inside if callable(part)]
    return None


def _of_files(name: str, source: str, file: str) -> Any:
    """The settings of the file that the decorators of a function name: two of their words are a folder and a file in it; else those that
    the program has registered by a name that is one of them."""
    tree = parsed(source)
    defined = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name), None) if tree else None
    own = os.path.dirname(file)
    for decorator in defined.decorator_list if defined is not None else ():
        words = [n.value for n in ast.walk(decorator) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        for folder in (own, *(os.path.join(own, each) for each in words)):
            for word in words:
                if os.path.isdir(folder) and file_of(folder, word):
                    return composed(folder, word)
        found = next((each for each in map(registered, words) if each is not None), None)
        if found is not None:
            return found
    return None
