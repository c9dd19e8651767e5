"""One argument for a constructor that takes any number of them: `Reshape(*sizes)`, `Chain(*layers)`, `Critics(*critics: Critic)`."""

from __future__ import annotations

import inspect
import re
import typing
from typing import TYPE_CHECKING, Any

from ....runtime.foreign_code import attempted
from ..source.constructor_parameters import constructor
from ..source.delegation import accepts_names
from ..source.docstring_types import types_in_docstring
from ..source.guesses import MAKERS, by_name
from ..source.hint_kinds import first_class, kinds_of
from ..terms.arguments import Argument, Expression, UnknownInteger
from .namesakes import class_called

if TYPE_CHECKING:
    from .argument_guesser import ArgumentGuesser

# parameters that say nothing of what they take
_OF_ANYTHING = re.compile(r"_*(?:a|args|arguments|params|inputs)")


def any_number_of(cls: type) -> str:
    """The parameter of the constructor that takes any number of arguments; '' where it has none. One that takes any names as well, and
    whose parameter has no name of its own, passes them on."""
    function = constructor(cls)
    parameters = attempted(lambda: list(inspect.signature(function).parameters.values())) or []
    name = next((each.name for each in parameters if each.kind is each.VAR_POSITIONAL), "")
    return "" if accepts_names(function) and _OF_ANYTHING.fullmatch(name) else name


def item_of(cls: type, name: str, guesser: ArgumentGuesser, depth: int = 0) -> Argument:
    """What one of the arguments called ``name`` is by its annotation, what its docstring says or its name; else a number."""
    hint = _hint(cls, name)
    if kinds_of(hint, "") & {"int", "float"}:
        return UnknownInteger(guesser.unknowns.get(f"{name}=", 64).name)
    wanted = first_class(hint)
    if wanted is not None and guesser.is_own(wanted) and wanted is not cls:
        return guesser.constructed(wanted, depth, cls)
    one = name.rstrip("s")
    alike = class_called(guesser.module, one)
    made = by_name(MAKERS, one)
    if made is not None:
        return Expression(made)
    if alike is not None and alike is not cls:
        return guesser.constructed(alike, depth, cls)
    return UnknownInteger(guesser.unknowns.get(f"{name}=", 64).name)


def _hint(cls: type, name: str) -> Any:
    function = constructor(cls)
    hints: dict[str, Any] = attempted(lambda: typing.get_type_hints(function)) or {}
    text = f"{inspect.getdoc(function) or ''}\n{inspect.getdoc(cls) or ''}"
    return hints.get(name) or types_in_docstring(text, (name,), function).get(name)
