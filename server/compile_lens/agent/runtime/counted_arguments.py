"""Reads which arguments a program takes from `sys.argv` by their number, and ends without.

One that has a value in their place (`sys.argv[1] if len(sys.argv) > 1 else "small"`) gets none, nor does one that leaves them to a library.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from .foreign_code import attempted
from .handlers import ends_program
from .parsed_source import parsed

MOST = 8
# they read the arguments themselves
_LIBRARIES = re.compile(
    r"\b(?:argparse|ArgumentParser|optparse|getopt|click|typer|fire|absl|docopt|hydra|simple_parsing|tyro|jsonargparse)\b"
)
# a parameter of that name may have any of them
_IS_ARGV = re.compile(r"^[ \t]*(?:from sys import\b.*\bargv\b|argv[ \t]*=[ \t]*sys\.argv[ \t]*$)", re.MULTILINE)
_PLAIN = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant, ast.cmpop, ast.boolop, ast.unaryop, ast.Expression)
_NUMBERS = {"int": int, "float": float}
_Check: TypeAlias = ast.If | ast.IfExp | ast.While


@dataclass(frozen=True)
class CountedArgument:
    """``name`` is what the program calls the argument ``number``, or nothing; ``kind`` the number that it makes of it, ``choices`` the
    texts that it compares it with."""

    number: int
    name: str
    kind: type | None
    choices: tuple[str, ...]

    @property
    def shown(self) -> str:
        """What it is called, or where it is taken from."""
        return self.name or f"sys.argv[{self.number}]"


def counted_arguments(source: str) -> list[CountedArgument]:
    """The arguments that ``source`` takes from `sys.argv` and cannot do without, in order; none where a library reads them."""
    tree = _read(source)
    if tree is None:
        return []
    taken = _Taken(tree)
    return [taken.argument(number) for number in range(1, _count(tree, taken) + 1)]


def ends_without(source: str, line: int) -> bool:
    """Whether ``source`` comes to ``line`` only where it lacks such arguments: in the body of a check of their number that ends it, or
    where it takes one unchecked."""
    tree = _read(source)
    if tree is None or not _count(tree, _Taken(tree)):
        return False
    ending = [node for node in _checks(tree) if isinstance(node, ast.If) and _ends(node) and _passing(node.test)]
    if any(node.body[0].lineno <= line <= (node.body[-1].end_lineno or line) for node in ending):
        return True
    return not ending and any(_number_of(node) and getattr(node, "lineno", 0) == line for node in ast.walk(tree))


def _read(source: str) -> ast.Module | None:
    tree = parsed(source) if "argv" in source and _LIBRARIES.search(source) is None else None
    return _Whole().visit(tree) if tree is not None and _IS_ARGV.search(source) is not None else tree


def _count(tree: ast.Module, taken: _Taken) -> int:
    """How many arguments the program needs: so many that no check of their number ends it, or the last one that it takes unchecked."""
    checks = _checks(tree)
    if not checks:
        is_handled = any(isinstance(node, ast.Try) and any(map(_is_argv, ast.walk(node))) for node in ast.walk(tree))
        return 0 if is_handled else max((each for each in taken.numbers if each <= MOST), default=0)
    needed = [_passing(node.test) for node in checks if _ends(node)]
    return max((each for each in needed if each is not None), default=0)


def _checks(tree: ast.Module) -> list[_Check]:
    return [node for node in ast.walk(tree) if isinstance(node, _Check) and _asks(node.test)]


def _ends(check: _Check) -> bool:
    return isinstance(check, ast.If) and _gives_up(check.body)


def _passing(test: ast.expr) -> int | None:
    """The least number of arguments for which ``test`` does not hold, if it holds without any; None where it asks for something else."""
    counted = ast.Expression(_Counted().visit(copy.deepcopy(test)))
    if not all(isinstance(node, (*_PLAIN, ast.Name, ast.Load)) for node in ast.walk(counted)):
        return None
    if any(isinstance(node, ast.Name) and node.id != _Counted.NAME for node in ast.walk(counted)):
        return None
    code = compile(ast.fix_missing_locations(counted), "<check>", "eval")
    holds = [attempted(lambda n=n: [bool(eval(code, {_Counted.NAME: n}))]) for n in range(1, MOST + 2)]  # type: ignore[misc]
    if holds[0] != [True] or [False] not in holds:
        return None
    return holds.index([False])


class _Counted(ast.NodeTransformer):
    """Puts a name in the place of `len(sys.argv)`."""

    NAME = "count"

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return ast.Name(self.NAME, ast.Load()) if _is_count(node) else node


class _Whole(ast.NodeTransformer):
    """Writes `sys.argv` for a name that stands for it."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        is_it = node.id == "argv" and isinstance(node.ctx, ast.Load)
        return (
            ast.copy_location(ast.Attribute(ast.Name("sys", ast.Load()), "argv", ast.Load()), node) if is_it else node
        )


class _Taken:
    """What a program does with `sys.argv[number]`."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._names: dict[int, str] = {}
        self._kinds: dict[int, type] = {}
        self.numbers: set[int] = set()
        for node in ast.walk(tree):
            number = _number_of(node)
            if number:
                self.numbers.add(number)
            if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.func, ast.Name):
                inside = _number_of(node.args[0])
                if inside and node.func.id in _NUMBERS:
                    self._kinds[inside] = _NUMBERS[node.func.id]
            for target, value in _pairs(node):
                value = value.args[0] if isinstance(value, ast.Call) and value.args else value
                self._names.setdefault(_number_of(value), target)

    def argument(self, number: int) -> CountedArgument:
        name = self._names.get(number, "")
        return CountedArgument(number, name, self._kinds.get(number), tuple(self._compared_with(number, name)))

    def _compared_with(self, number: int, name: str) -> Iterator[str]:
        """The texts that the program compares it with: `if mode == "train"`."""
        for node in ast.walk(self._tree):
            if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.Eq | ast.In):
                continue
            is_it = _number_of(node.left) == number or (
                isinstance(node.left, ast.Name) and name and node.left.id == name
            )
            for each in ast.walk(node.comparators[0]) if is_it else ():
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each.value


def _pairs(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement binds, each with what it binds it to."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return
    target, value = node.targets[0], node.value
    targets, values = [target], [value]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        targets, values = target.elts, value.elts
    yield from ((each.id, given) for each, given in zip(targets, values, strict=False) if isinstance(each, ast.Name))


def _gives_up(body: list[ast.stmt]) -> bool:
    last = body[-1]
    return ends_program(last) or isinstance(last, ast.Return)


def _asks(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Call) and _is_count(node) for node in ast.walk(test))


def _is_count(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "len" and len(call.args) == 1 and _is_argv(call.args[0])


def _number_of(node: ast.AST) -> int:
    """The number of the argument that an expression takes; 0 for anything else."""
    if not isinstance(node, ast.Subscript) or not _is_argv(node.value) or not isinstance(node.slice, ast.Constant):
        return 0
    number = node.slice.value
    return number if type(number) is int and number > 0 else 0


def _is_argv(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "argv" and ast.unparse(node) == "sys.argv"
