"""Finds the argument of a call that lacks an attribute: Python notes the object, and the frames of the call have the arguments."""

from __future__ import annotations

import argparse
import types
from collections.abc import Iterable, Iterator
from typing import Any

from ....runtime.foreign_code import attempted
from ..terms.arguments import INSIDE

# how deep objects are looked into, and how many items of each
MOST_DEPTH, MOST_ITEMS = 4, 16
# of these, equal values are often the same object
_SHARED = (int, float, str, bool, type(None))
# what no class of a project stands for
_PLAIN = (str, bytes, list, tuple, dict, set, frozenset, types.FunctionType, types.MethodType)


def lacking_object(error: BaseException, names: Iterable[str]) -> str:
    """The path of the argument that lacks an attribute, of those called ``names``; '' where it is none of them, or that is not known."""
    lacking = getattr(error, "obj", None) if isinstance(error, AttributeError) else None  # Python 3.10 and later
    return next(iter(paths_of(lacking, error, names)), "")


def lacking_member(error: BaseException) -> str:
    """The attribute that an object lacks; '' where it is none of an object that stands for what a class has made: a tensor, a text."""
    lacking = getattr(error, "obj", None) if isinstance(error, AttributeError) else None
    is_plain = lacking is None or isinstance(lacking, (*_PLAIN, type, types.ModuleType))
    if is_plain or type(lacking).__name__ in ("Tensor", "Parameter"):
        return ""
    return str(getattr(error, "name", None) or "")


def lacking_place(error: BaseException, names: Iterable[str]) -> str:
    """The path of the constructor's argument, of those called ``names``, that lacks an attribute: while it runs, or later, where an object
    has kept it under its name; '' where it is none of them."""
    lacking = getattr(error, "obj", None) if isinstance(error, AttributeError) else None
    known = list(names)
    return next(iter(paths_of(lacking, error, known)), "") or _kept_as(lacking, error, known)


def lacks_in_kept(error: BaseException, names: Iterable[str], kept: Iterable[str] = ()) -> bool:
    """Whether an attribute is read that an object with attributes, or a module that changes nothing, lacks which is none of the arguments
    called ``names``, nor inside one: what is called has kept it of its construction. Also whatever it has ``kept`` under such a name."""
    lacking = getattr(error, "obj", None) if isinstance(error, AttributeError) else None
    is_made_up = type(lacking) in (types.SimpleNamespace, argparse.Namespace) or type(lacking).__name__ == "Identity"
    is_kept = is_made_up or bool(lacking_member(error) and _kept_as(lacking, error, list(kept)))
    return is_kept and not paths_of(lacking, error, names)


def _kept_as(wanted: Any, error: BaseException, names: list[str]) -> str:
    """The name, of ``names``, under which an object that the failing frames work on has kept ``wanted``; '' where none has."""
    if wanted is None or isinstance(wanted, _SHARED):
        return ""
    entry = error.__traceback__
    while entry is not None:
        own = getattr(entry.tb_frame.f_locals.get("self"), "__dict__", {})
        parts = own.get("_modules")
        for name, value in [*own.items(), *(parts.items() if type(parts) is dict else ())]:
            if value is wanted and name.strip("_") in names:
                return str(name.strip("_"))
        entry = entry.tb_next
    return ""


def paths_of(wanted: Any, error: BaseException, names: Iterable[str]) -> list[str]:
    """The paths of the arguments, of those called ``names``, that are the object ``wanted`` of a call that raised ``error``; none where
    equal ones cannot be told apart."""
    if wanted is None:
        return []
    found = [path for name, value in _passed(error, names) for path in _paths_to(wanted, name, value, 0)]
    return found if len(found) == 1 or not isinstance(wanted, _SHARED) else []


def _passed(error: BaseException, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Arguments and their values, from the outermost frame that has each."""
    wanted, entry = set(names), error.__traceback__
    while entry is not None and wanted:
        known = entry.tb_frame.f_locals
        named = known.get("kwargs")
        for each in (named if type(named) is dict else {}, known):
            for name in sorted(wanted & each.keys()):
                wanted.discard(name)
                yield name, each[name]
        entry = entry.tb_next


def _paths_to(wanted: Any, path: str, value: Any, depth: int) -> Iterator[str]:
    if value is wanted or _is_part(wanted, value):
        yield path
        return
    inside: list[tuple[Any, Any]] = []
    if type(value) is dict:
        inside = list(value.items())
    elif type(value) is types.SimpleNamespace:
        inside = list(vars(value).items())
    elif type(value) in (list, tuple):
        inside = list(enumerate(value))
    for name, each in inside[:MOST_ITEMS] if depth < MOST_DEPTH else ():
        yield from _paths_to(wanted, f"{path}{INSIDE}{name}", each, depth + 1)


def _is_part(wanted: Any, value: Any) -> bool:
    """Whether ``wanted`` is a row or another view of the tensor ``value``."""
    if type(wanted).__name__ != "Tensor" or type(value).__name__ != "Tensor":
        return False
    starts = attempted(lambda: [each.untyped_storage().data_ptr() for each in (wanted, value)])
    return starts is not None and starts[0] == starts[1] != 0
