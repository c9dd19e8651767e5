"""Passes members of enumerations, and names of what is looked up by its name, where a program finds nothing by what it got.

`Kind(mode)` raises "64 is not a valid Kind", `if mode is Kind.FAST: … else: raise` raises what it likes, and `getattr(nn, mode)` and
`getattr(self, "_as_" + mode)` find nothing.
"""

from __future__ import annotations

import ast
import copy
import enum
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FrameType, FunctionType, ModuleType
from typing import Any

from ....runtime.parsed_source import parsed
from ..errors.failed_conditions import relations, source_tree
from ..errors.failing_lines import failing_line, innermost, names_in_failing_lines, source_of
from ..source.accepted_values import in_order
from ..terms.arguments import INSIDE, Expression, UnknownInteger, literal
from ..terms.candidate import Candidate

MOST_VALUES, MOST_SUSPECTS = 3, 4
# the layers and the functions that programs most often name, where a library has both
_USUAL = ("ReLU", "relu")
# what is found of a library by the name of the variable: `getattr(torch, config.dtype)`
_NAMED_SO = (
    (r"dtype|precision", "float32"),
    (r"optim|opt$", "SGD"),
    (r"init(?:iali[sz]er)?(?:_|$)", "xavier_uniform_"),
)
_ENUM = os.path.basename(enum.__file__)


def with_member(candidate: Candidate, error: BaseException, path_of: Callable[[type], str]) -> Iterator[Candidate]:
    """Candidates with a member of the enumeration, or with its value or its name, that the program looks for; with a function or a class
    that it demands: `assert make in {resnet18, resnet34}`."""
    for cls, is_by_name in _looked_up(error):
        members = list(cls)[:MOST_VALUES]
        texts = [repr(each.name) if is_by_name else literal(each.value) for each in members]
        for path in _suspects(candidate, set(names_in_failing_lines(error))):
            yield from (_with(candidate, path, text) for text in texts if text is not None)
    for name, full_names in _functions_and_classes(error):
        for path in _suspects(candidate, {name}):
            yield from (_with(candidate, path, each) for each in full_names)
    for name, found in _compared(error).items():
        for path in _suspects(candidate, {name}):
            yield from (_with(candidate, path, f"{path_of(type(each))}.{each.name}") for each in found[:MOST_VALUES])


def with_name_of_part(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates with the name of something that an object or a module has, for `getattr(owner, name)`."""
    if not isinstance(error, (AttributeError, TypeError)):
        return
    for frame, call in _lookups(error):
        owner = _value(call.args[0], frame)
        variable, before, after = _parts_of_name(call.args[1])
        if owner is None or not variable:
            continue
        usual = tuple(name for pattern, name in _NAMED_SO if re.search(pattern, variable) and hasattr(owner, name))
        for path in _suspects(candidate, {variable}):
            yield from (_with(candidate, path, repr(name)) for name in usual or _names_in(owner, before, after))


def _looked_up(error: BaseException) -> Iterator[tuple[Any, bool]]:
    """The enumeration that raised ``error`` where it was called, or indexed with a name."""
    frame = innermost(error)[0]
    if frame is not None and os.path.basename(frame.f_code.co_filename) == _ENUM:
        cls = frame.f_locals.get("cls")
        if isinstance(cls, enum.EnumMeta):
            yield cls, frame.f_code.co_name == "__getitem__"


def _functions_and_classes(error: BaseException) -> Iterator[tuple[str, list[str]]]:
    """For each name that had to be one of several functions or classes, the full names of these."""
    for relation in relations(error):
        inside = relation.value(relation.right) if relation.operator is ast.In else None
        if isinstance(inside, (tuple, list, set, frozenset, dict)) and _name(relation.left):
            found = [name for each in in_order(inside) if (name := _full_name(each))]
            yield _name(relation.left), found[:MOST_VALUES]


def _full_name(value: Any) -> str:
    """The name under which a function or a class can be imported; '' for anything else."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    known = vars(sys.modules.get(module, ast)) if isinstance(module, str) else {}
    is_found = isinstance(value, (type, FunctionType)) and known.get(name) is value
    return f"{module}.{name}" if is_found and module not in ("builtins", "__main__") else ""


def _compared(error: BaseException) -> dict[str, list[enum.Enum]]:
    """For each name, the members that the function which raised compares it with."""
    frame = innermost(error)[0]
    tree = source_tree(frame) if failing_line(error).startswith(("raise ", "assert ")) else None
    found: dict[str, list[enum.Enum]] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Compare) and frame is not None:
            other = node.comparators[0]
            several = other.elts if isinstance(other, (ast.Tuple, ast.List, ast.Set)) else [other]
            members = [_value(each, frame) for each in several]
            found.setdefault(_name(node.left), []).extend(each for each in members if isinstance(each, enum.Enum))
    return {name: members for name, members in found.items() if name and members}


