"""Reads which keys a function looks up inside of its parameters, however deep: `targets[i]["boxes"]`, `for t in batch["items"]: t["ids"]`.

Only what stands in brackets as a text is a key: no tensor has one. Functions of the user's that get a parameter, or a part of it, are
read, too.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Collection, Iterator
from typing import Any

from ....runtime.parsed_source import parsed_source_of
from ..terms.parameter_info import ITEM

# what is read of something by key, and what of that; of each item of a list under ITEM
Reads = dict[str, Any]
# functions that pass a value on are followed so far
MAX_DEPTH = 3
# what a name stands for: the parameter, and the way into it
_Path = tuple[str, ...]
# what has the items, or the keys, of what it is called with
_SAME_ITEMS = frozenset({"list", "tuple", "reversed", "sorted", "iter", "tqdm", "dict", "copy", "deepcopy"})
# methods whose results have the keys of what they are called on
_SAME_KEYS = frozenset({"copy", "to", "cuda", "cpu", "float", "detach", "clone"})
# the functions and methods that are called by a text: `helper`, `self.method`; each with whether its first parameter is the object
Receivers = Callable[[Any, str], Iterator[tuple[Any, bool]]]


def nested_reads(function: Any, names: Collection[str], receivers: Receivers) -> Reads:
    """What ``function`` reads inside of its parameters ``names``, by name; nothing of those of which it reads no key."""
    return _Files(receivers).reads(function, names, 0)


class _Files:
    """The functions that have been read: each of them once."""

    def __init__(self, receivers: Receivers) -> None:
        self._receivers = receivers
        self._known: dict[Any, tuple[list[str], Reads]] = {}

    def reads(self, function: Any, names: Collection[str], depth: int) -> Reads:
        """What ``function`` reads inside of ``names``."""
        tree = parsed_source_of(function)
        nodes = ast.walk(tree) if tree is not None else ()
        body = next((node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
        if body is None:
            return {}
        uses = _KeyReads(names, lambda written: self._inner(function, written, depth + 1))
        for statement in body.body:
            uses.visit(statement)
        return {name: inside for name, inside in uses.found.items() if name not in uses.asked}

    def _inner(self, function: Any, written: str, depth: int) -> tuple[list[str], Reads]:
        """The parameters of the function that is called ``written`` inside of ``function``, and what it reads inside of them."""
        receiver, is_method = next(self._receivers(function, written), (None, False))
        code = getattr(inspect.unwrap(receiver), "__code__", None) if receiver is not None else None
        if code is None or depth > MAX_DEPTH:
            return [], {}
        if code not in self._known:
            parameters = list(code.co_varnames[is_method : code.co_argcount])
            self._known[code] = [], {}  # where it calls itself
            self._known[code] = parameters, self.reads(receiver, parameters, depth)
        return self._known[code]


class _KeyReads(ast.NodeVisitor):
    def __init__(self, names: Collection[str], inner: Callable[[str], tuple[list[str], Reads]]) -> None:
        self.found: Reads = {}
        # parameters that may be something else: `if isinstance(batch, dict):`
        self.asked: set[str] = set()
        self._inner = inner
        # what local names stand for; a name that is assigned something else stands for nothing
        self._meant: dict[str, _Path] = {name: (name,) for name in names}

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._bind(target, node.value)

    def visit_For(self, node: ast.For) -> None:
        self._iterate(node.target, node.iter)
        self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        for each in getattr(node, "generators", ()):
            self._iterate(each.target, each.iter)  # stands behind what uses it
        super().generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.generic_visit(node)
        self._note(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        written = _written(node.func)
        if written == "isinstance" and isinstance(node.args[0] if node.args else None, ast.Name):
            self.asked.update(self._path(node.args[0]) or ())
        given: list[tuple[int | str, ast.expr]] = list(enumerate(node.args))
        given += [(each.arg, each.value) for each in node.keywords if each.arg]
        paths = [(place, path) for place, each in given if (path := self._path(each)) is not None]
        if not written or not paths or any(isinstance(each, ast.Starred) for each in node.args):
            return
        parameters, reads = self._inner(written)
        for place, path in paths:
            name = place if isinstance(place, str) else parameters[place] if place < len(parameters) else ""
            for inside in _ways(reads.get(str(name), {})):
                self._add((*path, *inside))

    def _bind(self, target: ast.AST, value: ast.AST) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            values = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
            is_alike = len(values) == len(target.elts)
            for place, each in enumerate(target.elts):
                self._bind(each, values[place] if is_alike else target)
        elif isinstance(target, ast.Name):
            self._mean(target.id, self._path(value))

    def _iterate(self, target: ast.AST, values: ast.AST) -> None:
        """Note what the names of a loop are items of: `for number, (target, image) in enumerate(zip(targets, images))`."""
        called = getattr(values.func, "id", "") if isinstance(values, ast.Call) else ""
        arguments = values.args if isinstance(values, ast.Call) else []
        if called == "enumerate" and arguments and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            self._iterate(target.elts[1], arguments[0])
        elif called == "zip" and isinstance(target, ast.Tuple) and len(target.elts) == len(arguments):
            for each, argument in zip(target.elts, arguments, strict=True):
                self._iterate(each, argument)
        elif isinstance(target, ast.Name):
            path = self._path(values)
            self._mean(target.id, (*path, ITEM) if path is not None else None)
        else:
            for name in ast.walk(target):
                if isinstance(name, ast.Name):
                    self._mean(name.id, None)

    def _mean(self, name: str, path: _Path | None) -> None:
        self._meant.pop(name, None)
        if path is not None:
            self._meant[name] = path

    def _note(self, node: ast.Subscript) -> None:
        path = self._path(node)
        if path is not None and path[-1] != ITEM:
            self._add(path)

    def _add(self, path: _Path) -> None:
        place = self.found
        for key in path:
            place = place.setdefault(key, {})

    def _path(self, node: ast.AST) -> _Path | None:
        """The way to what ``node`` stands for; None where that is no part of a parameter."""
        if isinstance(node, ast.Name):
            return self._meant.get(node.id)
        if isinstance(node, ast.Subscript):
            whole = self._path(node.value)
            if whole is None or isinstance(node.slice, (ast.Slice, ast.Tuple)):
                return whole if isinstance(node.slice, ast.Slice) else None
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            return (*whole, key if isinstance(key, str) else ITEM)
        if isinstance(node, ast.Call):
            return self._path_of_call(node)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)) and len(node.generators) == 1:
            self._iterate(node.generators[0].target, node.generators[0].iter)
            item = self._path(node.elt)
            return item[:-1] if item is not None and item[-1] == ITEM else None
        if isinstance(node, ast.DictComp) and len(node.generators) == 1:
            # `{key: value.to(device) for key, value in target.items()}`
            pairs = node.generators[0].iter
            is_of_items = isinstance(pairs, ast.Call) and getattr(pairs.func, "attr", "") == "items"
            return self._path(pairs.func.value) if is_of_items else None  # type: ignore[attr-defined]
        return None

    def _path_of_call(self, node: ast.Call) -> _Path | None:
        if isinstance(node.func, ast.Attribute) and node.func.attr in _SAME_KEYS:
            return self._path(node.func.value)
        called = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
        return self._path(node.args[0]) if called in _SAME_ITEMS and len(node.args) == 1 else None


def _ways(reads: Reads) -> Iterator[_Path]:
    for key, inside in reads.items():
        yield from ((key, *rest) for rest in _ways(inside))
        if not inside:
            yield (key,)


def _written(node: ast.expr) -> str:
    """`helper` or `self.method`; '' for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    is_method = isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self"
    return f"self.{node.attr}" if is_method and isinstance(node, ast.Attribute) else ""
