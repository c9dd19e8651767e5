"""Knows the fields of a class whose constructor is generated: by dataclasses, attrs, pydantic, NamedTuple.

Such a constructor keeps annotations as they are written, and those of ``from __future__ import annotations`` are text. Its globals are not
those of the module that the class, or the base that has the field, is written in.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Iterable
from typing import Any

from ..terms.parameter_info import ParameterInfo
from .signatures import hint_of


def field_hint(cls: type, name: str, annotation: Any) -> Any:
    """What ``annotation`` of the field ``name`` of ``cls`` says, evaluated where it is written; None where that cannot be known."""
    text = annotation.__forward_arg__ if isinstance(annotation, typing.ForwardRef) else annotation
    if text is inspect.Parameter.empty:
        return None
    if not isinstance(text, str):
        return annotation
    owner = next((base for base in cls.__mro__ if name in vars(base).get("__annotations__", {})), cls)
    return hint_of(text, dict(vars(sys.modules.get(owner.__module__, typing))))


def read_hints_of_fields(cls: type, infos: Iterable[ParameterInfo]) -> None:
    """Add what the fields of ``cls`` are annotated with, where that is not known yet."""
    for info in infos:
        if isinstance(info.hint, typing.ForwardRef):
            info.hint = field_hint(cls, info.name, info.hint)
        elif info.hint is None and info.annotation:
            info.hint = field_hint(cls, info.name, info.annotation)


def fields_of_signature(cls: type) -> list[ParameterInfo]:
    """The fields that ``cls`` says to take by name, where its constructor takes any names: those of pydantic do."""
    signature = getattr(cls, "__signature__", None)
    parameters = signature.parameters.values() if isinstance(signature, inspect.Signature) else ()
    return [
        ParameterInfo(
            name=each.name,
            required=each.default is each.empty,
            default=None if each.default is each.empty else each.default,
            annotation="" if each.annotation is each.empty else inspect.formatannotation(each.annotation),
            keyword_only=True,
            hint=field_hint(cls, each.name, each.annotation),
        )
        for each in parameters
        if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