def _lookups(error: BaseException) -> Iterator[tuple[FrameType, ast.Call]]:
    """The calls of ``getattr`` in the lines that failed, the innermost first."""
    entries = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    lines = [source_of(each) for each in traceback.extract_tb(error.__traceback__)]
    for frame, line in reversed(list(zip(entries, lines, strict=True))):
        tree = parsed(line) if "getattr(" in line else None
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr" and len(node.args) > 1:
                yield frame, node


def _value(node: ast.expr, frame: FrameType) -> Any:
    """What a name, or an attribute of a module or an enumeration, is in ``frame``; None for anything else."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if not isinstance(node, ast.Attribute):
        return None
    owner = _value(node.value, frame)
    return vars(owner).get(node.attr) if isinstance(owner, (ModuleType, enum.EnumMeta)) else None


def _parts_of_name(node: ast.expr) -> tuple[str, str, str]:
    """The variable in the expression for a name, and the text before and after it: `"_as_" + mode`, `f"{mode}_loss"`, `config.mode`."""
    parts = [node]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [node.left, node.right]
    elif isinstance(node, ast.JoinedStr):
        parts = [each.value if isinstance(each, ast.FormattedValue) else each for each in node.values]
    names = [_name(each) or _name_in_object(each) for each in parts]
    index = next((number for number, name in enumerate(names) if name), -1)
    texts = [str(each.value) if isinstance(each, ast.Constant) else "" for each in parts]
    return (names[index], "".join(texts[:index]), "".join(texts[index + 1 :])) if index >= 0 else ("", "", "")


def _names_in(owner: Any, before: str, after: str) -> list[str]:
    """What stands between ``before`` and ``after`` in names of what ``owner`` defines: those of a library that are usual come first."""
    known = list(vars(owner)) if isinstance(owner, ModuleType) else [n for c in type(owner).__mro__ for n in vars(c)]
    if not before and not after:
        usual = [name for name in _USUAL if name in known]
        own = [
            name
            for name in known
            if isinstance(owner, ModuleType)
            and not name.startswith("_")
            and getattr(vars(owner)[name], "__module__", "") == owner.__name__
        ]
        return [*usual, *own][:MOST_VALUES]
    fitting = [name for name in known if name.startswith(before) and name.endswith(after)]
    middles = [name[len(before) : len(name) - len(after)] for name in fitting]
    return [each for each in middles if each.strip("_")][:MOST_VALUES]


def _suspects(candidate: Candidate, names: set[str]) -> list[str]:
    """The numbers and texts that are passed for parameters with ``names``."""
    found = []
    for path, argument in candidate.arguments.plain():
        is_value = isinstance(argument, UnknownInteger) or argument.text[:1] in "'\"" or argument.text.isdecimal()
        if is_value and path.rpartition(INSIDE)[2].strip("_") in names:
            found.append(path)
    return found[:MOST_SUSPECTS]


def _name(node: ast.expr) -> str:
    """``mode`` for ``mode`` and ``self._mode``."""
    if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self":
        return node.attr.strip("_")
    return node.id.strip("_") if isinstance(node, ast.Name) else ""


def _name_in_object(node: ast.expr) -> str:
    """``mode`` for ``config.mode`` and ``config["mode"]``."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return node.attr.strip("_") if isinstance(node, ast.Attribute) else ""


def _with(candidate: Candidate, path: str, text: str) -> Candidate:
    return Candidate(candidate.arguments.with_argument(path, Expression(text)), copy.deepcopy(candidate.unknowns))
