"""Tells what a program passes to a class where it has not come to do so: what is written there, or bound once to a name.

A script that ends early has its sizes all the same: in locals of the function that makes the model, in the defaults of its options.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Mapping
from types import FunctionType
from typing import Any

from ...runtime.foreign_code import attempted
from ..synthesis.source.signatures import read_parameters
from ..synthesis.terms.arguments import literal
from .meant_values import is_registry, value_of

_UNKNOWN = object()
# what programs call the options that they have parsed, also where a function gets them
_OPTIONS = frozenset({"args", "arguments", "opt", "opts", "options", "hparams"})


def given_in(
    cls: type, call: ast.Call, names: Mapping[str, Any], program: ast.AST | None = None, part: ast.AST | None = None
) -> dict[str, str]:
    """The arguments of ``call``, which makes a ``cls``, as text by parameter: those that are written, and those that ``names`` have.

    ``part`` is the code that has the call, whose own names are known where they are bound once, and ``program`` that which reads options:
    of one that nobody passed, its default is known.
    """
    parameters = [info.name for info in read_parameters(getattr(cls, "__init__"), skip_first=True)]  # noqa: B009
    positional = [] if is_registry(call.func, names) else call.args
    if any(isinstance(each, ast.Starred) for each in positional):
        positional = []
    passed = dict(zip(parameters, positional, strict=False)) | {
        each.arg: each.value for each in call.keywords if each.arg
    }
    own = _bound_once(part) if part is not None else {}
    options = _defaults(program) if program is not None else {}
    texts = {name: text_of(_value(node, names, own, options), cls) for name, node in passed.items()}
    return {name: text for name, text in texts.items() if text is not None and text != "None"}


def text_of(value: Any, cls: type) -> str | None:
    """The text for ``value`` where a ``cls`` is constructed: of a plain value, or of a class or function that its module has by that
    name (`ResNet(Bottleneck, …)`). None where it has none."""
    if value is _UNKNOWN:
        return None
    if isinstance(value, (type, FunctionType)):
        owner, name = sys.modules.get(cls.__module__), value.__name__
        return name if owner is not None and vars(owner).get(name) is value else None
    return literal(value)


def _value(node: ast.expr, names: Mapping[str, Any], own: Mapping[str, ast.expr], options: Mapping[str, Any]) -> Any:
    written = attempted(lambda: [ast.literal_eval(node)])
    if written is not None:
        return written[0]
    if isinstance(node, ast.Name) and node.id in own:
        # what a name stands for there is written, too
        return _value(own[node.id], names, {}, options)
    if isinstance(node, ast.Attribute):
        holder = names.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if isinstance(holder, argparse.Namespace):
            return vars(holder).get(node.attr, _UNKNOWN)
        if holder is None and ast.unparse(node.value).rpartition(".")[2] in _OPTIONS:
            return options.get(node.attr, _UNKNOWN)  # `args.width`, `self.args.width`
    found = value_of(node, names)
    return _UNKNOWN if found is None else found


def _bound_once(part: ast.AST) -> dict[str, ast.expr]:
    """The names that one statement of ``part`` binds, and nothing else, with what it binds them to."""
    found: dict[str, ast.expr] = {}
    counts: dict[str, int] = {}
    for node in ast.walk(part):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            counts[node.id] = counts.get(node.id, 0) + 1
        elif isinstance(node, ast.arg):
            counts[node.arg] = counts.get(node.arg, 0) + 1
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
    return {name: value for name, value in found.items() if counts[name] == 1}


def _defaults(program: ast.AST) -> dict[str, Any]:
    """The defaults of the options that ``program`` adds to a parser, by name; of one that it adds twice, none."""
    found: dict[str, Any] = {}
    for node in ast.walk(program):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        added = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        flags = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        keywords = {each.arg: each.value for each in node.keywords}
        if added != "add_argument" or not flags or "default" not in keywords:
            continue
        destination = keywords.get("dest")
        name = destination.value if isinstance(destination, ast.Constant) else _name_of(flags)
        default = attempted(lambda node=keywords["default"]: [ast.literal_eval(node)])  # type: ignore[misc]
        found[str(name)] = default[0] if default is not None and str(name) not in found else _UNKNOWN
    return found


def _name_of(flags: list[str]) -> str:
    """The name under which argparse keeps an option: its first long one, or its first."""
    return next((each for each in flags if each.startswith("--")), flags[0]).lstrip("-").replace("-", "_")
