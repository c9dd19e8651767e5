"""Arguments of a call whose sizes are not known yet, and their text once they are."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from .tensor_contents import CONTENTS, LEAST_RANK

Size = Callable[[str], str]
NEEDS_GRADIENT = ".requires_grad_()"


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression without unknowns."""

    text: str

    def render(self, size: Size) -> str:
        """The text."""
        return self.text


@dataclass(frozen=True, slots=True)
class UnknownInteger:
    """An integer that is an unknown size."""

    name: str

    def render(self, size: Size) -> str:
        """The number."""
        return size(self.name)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of unknown sizes; ``dims`` are names of unknowns.

    ``has_known_rank``: the source gives the rank, so other ranks are tried last. ``below`` and ``equal`` limit its
    numbers, which begin at 0. ``needs_gradient``: what is computed of it is differentiated. ``contents``: the form that its numbers have,
    one of ``CONTENTS``; '' for random ones.
    """

    dtype: str
    dims: tuple[str, ...]
    below: int | None = None
    equal: int | None = None
    has_known_rank: bool = False
    needs_gradient: bool = False
    contents: str = ""

    def render(self, size: Size) -> str:
        """``float32[2, 16]``, ``int64[2, 16] < 100``."""
        sizes = tuple(size(name) for name in self.dims)
        text = f"{self.dtype}[{', '.join(sizes) or '()'}]"
        if self.contents and len(sizes) >= LEAST_RANK.get(self.contents, 1):
            return CONTENTS[self.contents](text, sizes)
        if self.equal is not None:
            return f"{text} == {self.equal}"
        if self.needs_gradient:
            text = f"({text} < {self.below})" if self.below is not None else text
            return f"{text}{NEEDS_GRADIENT}"
        return text if self.below is None else f"{text} < {self.below}"


@dataclass(frozen=True, slots=True)
class Group:
    """A tuple or a list of arguments."""

    items: tuple[Argument, ...]
    is_list: bool = False

    def render(self, size: Size) -> str:
        """``(a, b)`` or ``[a, b]``."""
        inside = ", ".join(item.render(size) for item in self.items)
        if self.is_list:
            return f"[{inside}]"
        return f"({inside},)" if len(self.items) == 1 else f"({inside})"


@dataclass(frozen=True, slots=True)
class Constructed:
    """An object that a call constructs: a configuration, or a module that another takes. ``positional`` as in ``Arguments``."""

    path: str
    named: tuple[tuple[str, Argument], ...]
    positional: tuple[str, ...] = ()

    def render(self, size: Size) -> str:
        """``Config(n_layer=2)``."""
        return f"{self.path}({_between_parentheses(self.named, self.positional, size)})"


@dataclass(frozen=True, slots=True)
class Fields:
    """A dictionary, or an object with attributes, whose class is not known: what is read of it is in ``named``.

    ``base`` is a module that gets the attributes, for what is called, too; ``maker`` is the class of a library that takes them by name.
    """

    named: tuple[tuple[str, Argument], ...] = ()
    is_dict: bool = False
    base: str = ""
    maker: str = ""

    def render(self, size: Size) -> str:
        """``{"x": float32[2]}``, ``types.SimpleNamespace(x=float32[2])`` or ``(m := torch.nn.Identity(), setattr(m, "x", 2))[0]``."""
        if self.base:
            values = [(json.dumps(name), value.render(size)) for name, value in self.named]
            made = _unused(text for _, text in values)
            added = "".join(f", setattr({made}, {name}, {text})" for name, text in values)
            return f"({made} := {self.base}{added})[0]" if added else self.base
        if self.is_dict:
            return "{" + ", ".join(f"{json.dumps(name)}: {value.render(size)}" for name, value in self.named) + "}"
        return f"{self.maker or 'types.SimpleNamespace'}({', '.join(f'{name}={value.render(size)}' for name, value in self.named)})"

    def with_field(self, name: str, value: Argument) -> Fields:
        """These fields with ``value`` for ``name``."""
        return replace(self, named=tuple({**dict(self.named), name: value}.items()))


def _unused(texts: Iterable[str]) -> str:
    """A name for an object whose attributes are made by ``texts``: one inside of another that had its name would take its place."""
    inside = "".join(texts)
    return next(name for name in (f"m{count or ''}" for count in itertools.count()) if f"({name} := " not in inside)


Argument = Expression | UnknownInteger | Tensor | Group | Constructed | Fields  # evaluated: Python 3.10 and later

# joins the names of what is inside of one another: `batch/pixels`
INSIDE = "/"


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one call by name; ``positional`` ones can only be passed by position, in this order."""

    named: tuple[tuple[str, Argument], ...] = ()
    positional: tuple[str, ...] = ()

    def render(self, size: Size) -> str:
        """The text between the parentheses."""
        return _between_parentheses(self.named, self.positional, size)

    def get(self, name: str) -> Argument | None:
        """The argument for ``name``, if there is one."""
        return dict(self.named).get(name)

    def with_argument(self, name: str, argument: Argument) -> Arguments:
        """These arguments with ``argument`` for ``name``, which may be inside another: ``batch/pixels``."""
        known = dict(self.named)
        first, _, rest = name.partition(INSIDE)
        known[first] = _replaced(known[first], rest, argument) if rest and first in known else argument
        return Arguments(tuple(known.items()), self.positional)

    def without(self, name: str) -> Arguments:
        """These arguments without ``name``."""
        return Arguments(tuple((n, a) for n, a in self.named if n != name), self.positional)

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """The arguments that are tensors, also inside of groups and of objects; of those in a group that are alike, the first one."""
        for name, argument in self.named:
            yield from _tensors_in(name, argument)

    def plain(self) -> Iterator[tuple[str, Expression | UnknownInteger]]:
        """The arguments that are no tensors and no objects, also inside of those that are."""
        for name, argument in self.named:
            yield from _plain_in(name, argument)

    def groups(self) -> Iterator[tuple[str, Group]]:
        """The arguments that are lists and tuples, also inside of objects."""
        for name, argument in self.named:
            yield from _groups_in(name, argument)

    def objects(self) -> Iterator[tuple[str, Fields]]:
        """The arguments that are dictionaries, or objects whose class is not known, also inside of others."""
        for name, argument in self.named:
            yield from _objects_in(name, argument)


