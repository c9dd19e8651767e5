"""Converts frozen dataclasses to JSON and back; whatever another process wrote is checked."""

from __future__ import annotations

import functools
import json
import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from typing import Any, ClassVar, TypeVar, Union, cast, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Message:
    """A frozen dataclass of JSON values, enums, other messages, and tuples or mappings of them."""


@dataclass(frozen=True)
class Variant(Message):
    """One of several messages: in JSON its key ``TAG`` holds the ``name`` of the class."""

    TAG: ClassVar[str]
    name: ClassVar[str]


@dataclass(frozen=True)
class AgentEvent(Variant):
    """Something that the agent says."""

    TAG: ClassVar[str] = "event"


M = TypeVar("M", bound=Message)


def _plain(value: object) -> object:
    if isinstance(value, Variant):
        return {value.TAG: value.name, **value.__dict__}
    if isinstance(value, Message):
        return value.__dict__
    return dict(value) if isinstance(value, Mapping) else str(value)


# bound now, and without asking for types: the program of a run may replace what it finds in any module
_encode = json.JSONEncoder(default=_plain).encode


def to_json(message: Message) -> str:
    """A message as a JSON object."""
    return _encode(message)


def from_json(kind: type[M], text: str | bytes) -> M | None:
    """The message of ``kind`` in ``text``; None where it holds anything else."""
    try:
        return from_value(kind, json.loads(text))
    except (ValueError, RecursionError):
        return None


def from_value(kind: type[M], value: object) -> M | None:
    """The message of ``kind`` in what JSON holds; None where that is anything else. Fields that are not known are passed over."""
    try:
        return _read_message(kind, value)
    except (TypeError, ValueError, LookupError, OverflowError, RecursionError):
        return None


@functools.cache
def _variants(kind: Any) -> Mapping[str, type[Variant]]:
    return {each.name: each for each in kind.__subclasses__()}


@functools.cache
def _form_of(kind: Any) -> tuple[tuple[str, Any, bool], ...]:
    """Name and type of each field, and whether it must be there."""
    hints = get_type_hints(kind)
    return tuple(
        (entry.name, hints[entry.name], entry.default is MISSING and entry.default_factory is MISSING)
        for entry in fields(kind)
    )


def _read_message(kind: type[M], value: object) -> M:
    if not isinstance(value, dict):
        raise TypeError(kind)
    chosen: Any = kind
    if issubclass(kind, Variant) and (variants := _variants(chosen)):
        chosen = variants[_read(str, value.get(kind.TAG))]
    given: dict[str, Any] = {}
    for name, form, is_required in _form_of(chosen):
        if name in value:
            given[name] = _read(form, value[name])
        elif is_required:
            raise ValueError(name)
    return cast(M, chosen(**given))


def _read(form: Any, value: Any) -> Any:
    """``value`` in the form that a type says. Raises TypeError, ValueError, LookupError and OverflowError."""
    origin, arguments = get_origin(form), get_args(form)
    if form is Any:
        return value
    if origin in (Union, types.UnionType):
        return None if value is None else _read(next(one for one in arguments if one is not type(None)), value)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(arguments[0], entry) for entry in value)
    if origin is Mapping and isinstance(value, dict):
        return {name: _read(arguments[1], entry) for name, entry in value.items()}
    if origin is not None:
        raise TypeError(form)
    if issubclass(form, Message):
        return _read_message(form, value)
    if issubclass(form, Enum):
        return form(value)
    if form is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, form) or (isinstance(value, bool) and form is not bool):
        raise TypeError(form)
    return value
