"""Follows a parameter of a function that failed to the argument that was passed for it: `tags` for `labels` in `rules(kind, tags)`."""

from __future__ import annotations

import ast
import traceback
from types import FrameType

from ....runtime.parsed_source import parsed
from .failing_lines import source_of


def outermost_name(error: BaseException, frame: FrameType, name: str) -> str:
    """What the parameter ``name`` of the function of ``frame`` is called in the outermost function that passed it on; ``name`` where the
    call does not show that."""
    entries = list(traceback.walk_tb(error.__traceback__))
    lines = [source_of(each) for each in traceback.extract_tb(error.__traceback__)]
    index = next((i for i, (each, _) in enumerate(entries) if each is frame), 0)
    while index > 0:
        given = _given_for(name, entries[index][0], lines[index - 1])
        if not given:
            return name
        name, index = given, index - 1
    return name


def _given_for(name: str, callee: FrameType, line: str) -> str:
    """The name of what the call in ``line`` passes for the parameter ``name`` of ``callee``; '' where it has none."""
    code = callee.f_code
    parameters = list(code.co_varnames[: code.co_argcount])
    if parameters[:1] in (["self"], ["cls"]):
        parameters = parameters[1:]
    # the head of a loop or a condition is no statement
    tree = parsed(line) or parsed(f"{line} pass")
    for call in (each for each in ast.walk(tree) if isinstance(each, ast.Call)) if tree is not None else ():
        called = ast.unparse(call.func).rpartition(".")[2]
        if called != code.co_name and code.co_name not in ("__init__", "forward", "__call__"):
            continue
        given = dict(zip(parameters, call.args, strict=False))
        given.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
        if name in given:
            node = given[name]
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
                return str(node.slice.value)
            return str(getattr(node, "attr", getattr(node, "id", ""))).strip("_")
    return ""
