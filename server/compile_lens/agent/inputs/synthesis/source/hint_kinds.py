"""What an annotation allows: plain types, tensors, sequences, functions, modules, classes."""

from __future__ import annotations

import collections
import collections.abc
import re
import types
import typing
from typing import Any

_MAPPINGS = (dict, collections.OrderedDict, collections.abc.Mapping)


def first_class(hint: Any) -> type | None:
    """The class that a hint names, also in ``Optional[…]``; None for generics and builtins."""
    if isinstance(hint, type):
        return hint if hint.__module__ != "builtins" else None
    arguments = [a for a in typing.get_args(hint) if a is not type(None)]
    if typing.get_origin(hint) in (typing.Union, getattr(types, "UnionType", typing.Union)):
        return next((found for found in map(first_class, arguments) if found is not None), None)
    return None


def classes_in(hint: Any) -> tuple[Any, ...]:
    """What a list or a tuple of modules, or of other lists and tuples, has to hold by its hint; () for lists of numbers and tensors."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin not in (list, tuple, collections.abc.Sequence, collections.abc.Iterable) or not arguments:
        return ()
    items = (arguments[0],) * 2 if origin is not tuple or Ellipsis in arguments else arguments
    is_wanted = all(classes_in(each) or "module" in kinds_of(each, "") for each in items)
    return items if is_wanted else ()


def plain_items(hint: Any, size: int) -> tuple[str, ...]:
    """The items of a list or a tuple of numbers, words or flags, as its hint says: three for `tuple[int, int, int]`, else two; ()
    where it does not say so."""
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) in (typing.Union, getattr(types, "UnionType", typing.Union)):
        return next((found for each in arguments if (found := plain_items(each, size))), ())
    kinds = [each for each in arguments if each is not Ellipsis]
    if len(kinds) == 1:
        kinds *= 1 if typing.get_origin(hint) is tuple and Ellipsis not in arguments else 2
    texts = {int: str(size), float: "1.0", bool: "True"}
    items = [f"'word_{number}'" if each is str else texts.get(each, "") for number, each in enumerate(kinds, 1)]
    for number, each in enumerate(kinds):
        inside = plain_items(each, size) if typing.get_origin(each) in (list, tuple) else ()
        if inside:
            text = ", ".join(inside)
            items[number] = f"[{text}]" if typing.get_origin(each) is list else f"({text},)"
    return tuple(items) if all(items) else ()


def count_of_items(hint: Any) -> int:
    """How many items a tuple has by its hint: three for `tuple[Tensor, Tensor, Tensor]`; two where any number of them may be passed."""
    arguments = [each for each in typing.get_args(hint) if each is not type(None)]
    if typing.get_origin(hint) in (typing.Union, getattr(types, "UnionType", typing.Union)):
        return max(map(count_of_items, arguments), default=2)
    is_fixed = typing.get_origin(hint) is tuple and Ellipsis not in arguments
    return max(len(arguments), 2) if is_fixed else 2


def is_dict_of_tensors(hint: Any) -> bool:
    """Whether a hint is that of a dictionary with tensors as its values."""
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) in _MAPPINGS:
        return len(arguments) == 2 and "tensor" in kinds_of(arguments[1], "")
    return any(is_dict_of_tensors(each) for each in arguments)


def kinds_of(hint: Any, text: str) -> set[str]:
    """What a hint allows: names of plain types, ``tensor``, ``tensors`` (several), ``sequence``, ``tuple``, ``callable``, ``module``."""
    if hint is None:
        return _kinds_of_text(text)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is not None:
        if origin in (list, tuple, collections.abc.Sequence, collections.abc.Iterable):
            inner: set[str] = set()
            for argument in arguments:
                inner |= kinds_of(argument, "")
            found = {"tensors"} if "tensor" in inner else {"sequence"}
            return found | ({"tuple"} if origin is tuple else set())
        if origin is collections.abc.Callable or origin is type:
            return {"callable"}
        if origin is typing.Literal:
            return {type(arguments[0]).__name__} if arguments else set()
        merged: set[str] = set()
        # the keys and values of a dictionary are nothing that is passed itself
        plain = [each for each in arguments if typing.get_origin(each) not in _MAPPINGS]
        for argument in plain or arguments:
            merged |= kinds_of(argument, "")
        return merged
    if isinstance(hint, type):
        if hint in (int, float, bool, str):
            return {hint.__name__}
        names = [base.__name__ for base in hint.__mro__]
        if "Tensor" in names or "TensorBase" in names:
            return {"tensor"}
        if "Module" in names:
            return {"module"}
        return {"sequence"} if hint in (list, tuple) else set()
    return _kinds_of_text(text or str(hint))


def _kinds_of_text(text: str) -> set[str]:
    found = {word for word in ("int", "float", "bool", "str") if re.search(rf"\b{word}\b", text)}
    if re.search(r"Tensor\b|Tensor\[|^(?:Float|Int|Bool|Num|Shaped)\[", text):
        is_many = re.search(r"\b(?:[Ll]ist|[Tt]uple|Sequence)\[", text) is not None
        return {"tensors"} if is_many else {"tensor"}
    if re.search(r"\b(?:Callable|Type|type)\b", text):
        return {"callable"}
    if re.search(r"\bModule\b", text):
        return {"module"}
    if re.search(r"\b(?:[Ll]ist|[Tt]uple|Sequence)\b", text):
        found.add("sequence")
        if re.search(r"\b[Tt]uple\b", text):
            found.add("tuple")
    return found
