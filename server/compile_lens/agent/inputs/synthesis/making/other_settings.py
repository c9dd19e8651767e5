"""Other settings of a constructor: what its project passes, flags, modes, numbers that switch something on, and what is None by default.

Each has a call that differs in it alone."""

from __future__ import annotations

import ast
import copy
import itertools
import re
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ....runtime.foreign_code import attempted
from ....runtime.parsed_source import UnreadableText, parsed_expression
from ..guessing.argument_guesser import ArgumentGuesser
from ..project.written_settings import LONGEST, written_settings
from ..source.accepted_values import accepted_texts
from ..source.constructor_parameters import constructor_parameters
from ..terms.dimensions import Unknowns
from ..terms.parameter_info import ParameterInfo
from .without_weights import is_of_weights

MOST_VALUES = 3
OF_MACHINE = re.compile(r"(?:.*_)?(?:device|cuda|gpu|debug|breakpoint|save|plot|distributed|parallel)s?(?:_.*)?", re.I)
# what is off at 0, and what there is one of
SWITCHED_ON: dict[type, dict[float, float]] = {int: {0: 1, 1: 2}, float: {0.0: 0.1}}


@dataclass(frozen=True, slots=True)
class OtherSetting:
    """``phrase`` is the setting as the user would write it, ``expression`` the whole call with it."""

    phrase: str
    expression: str


def other_settings(module: ModuleType, expression: str) -> Iterator[OtherSetting]:
    """The call ``expression`` with one argument of its constructor changed, or several that the project passes together: what the project
    passes first, then flags, modes, numbers, and what is None by default.

    Nothing where the object is made in another way than by a call of its class.
    """
    try:
        whole = parsed_expression(expression)
    except UnreadableText:
        return
    making = _making(whole)
    cls = attempted(lambda: _named(module, making.func)) if making is not None else None
    if making is None or not isinstance(cls, type) or any(keyword.arg is None for keyword in making.keywords):
        return
    passed = {str(keyword.arg): keyword.value for keyword in making.keywords}
    open_infos = {
        info.name: info for info in constructor_parameters(cls)[len(making.args) :] if not _is_of_machine(info.name)
    }
    seen: set[str] = set()
    for changed in itertools.chain(
        _of_project(module, cls, open_infos, passed), _by_value(module, cls, open_infos, passed)
    ):
        phrase = ", ".join(f"{name}={text}" for name, text in changed.items())
        if phrase not in seen:
            seen.add(phrase)
            yield OtherSetting(phrase, _with_arguments(whole, changed))


def _of_project(
    module: ModuleType, cls: type, infos: Mapping[str, ParameterInfo], passed: Mapping[str, ast.expr]
) -> Iterator[dict[str, str]]:
    """What calls of the project pass besides. Another size is not among it: inputs would have to fit it."""
    for given in attempted(lambda: list(written_settings(module, cls))) or ():
        new = {name: text for name, text in given.items() if name not in passed or ast.unparse(passed[name]) != text}
        if new.keys() <= infos.keys() and not all(_is_size(infos[name], text) for name, text in new.items()):
            yield new


def _is_size(info: ParameterInfo, text: str) -> bool:
    """Whether a number takes the place of another one."""
    value = attempted(lambda: ast.literal_eval(text))
    return type(value) in SWITCHED_ON and type(info.default) in SWITCHED_ON and bool(value) and bool(info.default)


def _by_value(
    module: ModuleType, cls: type, infos: Mapping[str, ParameterInfo], passed: Mapping[str, ast.expr]
) -> Iterator[dict[str, str]]:
    texts = accepted_texts(cls)
    found: list[tuple[int, str, str]] = []
    for name, info in infos.items():
        node = passed.get(name)
        if node is not None and not isinstance(node, ast.Constant):
            continue
        value = info.default if node is None else node.value
        kind, others = _others(info, value, texts.get(name, ()))
        found += [(kind, name, repr(other)) for other in others]
        if not others and value is None and not info.required:
            found += [(4, name, text) for text in _instead_of_none(module, cls, info)]
    for _, name, text in sorted(found, key=lambda each: each[0]):
        yield {name: text}


def _instead_of_none(module: ModuleType, cls: type, info: ParameterInfo) -> Iterator[str]:
    """What a parameter that is None by default may get: a module, a function, a tensor. Numbers are sizes, which must fit others."""
    unknowns = Unknowns()
    made = ArgumentGuesser(module, unknowns).for_constructor(cls, info)[0]
    text = made.render(lambda name: str(unknowns.by_name[name].value))
    if type(attempted(lambda: ast.literal_eval(text))) not in SWITCHED_ON and text != "None" and len(text) <= LONGEST:
        yield text


def _others(info: ParameterInfo, value: Any, texts: tuple[str, ...]) -> tuple[int, tuple[Any, ...]]:
    """How likely another value leads to other code, 0 the likeliest, and such values."""
    choices = tuple(each for each in choices_of(info.hint) if each != value)
    if isinstance(value, bool):
        return 0, (not value,)
    if choices:
        return 1, choices[:MOST_VALUES]
    if isinstance(value, str):
        return 1, tuple(each for each in texts if each != value)[:MOST_VALUES]
    if type(value) in SWITCHED_ON and value in SWITCHED_ON[type(value)]:
        return 2, (SWITCHED_ON[type(value)][value],)
    return 3, ()


def _is_of_machine(name: str) -> bool:
    """Whether a setting is about what is here, and not about the model: where it runs, weights, and debuggers that stop it."""
    return is_of_weights(name) or OF_MACHINE.fullmatch(name) is not None


def choices_of(hint: Any) -> tuple[Any, ...]:
    """The values of a ``Literal``, also in ``Optional``."""
    if typing.get_origin(hint) is typing.Literal:
        return typing.get_args(hint)
    return tuple(itertools.chain.from_iterable(choices_of(each) for each in typing.get_args(hint)))


def _making(whole: ast.expr) -> ast.Call | None:
    """The constructor call in the call of an object, or of a method of it."""
    if not isinstance(whole, ast.Call):
        return None
    made = whole.func.value if isinstance(whole.func, ast.Attribute) else whole.func
    return made if isinstance(made, ast.Call) else None


def _named(module: ModuleType, node: ast.expr) -> Any:
    if isinstance(node, ast.Attribute):
        return getattr(_named(module, node.value), node.attr)
    return vars(module)[node.id] if isinstance(node, ast.Name) else None


def _with_arguments(whole: ast.expr, given: Mapping[str, str]) -> str:
    changed = copy.deepcopy(whole)
    making = _making(changed)
    assert making is not None
    making.keywords = [keyword for keyword in making.keywords if keyword.arg not in given]
    making.keywords += [ast.keyword(name, parsed_expression(text)) for name, text in given.items()]
    return ast.unparse(changed)
