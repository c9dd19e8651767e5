"""Follows what failed back along the source: to the arguments that it was made of, also by way of attributes that a constructor keeps,
and to the method that alone sets an attribute.

The failing line names what was computed, as `hidden_sizes[-1]` of a list made from a default, or `self.mask`, which only a method sets.
"""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed_source_of
from ....torch_internals.attributes import original_function
from .failed_conditions import source_tree
from .origins import frames_of_program

CONSTRUCTOR = "__init__"
# steps back, and constructors that are gone through
MOST_STEPS, MOST_OBJECTS = 24, 4
_OF_SELF = "self."
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class SetByMethod:
    """``attribute`` of an object of ``cls`` is set by its method ``method`` alone; ``owner`` is the object."""

    owner: Any
    cls: type
    attribute: str
    method: str


@dataclass(slots=True)
class Behind:
    """What is behind an error: names of ``arguments`` of the functions of the program, the nearest first, and what a method sets."""

    arguments: list[str] = field(default_factory=list)
    methods: list[SetByMethod] = field(default_factory=list)


def traced_back(error: BaseException) -> Behind:
    """The arguments of the outermost function of the program, or of the constructor of its object, which what failed was made of."""
    found = Behind()
    attempted(lambda: _trace(error, found))
    return found


def _trace(error: BaseException, found: Behind) -> None:
    frames = list(frames_of_program(error))
    wanted: list[str] | None = None
    inner: FrameType | None = None
    for entry in reversed(frames):
        frame = entry.tb_frame
        tree = source_tree(frame)
        row = entry.tb_lineno - frame.f_code.co_firstlineno + 1
        node = _failing_node(tree, frame, entry.tb_lasti, row) if tree is not None else None
        if tree is None or node is None:
            continue
        if inner is not None and wanted is not None:
            names = _passed(node, inner, wanted)
            if names is None:
                continue  # a wrapper, which passes what it gets
        else:
            names = [*_names_in(_asked_of(node, error))]
        reached = _backwards(tree, names, row)
        _take_attributes(frame, tree, reached, found, {each.tb_frame.f_code for each in frames})
        wanted, inner = [name for name in reached if not name.startswith(_OF_SELF)], frame
    if inner is not None and wanted is not None:
        known = _parameters(inner)
        found.arguments[:0] = [name for name in wanted if name in known and name not in found.arguments]


def _failing_node(tree: ast.AST, frame: FrameType, instruction: int, row: int) -> ast.AST | None:
    """What of the statement in ``row`` was being done, as exactly as Python tells (3.11); else the statement."""
    statement: ast.AST | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, _FUNCTIONS) and _is_in(node, row):
            statement = node
    place = _position(frame, instruction)
    if statement is None or place is None:
        return _head(statement)
    first, last, column, end = place
    shift = frame.f_code.co_firstlineno - 1
    indent = _indent_of(frame)
    for node in ast.walk(statement):
        own = getattr(node, "lineno", 0) + shift, getattr(node, "end_lineno", 0) + shift
        columns = getattr(node, "col_offset", -1) + indent, getattr(node, "end_col_offset", -1) + indent
        if isinstance(node, ast.expr) and (*own, *columns) == (first, last, column, end):
            return node
    return _head(statement)


