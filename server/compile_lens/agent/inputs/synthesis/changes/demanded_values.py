"""Gives a program the type of value that it demands: a dictionary, a list, a text, a function, an object of a class."""

from __future__ import annotations

import argparse
import collections.abc
import copy
import numbers
import types
from collections.abc import Callable, Iterator
from typing import Any

from ..errors.demanded_types import Demand, demands
from ..errors.failing_lines import failing_line, innermost
from ..errors.lacking_object import paths_of
from ..errors.passed_names import outermost_name
from ..project.configuration_probe import NAMESPACE
from ..source.guesses import FLOATS, MAKERS, SIZES, WORDS, by_name
from ..terms.arguments import INSIDE, Argument, Constructed, Expression, Fields, Group, Tensor, UnknownInteger
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns
from ..terms.parameter_info import ParameterInfo
from .other_values import ANY_FUNCTION, ANY_MODULE

Make = Callable[[type, Unknowns], Argument]
Guess = Callable[[str, Unknowns], Argument]
Read = Callable[[str], tuple[str, ...]]
Offer = Callable[[str, Unknowns, ParameterInfo | None], Argument | None]
MOST_CLASSES, MOST_PATHS = 4, 2
NUMBER = 8
_PRIMITIVES = (int, float, str, bool)


def with_demanded_values(
    candidate: Candidate, error: BaseException, make: Make, guess: Guess | None, read: Read, offer: Offer
) -> Iterator[Candidate]:
    """Candidates in which one argument is what the program demands where it raised ``error``."""
    for demand in demands(error):
        if demand.kind == "given":
            yield from _with_optional(candidate, demand.name, offer)
            continue
        for path in _paths(candidate, demand, error)[:MOST_PATHS]:
            for value, unknowns in _values(candidate, path, demand, make, guess, read):
                yield Candidate(candidate.arguments.with_argument(path, value), unknowns)


def is_demanded_of_kept(names: frozenset[str], error: BaseException) -> bool:
    """Whether what an object has kept of its construction under one of ``names`` is of a class that the program does not take."""
    kept = {name.strip("_") for name in names}
    line = failing_line(error)
    return any(
        demand.kind == "is" and demand.name in kept and not any(map(_is_plain, demand.classes))
        for demand in (demands(error) if line.startswith(("raise ", "assert ")) else ())
    )


def _is_plain(cls: type) -> bool:
    return cls.__module__ == "builtins" or any(base.__name__ == "Tensor" for base in cls.__mro__)


def _with_optional(candidate: Candidate, name: str, offer: Offer) -> Iterator[Candidate]:
    if candidate.arguments.get(name) is None:
        unknowns = copy.deepcopy(candidate.unknowns)
        offered = offer(name, unknowns, None)
        if offered is not None:
            yield Candidate(candidate.arguments.with_argument(name, offered), unknowns, candidate.negated)


def _paths(candidate: Candidate, demand: Demand, error: BaseException) -> list[str]:
    """The arguments of which something is demanded: those of its name, items of those that it is an item of, and the same object."""
    arguments = candidate.arguments
    known = [name for name, _ in (*arguments.named, *arguments.plain(), *arguments.objects(), *arguments.groups())]
    known = list(dict.fromkeys(known))
    named = [path for path in known if _last(path) == demand.name]
    if named:
        return named
    if demand.source:
        groups = dict(arguments.groups())
        sources = [path for path in known if _last(path) == demand.source]
        # those that a constructor takes any number of are no list
        return [f"{path}{INSIDE}0" if path in groups and groups[path].items else path for path in sources]
    same = paths_of(demand.value, error, dict(arguments.named))
    frame = innermost(error)[0]
    alias = outermost_name(error, frame, demand.name) if frame is not None and not same else ""
    return same or [path for path in known if _last(path) == alias]


def _last(path: str) -> str:
    return path.rpartition(INSIDE)[2].strip("_")


