"""Settings of a constructor that lead around what failed: another word, a flag turned around, a list in the place of none.

One value of a mode may lead to code that cannot work here, since it needs a name that nothing defines or a library that is not there, and
a default may fail by itself: `hidden=None` becomes `[]`, whose last item is taken. Sizes do not avoid such errors.
"""

from __future__ import annotations

import ast
import re
import traceback
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from ....runtime.parsed_source import UnreadableText, parsed_expression
from ...importing.absent import NeedsAbsent
from ..errors.failing_lines import names_in_failing_lines
from ..guessing.argument_guesser import ArgumentGuesser
from ..source.accepted_values import accepted_texts
from ..source.constructor_parameters import constructor_parameters
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns
from ..terms.parameter_info import ParameterInfo
from .other_settings import OF_MACHINE, choices_of
from .without_weights import is_of_weights

# settings that are tried for one error, and values of each
MOST_SETTINGS, MOST_VALUES = 8, 4
# what no number and no tensor changes
_OF_BRANCHES = (NameError, ImportError, NotImplementedError, NeedsAbsent)
_OF_LIBRARY = re.compile(r"module '[\w.]+' has no attribute|\bis not (?:installed|available|supported|implemented)\b")
_OF_EMPTY = re.compile(
    r"(?:list|tuple) index out of range|reduce\(\) of empty|\barg is an empty sequence|(?:max|min)\(\)"
)
_LISTS = ("[64]", "[64, 64]")


def settings_around(
    module: ModuleType, cls: type, candidate: Candidate | None, error: BaseException | None
) -> Iterator[dict[str, str]]:
    """Arguments for the constructor of ``cls``, one at a time, with which it may not come to ``error``; ``candidate`` has those with which
    it did. What the failing functions ask for comes first."""
    if error is None:
        return
    infos = constructor_parameters(cls)
    given = dict(candidate.arguments.named) if candidate is not None else {}
    values = candidate.unknowns.values if candidate is not None else {}
    now = {name: argument.render(lambda each: str(values[each])) for name, argument in given.items()}
    if isinstance(error, (IndexError, ValueError, TypeError)) and _OF_EMPTY.search(str(error)):
        found = _of_none(module, cls, infos, now, error)
    elif isinstance(error, _OF_BRANCHES) or _OF_LIBRARY.search(str(error)):
        found = _other_ways(cls, infos, now, error)
    else:
        return
    for count, changed in enumerate(found):
        if count == MOST_SETTINGS:
            return
        yield {**now, **changed}


def mentioned_parameters(module: ModuleType, cls: type, message: str) -> dict[str, str]:
    """Optional constructor arguments that an error message names: "either size or scale_factor should be defined"."""
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    for info in constructor_parameters(cls):
        if not info.required and info.default is None and re.search(rf"\b{info.name}\b", message):
            argument = guesser.for_constructor(cls, info)[0]
            return {info.name: argument.render(lambda name: str(unknowns.by_name[name].value))}
    return {}


def _of_none(
    module: ModuleType, cls: type, infos: list[ParameterInfo], now: dict[str, str], error: BaseException
) -> Iterator[dict[str, str]]:
    """Lists for what is None or empty and named in the failing lines."""
    named = names_in_failing_lines(error)
    for info in infos:
        is_open = not info.required and _is_none_or_empty(info.default) and now.get(info.name, "None") == "None"
        if is_open and info.name in named:
            unknowns = Unknowns()
            guessed = ArgumentGuesser(module, unknowns).for_constructor(cls, info)[0]
            text = guessed.render(lambda name, known=unknowns: str(known.by_name[name].value))  # type: ignore[misc]
            for each in dict.fromkeys((*((text,) if text[:1] in "([" else ()), *_LISTS)):
                yield {info.name: each}


def _is_none_or_empty(default: Any) -> bool:
    # a default may be an array, or a stub, which are not compared
    return default is None or (type(default) in (tuple, list) and not default)


def _other_ways(
    cls: type, infos: list[ParameterInfo], now: dict[str, str], error: BaseException
) -> Iterator[dict[str, str]]:
    asked = _asked_for(error)
    texts = accepted_texts(cls)
    found: list[tuple[int, dict[str, str]]] = []
    for info in infos:
        value = _value(now[info.name]) if info.name in now else info.default
        others: tuple[Any, ...] = ()
        if isinstance(value, bool):
            others = (not value,)
        elif isinstance(value, str) or info.name in texts or choices_of(info.hint):
            others = tuple(dict.fromkeys((*choices_of(info.hint), *texts.get(info.name, ()))))
        is_plain = isinstance(value, (int, float, str))
        others = tuple(each for each in others if not is_plain or each != value)[:MOST_VALUES]
        # weights are elsewhere, and so is a machine's GPU
        if others and not (value is False and (is_of_weights(info.name) or OF_MACHINE.fullmatch(info.name))):
            found += [(asked.get(info.name, len(asked)), {info.name: repr(each)}) for each in others]
    yield from (changed for _, changed in sorted(found, key=lambda each: each[0]))


def _asked_for(error: BaseException) -> dict[str, int]:
    """The names that the functions which failed read, with their order: those of the failing lines first, then the innermost function's."""
    names = dict.fromkeys(names_in_failing_lines(error))
    for frame, _ in reversed([*traceback.walk_tb(error.__traceback__)]):
        code = frame.f_code
        names.update(dict.fromkeys(name.strip("_") for name in (*code.co_varnames, *code.co_names)))
    return {name: place for place, name in enumerate(names)}


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(parsed_expression(text))
    except (UnreadableText, ValueError):
        return None