def _position(frame: FrameType, instruction: int) -> tuple[int, int, int, int] | None:
    positions = getattr(frame.f_code, "co_positions", None)
    found = next(itertools.islice(positions(), instruction // 2, None), None) if positions is not None else None
    return found if found is not None and None not in found else None


def _indent_of(frame: FrameType) -> int:
    """How far the function is indented in its file: its tree has it without that."""
    lines, _ = inspect.getsourcelines(frame.f_code)
    return len(lines[0]) - len(lines[0].lstrip())


def _is_in(node: ast.stmt, row: int) -> bool:
    return node.lineno <= row <= (node.end_lineno or row)


def _head(statement: ast.AST | None) -> ast.AST | None:
    """Of a loop or a condition, what it goes over or asks."""
    if isinstance(statement, ast.For):
        return statement.iter
    return statement.test if isinstance(statement, (ast.If, ast.While, ast.Assert)) else statement


def _asked_of(node: ast.AST, error: BaseException) -> ast.AST:
    """What ``error`` is about: what has no such attribute, or is not indexed so."""
    if isinstance(node, ast.Attribute) and isinstance(error, AttributeError):
        is_of_self = isinstance(node.value, ast.Name) and node.value.id == "self"
        return node if is_of_self else node.value
    return node.value if isinstance(node, ast.Subscript) and _is_constant(node.slice) else node


def _is_constant(node: ast.AST) -> bool:
    return all(isinstance(each, (ast.Constant, ast.UnaryOp, ast.USub, ast.Slice)) for each in ast.walk(node))


def _names_in(node: ast.AST) -> Iterator[str]:
    """The variables in ``node``, and `self.width` for an attribute of its object."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        yield f"{_OF_SELF}{node.attr}"
        return
    if isinstance(node, ast.Name):
        yield node.id
    for each in ast.iter_child_nodes(node):
        yield from _names_in(each)


def _passed(node: ast.AST, inner: FrameType, wanted: list[str]) -> list[str] | None:
    """The names of which ``node`` makes the arguments ``wanted`` of the function that it calls, and of the function where its name is
    a variable; None where that is not seen."""
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    if not calls or any(isinstance(each, ast.Starred) for each in calls[0].args):
        return None
    code = inner.f_code
    parameters = list(code.co_varnames[: code.co_argcount])
    parameters = parameters[1:] if parameters[:1] == ["self"] else parameters
    given = dict(zip(parameters, calls[0].args, strict=False))
    given.update({each.arg: each.value for each in calls[0].keywords if each.arg})
    found = [name for each in wanted if each in given for name in _names_in(given[each])]
    # what is called may be chosen by an argument: `self.init(weight)`, `make(width)`
    return found or [*_names_in(calls[0].func)]


def _backwards(tree: ast.AST, names: list[str], row: int) -> list[str]:
    """``names`` and what was assigned to them before ``row``, the nearest first."""
    assigned: dict[str, list[str]] = {}
    for targets, value, line in _assignments(tree):
        if line <= row:
            for name in (each for target in targets for each in _names_in(target)):
                assigned.setdefault(name, []).extend(_names_in(value))
    found = dict.fromkeys(names)
    for name in (waiting := list(found)):
        more = [each for each in assigned.get(name, ()) if each not in found]
        waiting += more[: max(MOST_STEPS - len(waiting), 0)]
        found |= dict.fromkeys(more)
    return list(found)


def _assignments(tree: ast.AST) -> Iterator[tuple[list[ast.expr], ast.AST, int]]:
    """What is assigned to, what of, and the row. What is added to a list is a part of it."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets, value):
                yield targets, value, node.lineno
            case ast.AnnAssign(target, _, value) | ast.AugAssign(target, _, value) if value is not None:
                yield [target], value, node.lineno
            case ast.NamedExpr(target, value):
                yield [target], value, node.lineno
            case ast.For(target, source):
                yield [target], source, node.lineno
            case ast.comprehension(target, source):
                yield [target], source, target.lineno
            case ast.withitem(source, target) if target is not None:
                yield [target], source, target.lineno


def _take_attributes(
    frame: FrameType, tree: ast.AST, reached: list[str], found: Behind, running: set[CodeType]
) -> None:
    """Add what made the attributes of the object in ``frame`` that are among ``reached``. What was ``running`` did not come to that."""
    owner = frame.f_locals.get("self")
    own = {each for targets, _, _ in _assignments(tree) for target in targets for each in _names_in(target)}
    for name in reached:
        # what this function itself has assigned was followed there
        if owner is not None and name.startswith(_OF_SELF) and name not in own:
            _take_attribute(owner, name.removeprefix(_OF_SELF), found, running)


def _take_attribute(owner: Any, attribute: str, found: Behind, running: set[CodeType]) -> None:
    setting = list(_setting(type(owner), attribute))
    made = dict(setting).get(CONSTRUCTOR)
    methods = {method for method, (_, value) in setting if method != CONSTRUCTOR and not _is_nothing(value)}
    if made is not None and not _is_nothing(made[1]):
        tree, value = made
        names = _backwards(tree, [*_names_in(value)], 10**6)
        function = tree.body[0]
        known = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)} - {"self"}
        found.arguments += [name for name in names if name in known and name not in found.arguments]
    elif len(methods) == 1 and _is_lacking(owner, attribute):
        (method,) = methods
        if getattr(original_function(getattr(type(owner), method)), "__code__", None) not in running:
            found.methods.append(SetByMethod(owner, type(owner), attribute, method))


def _setting(cls: type, attribute: str) -> Iterator[tuple[str, tuple[Any, ast.AST]]]:
    """The methods of ``cls`` that set ``attribute``, each with its tree and the value; the constructor is one of them."""
    name = f"{_OF_SELF}{attribute}"
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] in ("torch", "builtins"):
            continue
        for method, function in vars(base).items():
            tree = parsed_source_of(function) if inspect.isfunction(function) else None
            for targets, value, _ in _assignments(tree) if tree is not None else ():
                if any(name in _names_in(target) for target in targets if not isinstance(target, ast.Subscript)):
                    yield method, (tree, value)


def _is_nothing(value: ast.AST) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _is_lacking(owner: Any, attribute: str) -> bool:
    return attempted(lambda: getattr(owner, attribute)) is None


def _parameters(frame: FrameType) -> set[str]:
    code = frame.f_code
    return set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]) - {"self"}