def _values(
    candidate: Candidate, path: str, demand: Demand, make: Make, guess: Guess | None, read: Read
) -> Iterator[tuple[Argument, Unknowns]]:
    """Arguments that are what is demanded, and the sizes in them."""
    name = _last(path)
    name = _last(path.rpartition(INSIDE)[0]).removesuffix("s") if name.isdecimal() else name
    given = dict((*candidate.arguments.named, *candidate.arguments.plain())).get(path)
    classes = demand.classes
    if demand.kind == "callable":
        yield Expression(by_name(MAKERS, name) or ANY_MODULE), copy.deepcopy(candidate.unknowns)
        return
    if demand.kind == "has":
        unknowns = copy.deepcopy(candidate.unknowns)
        if guess is not None and isinstance(given, (Expression, UnknownInteger)):
            base = given.text if isinstance(given, Expression) and given.text.endswith(")") else ""
            yield Fields(((demand.attribute, guess(demand.attribute, unknowns)),), base=base), unknowns
        return
    if demand.kind == "is-not":
        # of a number or a text, anything else may be what is wanted
        classes = (dict, argparse.Namespace, list) if all(each in _PRIMITIVES for each in classes) else ()
    # a dictionary has what is read of it, and a list is of what was one
    for cls in sorted(classes, key=_order)[:MOST_CLASSES]:
        unknowns = copy.deepcopy(candidate.unknowns)
        value = _plain_value(cls, name, given, unknowns, guess, read)
        yield (value if value is not None else make(cls, unknowns)), unknowns


def _order(cls: type) -> int:
    """Classes of programs, and what can have anything in it, come first."""
    return 0 if cls.__module__ != "builtins" else 1 if cls in (dict, list, tuple) else 2


def _plain_value(
    cls: Any, name: str, given: Argument | None, unknowns: Unknowns, guess: Guess | None, read: Read
) -> Argument | None:
    """An argument of a type of Python's or torch's own; None for other classes."""
    if issubclass(cls, dict) or cls in (
        collections.abc.Mapping,
        collections.abc.MutableMapping,
        argparse.Namespace,
        types.SimpleNamespace,
    ):
        fields = tuple((each, guess(each, unknowns)) for each in read(name)) if guess is not None else ()
        is_namespace = cls in (argparse.Namespace, types.SimpleNamespace)
        return Constructed(NAMESPACE, fields) if cls is argparse.Namespace else Fields(fields, not is_namespace)
    if cls in (list, tuple, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Sized):
        item = given if isinstance(given, (Expression, UnknownInteger)) else Expression(str(NUMBER))
        items = given.items if isinstance(given, Group) else (item, item)
        return Group(items, is_list=cls is not tuple)
    if cls in (int, numbers.Number, numbers.Integral):
        return Expression(str(int(by_name(SIZES, name) or NUMBER)))
    if cls in (float, numbers.Real):
        number = by_name(FLOATS, name)
        return Expression(repr(0.5 if number is None else number))
    if cls in (set, frozenset):
        return Expression("{0, 1}")
    if cls is str:
        return Expression(repr(by_name(WORDS, name) or "mean"))
    if cls is bool:
        return Expression("True")
    if cls is collections.abc.Callable:
        return Expression(by_name(MAKERS, name) or ANY_MODULE)
    if cls is types.FunctionType:
        return Expression(ANY_FUNCTION)
    if cls.__module__.startswith("torch."):
        return _of_torch(cls, name, unknowns)
    return Expression("None") if cls is type(None) else None


def _of_torch(cls: Any, name: str, unknowns: Unknowns) -> Argument | None:
    if cls.__name__ == "Module" and cls.__module__ == "torch.nn.modules.module":
        return Expression(by_name(MAKERS, name) or ANY_MODULE)
    if cls.__name__ in ("Tensor", "Parameter"):
        tensor = Tensor("float32", (unknowns.get(f"{name}_0", NUMBER).name,))
        return tensor if cls.__name__ == "Tensor" else Constructed("torch.nn.Parameter", (("data", tensor),))
    if cls.__name__ == "ModuleList":
        return Expression(f"torch.nn.ModuleList([{ANY_MODULE}, {ANY_MODULE}])")
    return Expression(f"torch.nn.Sequential({ANY_MODULE})") if cls.__name__ == "Sequential" else None
