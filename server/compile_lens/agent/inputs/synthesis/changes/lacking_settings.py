"""Settings that a configuration of the program leaves open, or lacks: `Config()` whose ``width`` is None until somebody knows it."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from ....runtime.foreign_code import attempted
from ...calling import expressions
from ..errors.failing_lines import names_in_failing_lines
from ..errors.lacking_object import paths_of
from ..source.constructor_parameters import constructor_parameters
from ..terms.arguments import INSIDE, Argument, Constructed, Fields
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns
from ..terms.parameter_info import ParameterInfo

_OF_NONE = re.compile(r"NoneType|\bNone\b")
_NO_DICTIONARY = re.compile(r"'(\w+)' object is not (?:subscriptable|iterable|a mapping)")
MOST_NAMES = 24


def with_open_settings(
    candidate: Candidate, error: BaseException, names: dict[str, Any], guess: Callable[[str, Unknowns], Argument]
) -> Iterator[Candidate]:
    """The candidate with values for what an object among its arguments leaves None, where the failing lines name that: all, then each."""
    if _OF_NONE.search(str(error)) is None:
        return
    in_line = names_in_failing_lines(error)[:MOST_NAMES]
    unknowns, arguments = copy.deepcopy(candidate.unknowns), candidate.arguments
    each: list[Candidate] = []
    for path, made in candidate.arguments.named:
        for info in _open_parameters(made, names) if isinstance(made, Constructed) else ():
            if info.name in in_line:
                value = guess(info.name, unknowns)
                arguments = arguments.with_argument(f"{path}{INSIDE}{info.name}", value)
                each.append(Candidate(candidate.arguments.with_argument(f"{path}{INSIDE}{info.name}", value), unknowns))
    if each:
        yield Candidate(arguments, unknowns)
    yield from each[:MOST_NAMES] if len(each) > 1 else ()


def with_lacking_setting(
    candidate: Candidate,
    error: BaseException,
    is_open: Callable[[str], bool],
    guess: Callable[[str, Unknowns], Argument],
) -> Iterator[Candidate]:
    """The candidate whose configuration has what is read of it, where its class takes any settings; else with an object of no class in
    its place: it was chosen by its name.

    ``is_open``: whether the program leaves it open of which class the argument is.
    """
    lacking = getattr(error, "name", "") if isinstance(error, AttributeError) else ""
    made = dict(candidate.arguments.named)
    no_dictionary = _NO_DICTIONARY.search(str(error))
    for path, each in made.items() if no_dictionary else ():
        if isinstance(each, Constructed) and no_dictionary and each.path.endswith(no_dictionary[1]) and is_open(path):
            yield Candidate(
                candidate.arguments.with_argument(path, Fields((), is_dict=True)), copy.deepcopy(candidate.unknowns)
            )
    obj = getattr(error, "obj", None)
    for path in paths_of(obj, error, made) if lacking else ():
        unknowns = copy.deepcopy(candidate.unknowns)
        now = made.get(path)
        if isinstance(now, Constructed) and _takes_any_setting(type(obj)):
            value = guess(lacking, unknowns)
            yield Candidate(candidate.arguments.with_argument(f"{path}{INSIDE}{lacking}", value), unknowns)
        elif isinstance(now, Constructed) and is_open(path):
            fields = Fields(((lacking, guess(lacking, unknowns)),))
            yield Candidate(candidate.arguments.with_argument(path, fields), unknowns)


def _takes_any_setting(cls: type) -> bool:
    """Whether a class keeps what it is passed by any name, as configurations of transformers do."""
    parameters = attempted(lambda: list(inspect.signature(cls).parameters.values())) or []
    return any(each.kind is each.VAR_KEYWORD for each in parameters)


def _open_parameters(made: Constructed, names: dict[str, Any]) -> list[ParameterInfo]:
    """The parameters of a class that are None where nothing is passed for them, and for which ``made`` passes nothing."""
    scope = {**names, "__made__": lambda value: value}
    cls: Any = attempted(lambda: expressions.evaluate(f"__made__({made.path})", scope).run())
    infos = constructor_parameters(cls) if isinstance(cls, type) else []
    given = dict(made.named)
    return [info for info in infos if not info.required and info.default is None and info.name not in given]
