"""Other settings of a constructor: flags, modes, numbers that switch something on, and what the project passes for an argument that is None
by default, each with a call that differs in it alone."""

from __future__ import annotations

import ast
import copy
import itertools
import re
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ...runtime.foreign_code import attempted
from ...runtime.parsed_source import UnreadableText, parsed_expression
from .accepted_values import accepted_texts
from .constructor_parameters import constructor_parameters
from .parameter_info import ParameterInfo
from .project_calls import project_calls
from .without_weights import is_of_weights

MOST_VALUES = 3
# what is written longer is no setting that a sentence can name
MOST_LETTERS = 60
OF_MACHINE = re.compile(r"(?:.*_)?(?:device|cuda|gpu|debug|breakpoint|save|plot|distributed|parallel)s?(?:_.*)?", re.I)
# what is off at 0, and what there is one of
SWITCHED_ON: dict[type, dict[float, float]] = {int: {0: 1, 1: 2}, float: {0.0: 0.1}}


@dataclass(frozen=True, slots=True)
class OtherSetting:
    """``phrase`` is the setting as the user would write it, ``expression`` the whole call with it."""

    phrase: str
    expression: str


def other_settings(module: ModuleType, expression: str) -> Iterator[OtherSetting]:
    """The call ``expression`` with one argument of its constructor changed: flags first, then modes, then numbers.

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
    infos = constructor_parameters(cls)
    passed = {keyword.arg: keyword.value for keyword in making.keywords}
    texts = accepted_texts(cls)
    found: list[tuple[int, str, ast.expr]] = []
    is_open: set[str] = set()
    for info in infos[len(making.args) :]:
        node = passed.get(info.name)
        if (node is not None and not isinstance(node, ast.Constant)) or _is_of_machine(info.name):
            continue
        value = info.default if node is None else node.value
        kind, others = _others(info, value, texts.get(info.name, ()))
        found += [(kind, info.name, ast.Constant(other)) for other in others]
        if value is None and not others:
            is_open.add(info.name)
    found += [(2, name, value) for name, value in _passed_in_project(module, cls, is_open)]
    for _, name, other in sorted(found, key=lambda each: each[0]):
        yield OtherSetting(f"{name}={ast.unparse(other)}", _with_argument(whole, name, other))


def _passed_in_project(module: ModuleType, cls: type, names: set[str]) -> Iterator[tuple[str, ast.expr]]:
    """What calls of ``cls`` in the project pass for ``names``, the first of each."""
    left = set(names)
    for given in project_calls(module, cls) if names else ():
        for name in sorted(left & given.keys()):
            if given[name] != "None" and len(given[name]) <= MOST_LETTERS:
                left.discard(name)
                yield name, parsed_expression(given[name])


def _others(info: ParameterInfo, value: Any, texts: tuple[str, ...]) -> tuple[int, tuple[Any, ...]]:
    """How likely another value leads to other code, 0 the likeliest, and such values."""
    choices = tuple(each for each in _choices(info.hint) if each != value)
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


def _choices(hint: Any) -> tuple[Any, ...]:
    """The values of a ``Literal``, also in ``Optional``."""
    if typing.get_origin(hint) is typing.Literal:
        return typing.get_args(hint)
    return tuple(itertools.chain.from_iterable(_choices(each) for each in typing.get_args(hint)))


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


def _with_argument(whole: ast.expr, name: str, value: ast.expr) -> str:
    changed = copy.deepcopy(whole)
    making = _making(changed)
    assert making is not None
    making.keywords = [keyword for keyword in making.keywords if keyword.arg != name]
    making.keywords.append(ast.keyword(name, value))
    return ast.unparse(changed)
