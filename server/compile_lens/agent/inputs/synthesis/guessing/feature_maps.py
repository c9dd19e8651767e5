"""Lists of feature maps, as a backbone returns them: each half as large as the one before, with channels of its own."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import parsed_source_of
from ..source.guesses import InputGuess
from ..source.layers import expected_input
from ..terms.arguments import Arguments, Group, Tensor, UnknownInteger
from ..terms.candidate import Candidate

NAMES = re.compile(
    r"(?:.*_)?(?:feat(?:ure)?s?(?:_?(?:maps?|list|pyramid))?|pyramids?|fmaps?|inputs?|xs?|outs?|maps|levels|stages|skips?)"
)
_INCOMING = re.compile(r"in_|input|encoder|feature")
# the side of the first map: it is halved for each that follows
LARGEST_SIDE, LEAST_SIDE = 64, 2
MOST_MAPS = 8
_ITERATING = frozenset({"zip", "enumerate", "reversed", "len", "list", "tuple"})


def feature_maps(
    start: Candidate, made: Any, function: Callable[..., Any], kept: Candidate | None
) -> Iterator[Candidate]:
    """``start`` with a list of feature maps for the parameter that ``function``, a method of ``made``, takes items of.

    ``kept`` are the arguments of the constructor: a list among them has the channels.
    """
    name, is_variadic = _parameter(function)
    given = start.arguments.get(name)
    if not name or not (is_variadic or isinstance(given, (Tensor, Group))):
        return
    for channels in _channels(made, kept):
        for order in (channels, channels[::-1]) if len(set(channels)) > 1 else (channels,):
            yield _with_maps(start, name, is_variadic, order, is_growing=False)
    for channels in _channels(made, kept):
        yield _with_maps(start, name, is_variadic, channels, is_growing=True)


def _with_maps(
    start: Candidate, name: str, is_variadic: bool, channels: tuple[int, ...], is_growing: bool
) -> Candidate:
    unknowns = copy.deepcopy(start.unknowns)
    batch = unknowns.get("B", 2).name
    maps: list[Tensor] = []
    for index, count in enumerate(channels):
        level = len(channels) - 1 - index if is_growing else index
        side = max(LARGEST_SIDE >> level, LEAST_SIDE)
        sizes = (("C", count), ("H", side), ("W", side))
        dims = (batch, *(unknowns.get(f"{name}{index}.{each}", size).name for each, size in sizes))
        maps.append(Tensor("float32", dims, has_known_rank=True))
    if not is_variadic:
        return Candidate(start.arguments.with_argument(name, Group(tuple(maps), is_list=True)), unknowns)
    named = tuple((f"{name}{index}", each) for index, each in enumerate(maps))
    return Candidate(Arguments((*named, *start.arguments.named), tuple(each for each, _ in named)), unknowns)


def _parameter(function: Callable[..., Any]) -> tuple[str, bool]:
    """The name of the parameter that is a list of maps, and whether it is `*features`; '' where there is none."""
    parameters = attempted(lambda: list(inspect.signature(function).parameters.values())) or []
    variadic = next((each.name for each in parameters if each.kind is each.VAR_POSITIONAL), "")
    if variadic:
        return (variadic, True) if NAMES.fullmatch(variadic) else ("", False)
    tree = parsed_source_of(function)
    named = [each.name for each in parameters[1:] if NAMES.fullmatch(each.name)]
    return next((each for each in named if tree is not None and _has_items(tree, each)), ""), False


def _has_items(tree: ast.AST, name: str) -> bool:
    """Whether items are taken of what is called ``name``: `zip(self.convs, xs)`, `xs[i]`, `c1, c2 = xs`, `for x in xs`."""

    def is_it(node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == name

    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and is_it(node.value):
            if isinstance(node.slice, ast.Name | ast.Constant | ast.UnaryOp | ast.Slice | ast.BinOp):
                return True
        elif (
            (isinstance(node, ast.Call) and getattr(node.func, "id", "") in _ITERATING and any(map(is_it, node.args)))
            or (isinstance(node, (ast.For, ast.comprehension)) and is_it(node.iter))
            or (isinstance(node, ast.Assign) and is_it(node.value) and isinstance(node.targets[0], ast.Tuple))
        ):
            return True
    return False


def _channels(made: Any, kept: Candidate | None) -> Iterator[tuple[int, ...]]:
    """How many channels each map may have: as a list of modules of ``made`` takes them, or as a list says that its constructor got."""
    found: dict[tuple[int, ...], None] = {}
    of_modules = [_of_modules(part) for part in _lists_of_modules(made)]
    for channels in (*_of_constructor(kept), *of_modules, *_own(made), *_of_defaults(made)):
        if 1 < len(channels) <= MOST_MAPS:
            found.setdefault(channels)
    yield from found


def _lists_of_modules(made: Any) -> Iterator[Any]:
    from torch import nn

    for part in made.children() if isinstance(made, nn.Module) else ():
        if isinstance(part, nn.ModuleList):
            yield part


def _of_modules(modules: Any) -> tuple[int, ...]:
    """The channels that the first layer of each module takes; () where one of them takes no images."""
    guesses = [attempted(functools.partial(expected_input, each)) for each in modules]
    images = [guess for guess in guesses if isinstance(guess, InputGuess) and len(guess.dims) == 4]
    if len(images) != len(guesses) or not all(guess.dims[1].isdecimal() for guess in images):
        return ()
    return tuple(int(guess.dims[1]) for guess in images)


def _of_constructor(kept: Candidate | None) -> Iterator[tuple[int, ...]]:
    """Lists of numbers that the constructor got, those first whose names speak of what comes in."""
    groups = list(kept.arguments.groups()) if kept is not None else []
    for _, group in sorted(groups, key=lambda pair: _INCOMING.search(pair[0]) is None):
        if kept is not None and group.items and all(isinstance(item, UnknownInteger) for item in group.items):
            yield tuple(
                kept.unknowns.by_name[item.name].value for item in group.items if isinstance(item, UnknownInteger)
            )


def _own(made: Any) -> Iterator[tuple[int, ...]]:
    """Lists of numbers of channels that the object keeps: `self.in_channels = [32, 64]`."""
    for name, value in vars(made).items() if hasattr(made, "__dict__") else ():
        if "channel" in name and _are_counts(value):
            yield tuple(value)


def _of_defaults(made: Any) -> Iterator[tuple[int, ...]]:
    """Lists of numbers that the constructor takes if it is given none, those first whose names speak of what comes in."""
    parameters = attempted(lambda: list(inspect.signature(type(made)).parameters.values())) or []
    for each in sorted(parameters, key=lambda each: _INCOMING.search(each.name) is None):
        if _are_counts(each.default):
            yield tuple(each.default)


def _are_counts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(type(each) is int and each > 0 for each in value)
