"""Objects of a class of the package for what a constructor reads several attributes of, or what is called like a class: `spec.matrix`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from types import ModuleType

from ..source.constructor_parameters import constructor_parameters
from ..terms.arguments import Argument, Fields
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns
from .concrete_classes import is_abstract
from .configurations import NAMES
from .own_classes import classes_of_package

MOST_CLASSES = 2
# one that any class may have says nothing
LEAST_ATTRIBUTES = 2
LEAST_LETTERS = 4


def with_classes_by_use(
    candidate: Candidate,
    made_up: Candidate,
    module: ModuleType,
    make: Callable[[type, Unknowns], Argument],
    of: type,
    is_named_so: bool,
) -> Iterator[Candidate]:
    """``candidate`` with an object of a class for each argument that ``made_up`` has an object with attributes for: of one that has them
    all. Those that are called like their parameter, or the others.

    ``of`` is the class that is constructed. Its parameter takes another one.
    """
    for name, fields in made_up.arguments.named:
        if not isinstance(fields, Fields) or fields.is_dict or not fields.named or fields.base:
            continue
        if NAMES.fullmatch(name) is not None and not is_named_so:
            continue  # what keeps what it takes of its configuration has the same attributes, and is none
        read = [attribute for attribute, _ in fields.named]
        for cls in _classes(name, read, module, of, is_named_so)[:MOST_CLASSES]:
            unknowns = copy.deepcopy(candidate.unknowns)
            yield Candidate(candidate.arguments.with_argument(name, make(cls, unknowns)), unknowns)


def _classes(name: str, read: list[str], module: ModuleType, of: type, is_named_so: bool) -> list[type]:
    found = [
        cls
        for cls in classes_of_package(module)
        if cls is not of and not is_abstract(cls) and all(_has(cls, attribute) for attribute in read)
        if _is_called_like(cls, name) is is_named_so
    ]
    if not is_named_so and len(read) < LEAST_ATTRIBUTES:
        return []
    return sorted(found, key=lambda cls: (cls.__module__ != module.__name__, len(constructor_parameters(cls))))


def _is_called_like(cls: type, name: str) -> bool:
    word = name.replace("_", "").lower()
    return len(word) >= LEAST_LETTERS and cls.__name__.replace("_", "").lower().endswith(word)


def _has(cls: type, attribute: str) -> bool:
    """Whether objects of ``cls`` have ``attribute``: it is defined, annotated, or named by a constructor."""
    constructors = (vars(base).get("__init__") for base in cls.__mro__)
    is_kept = any(attribute in getattr(getattr(each, "__code__", None), "co_names", ()) for each in constructors)
    return (
        is_kept or hasattr(cls, attribute) or any(attribute in vars(b).get("__annotations__", {}) for b in cls.__mro__)
    )
