"""Tells what is to be changed of a call that failed: the arguments that the failing lines name first, then those beside them, each with
what the source says of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

from ...runtime.entry_protocol import CallNotMade
from ...runtime.foreign_code import attempted
from ...torch_internals.attributes import original_function
from ..importing.module import find
from .completed_drafts import named_by, with_arguments, with_method_first
from .errors.blame import (
    MOST,
    argument_names,
    call_in,
    construction_in,
    involved_arguments,
    is_dotted,
    line_of_failure,
    prepared_in,
)
from .errors.traced_back import traced_back
from .making.construction import CONSTRUCTOR_FAILED
from .project.concrete_classes import method_instead
from .source.accepted_values import accepted_texts
from .source.constructor_parameters import constructor_parameters
from .source.signatures import read_parameters
from .terms.parameter_info import ITEM, ParameterInfo

# arguments beside those that the error is about, members that are named, and characters of what is said of one
MOST_BESIDE, MOST_MEMBERS, MOST_WORDS = 8, 6, 70
# what a random tensor already shows
_PLAIN_TENSOR = re.compile(r"(?:Optional\[)?(?:torch\.)?(?:Float)?Tensor\]?(?:\s*\|\s*None)?$")
_SENTENCE = re.compile(r"[.;](?:\s|$)|\n")


def not_made(
    module: ModuleType, target: str, reason: str, draft: str, error: BaseException | None, file: str
) -> CallNotMade:
    """What is said of ``target``, for which the call ``draft`` with the names of ``module`` raised ``error`` in ``file``, or elsewhere."""
    if error is None:  # nothing says that an argument is wrong
        return CallNotMade(target, reason, draft)
    # defaults and errors are objects of the program's, which may raise anything when they are looked at
    told = attempted(lambda: _told_of(module, target, reason, draft, error, file))
    return CallNotMade(target, reason, draft, line_of_failure(error, file)) if told is None else told


def _told_of(module: ModuleType, target: str, reason: str, draft: str, error: BaseException, file: str) -> CallNotMade:
    in_constructor = reason.startswith(CONSTRUCTOR_FAILED)
    behind = traced_back(error)
    first = behind.methods[0] if behind.methods and not in_constructor else None
    of_method: tuple[str, ...] = ()
    if first is not None:
        with_first = attempted(lambda: with_method_first(module, draft, error, first))
        draft, said_first = with_first or (draft, "")
        reason = f"{reason}; {said_first}" if said_first else reason
        of_method = tuple(_arguments_of_first(draft)) if with_first is not None else ()
    infos = attempted(lambda: _parameters(module, draft)) or {}
    cls = attempted(lambda: _class_constructed(module, draft))
    makers = _by_name(constructor_parameters(cls)) if cls is not None else {}
    accepted = accepted_texts(cls) if cls is not None else {}
    known = makers if in_constructor else infos
    about = dict.fromkeys((*named_by(error, known), *(name for name in behind.arguments if name in known)))
    draft = attempted(lambda: with_arguments(draft, about, makers)) or draft
    own = argument_names(draft)
    named = (*(name for name in about if name in own), *involved_arguments(draft, error, in_constructor))
    involved = tuple(dict.fromkeys(of_method or named))[:MOST]
    beside = tuple(name for name in argument_names(draft) if name not in involved)[:MOST_BESIDE]

    def words(name: str) -> str:
        return _words_of(infos[name], accepted.get(name, ()) if name in makers else ())

    said = tuple(attempted(partial(words, name)) or "" for name in (*involved, *beside))
    return CallNotMade(target, reason, draft, line_of_failure(error, file), involved, beside, said)


def _parameters(module: ModuleType, draft: str) -> dict[str, ParameterInfo]:
    """What is known of the arguments of the calls in ``draft``, those of the last one first."""
    node, methods = call_in(draft), list[str]()
    while isinstance(node, ast.Call) and not is_dotted(node.func):
        node = node.func
        if isinstance(node, ast.Attribute):
            methods.append(node.attr)
            node = node.value
        prepared = prepared_in(node)
        if prepared is not None:
            node = prepared[0]
            methods += [step.func.attr for step in prepared[1] if isinstance(step.func, ast.Attribute)]
    if not isinstance(node, ast.Call):
        return {}
    called = find(module, ast.unparse(node.func))
    if not isinstance(called, type):
        return _by_name(read_parameters(original_function(called), skip_first=False))
    found: dict[str, ParameterInfo] = {}
    for name in (*methods, method_instead(called) or "forward"):
        function: Callable[..., Any] | None = getattr(called, name, None)
        if function is not None:
            found = {**_by_name(read_parameters(original_function(function), skip_first=True)), **found}
    return {**_by_name(constructor_parameters(called)), **found}


def _arguments_of_first(draft: str) -> Iterator[str]:
    """The arguments of the methods that come first in ``draft``."""
    call = call_in(draft)
    prepared = prepared_in(call.func) if isinstance(call, ast.Call) else None
    for step in prepared[1] if prepared is not None else ():
        yield from (each.arg for each in step.keywords if each.arg)


def _class_constructed(module: ModuleType, draft: str) -> type | None:
    node = call_in(draft)
    made = construction_in(node) if node is not None else None
    cls = find(module, ast.unparse(made.func)) if made is not None else None
    return cls if isinstance(cls, type) else None


def _by_name(infos: Iterable[ParameterInfo]) -> dict[str, ParameterInfo]:
    return {info.name: info for info in infos}


def _words_of(info: ParameterInfo, accepted: tuple[str, ...] = ()) -> str:
    """What the source says of an argument: its annotation or its shape, what is read of it, the texts that it is compared with, or how the
    docstring begins to describe it."""
    shape = f"[{', '.join(each or '?' for each in info.dims)}]" if info.dims else ""
    annotation = "" if _PLAIN_TENSOR.match(info.annotation) else info.annotation.replace("typing.", "")
    members = [name for name in (*info.fields, *info.inside) if name != ITEM and isinstance(name, str)]
    shown = ", ".join(f"`{name}`" for name in list(dict.fromkeys(members))[:MOST_MEMBERS])
    found = [f"`{annotation}`" if annotation and len(annotation) <= MOST_WORDS else ""]
    found.append(f"`{shape}`" if shape and not shown else "")
    found.append(f"with {shown}" if shown else "")
    if len(accepted) > 1 and not shape and not shown:
        found.append(f"one of {', '.join(f'`{text!r}`' for text in accepted[:MOST_MEMBERS])}")
    if not any(found):
        words = " ".join(_SENTENCE.split(info.words.strip(), maxsplit=1)[0].split())
        found = [words if len(words) <= MOST_WORDS else ""]
    return ", ".join(filter(None, found))