def _between_parentheses(named: tuple[tuple[str, Argument], ...], positional: tuple[str, ...], size: Size) -> str:
    """The arguments of a call. One that comes after an absent one in ``positional`` cannot be passed, and is left out."""
    known = dict(named)
    by_position = itertools.takewhile(known.__contains__, positional)
    parts = [known[name].render(size) for name in by_position]
    parts += [f"{name}={value.render(size)}" for name, value in named if name not in positional]
    return ", ".join(parts)


def _tensors_in(name: str, argument: Argument) -> Iterator[tuple[str, Tensor]]:
    if isinstance(argument, Tensor):
        yield name, argument
    elif isinstance(argument, Group):
        for index, item in enumerate(argument.items):
            if item not in argument.items[:index]:
                yield from _tensors_in(f"{name}{INSIDE}{index}", item)
    elif isinstance(argument, (Constructed, Fields)):
        for inner, value in argument.named:
            yield from _tensors_in(f"{name}{INSIDE}{inner}", value)


def _groups_in(name: str, argument: Argument) -> Iterator[tuple[str, Group]]:
    if isinstance(argument, Group):
        yield name, argument
        for index, item in enumerate(argument.items):
            if isinstance(item, (Constructed, Fields)) and item not in argument.items[:index]:
                yield from _groups_in(f"{name}{INSIDE}{index}", item)
    elif isinstance(argument, (Constructed, Fields)):
        for inner, value in argument.named:
            yield from _groups_in(f"{name}{INSIDE}{inner}", value)


def _objects_in(name: str, argument: Argument) -> Iterator[tuple[str, Fields]]:
    if isinstance(argument, Fields):
        yield name, argument
    items = argument.items if isinstance(argument, Group) else ()
    for index, item in enumerate(items):
        if item not in items[:index]:
            yield from _objects_in(f"{name}{INSIDE}{index}", item)
    if isinstance(argument, (Constructed, Fields)):
        for inner, value in argument.named:
            yield from _objects_in(f"{name}{INSIDE}{inner}", value)


def _plain_in(name: str, argument: Argument) -> Iterator[tuple[str, Expression | UnknownInteger]]:
    if isinstance(argument, (Expression, UnknownInteger)):
        yield name, argument
    elif isinstance(argument, Group):
        for index, item in enumerate(argument.items):
            if isinstance(item, (Constructed, Fields)) and item not in argument.items[:index]:
                yield from _plain_in(f"{name}{INSIDE}{index}", item)
    elif isinstance(argument, (Constructed, Fields)):
        for inner, value in argument.named:
            yield from _plain_in(f"{name}{INSIDE}{inner}", value)


def _replaced(outer: Argument, path: str, argument: Argument) -> Argument:
    """``outer`` with ``argument`` at ``path`` inside it; in a group, for all items that are alike."""
    first, _, rest = path.partition(INSIDE)
    if isinstance(outer, Group):
        old = outer.items[int(first)]
        new = _replaced(old, rest, argument) if rest else argument
        return Group(tuple(new if item == old else item for item in outer.items), outer.is_list)
    if isinstance(outer, (Constructed, Fields)):
        known = dict(outer.named)
        known[first] = _replaced(known[first], rest, argument) if rest and first in known else argument
        return replace(outer, named=tuple(known.items()))
    return outer


def in_words(positional: tuple[object, ...], named: dict[str, object]) -> str:
    """Arguments as shown to users: tensors by dtype and shape, other values as they are written."""
    parts = [_value_in_words(value) for value in positional]
    return ", ".join([*parts, *(f"{name}: {_value_in_words(value)}" for name, value in named.items())])


def _value_in_words(value: object) -> str:
    return known_text(value) or type(value).__name__


def known_text(value: object) -> str | None:
    """The expression for a value: a random tensor like the one that it is, or a literal."""
    if type(value).__name__ in ("Tensor", "Parameter") and hasattr(value, "shape"):
        dtype = str(getattr(value, "dtype", "")).rpartition(".")[2]
        text = f"{dtype}[{', '.join(str(int(size)) for size in value.shape) or '()'}]"
        return f"{text} < {largest + 1}" if (largest := _largest(value, dtype)) is not None else text
    return literal(value)


def _largest(value: Any, dtype: str) -> int | None:
    """The largest of the integers in a tensor: they may be indices of a table."""
    has_values = "int" in dtype and value.numel() and value.device.type not in ("meta",)
    return max(int(value.max()), 0) if has_values else None


def literal(value: object) -> str | None:
    """A plain value as Python text, or None if it has none."""
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    if isinstance(value, float):
        return repr(value) if value == value and abs(value) != float("inf") else None
    if isinstance(value, (list, tuple)) and not hasattr(type(value), "_fields"):  # a named tuple is no plain one
        items = [literal(item) for item in value]
        if any(item is None for item in items):
            return None
        inside = ", ".join(str(item) for item in items)
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if len(items) == 1 else f"({inside})"
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        pairs = [(key, literal(item)) for key, item in value.items()]
        if all(item is not None for _, item in pairs):
            return "{" + ", ".join(f"{json.dumps(key)}: {item}" for key, item in pairs) + "}"
    return None
