"""Calls of objects that something else than a search for constructor arguments makes: factories of the file, the files of its package."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

from ....instrument.unrecorded import unrecorded
from ...calling.time_limit import TrialTooLong
from ..project.factories import class_factories, factories, factories_with_arguments, factory_parameters
from ..project.project_calls import calls_by_name
from ..trying.search import NotFound, SearchBudget
from .construction import ATTEMPT_SHARE, MAX_TRIALS, Making, by_function, fitting
from .object_calls import CallsOfObject, FoundCall
from .package_factories import Part, inputs_within, parts

# the least time for an object that the file constructs itself
FACTORY_S = 6.0


def by_factory(
    module: ModuleType, path: str, cls: type, method: str, budget: SearchBudget, inputs: Mapping[str, str]
) -> FoundCall | None:
    """A call on what a function of the file, or a class method, constructs."""
    for number, make in enumerate(_factories(module, path, cls)):
        if number and not budget.left:
            break
        part = SearchBudget(MAX_TRIALS, max(budget.left * ATTEMPT_SHARE, FACTORY_S))
        try:
            with unrecorded():
                making = make(part)
            return CallsOfObject(module, making, cls, method, inputs).find(part)
        except TrialTooLong:  # of the search
            raise
        except (Exception, SystemExit):  # code of the user's may raise anything; the constructor's failure says more
            continue
    return None


def of_package(
    module: ModuleType, cls: type, method: str, budget: SearchBudget, inputs: Mapping[str, str]
) -> FoundCall | None:
    """A call on an object that other files of the package construct; with the inputs that it gets there, where others fail."""
    own = SearchBudget(MAX_TRIALS, max(budget.left, budget.more))
    for part in parts(module, cls, own) if budget.more else ():
        calls = CallsOfObject(module, part.making, cls, method, inputs, part.again)
        try:
            return calls.find(SearchBudget(MAX_TRIALS, own.left * ATTEMPT_SHARE))
        except NotFound:
            known = _inputs_of_part(module, part, own) if method == "forward" and part.whole is not part.made else {}
        try:
            if known:
                calls = CallsOfObject(module, part.making, cls, method, {**known, **inputs}, part.again)
                return calls.search(SearchBudget(MAX_TRIALS, max(own.left, 1.0)))
        except NotFound:
            continue
    return None


def _inputs_of_part(module: ModuleType, part: Part, budget: SearchBudget) -> dict[str, str]:
    """What the part gets in a call of the whole."""
    try:
        calls = CallsOfObject(module, part.whole_making, type(part.whole), "forward", {}, lambda: part.whole)
        call = calls.search(SearchBudget(MAX_TRIALS, budget.left * ATTEMPT_SHARE))
        return inputs_within(part, call.evaluate(vars(module)))
    except NotFound:
        return {}


def _factories(module: ModuleType, path: str, cls: type) -> Iterator[Callable[[SearchBudget], Making]]:
    for text in factories(module, cls):
        yield functools.partial(_fitting, vars(module), text)
    # with arguments: as the project calls them, then as they are found
    functions = {f"{path}.{name}": getattr(cls, name).__func__ for name in class_factories(cls)}
    functions |= dict(factories_with_arguments(module, cls))
    for name, function in functions.items():
        for given in calls_by_name(module, name, factory_parameters(name, function)):
            arguments = ", ".join(f"{each}={text}" for each, text in given.items())
            yield functools.partial(_fitting, vars(module), f"{name}({arguments})")
    for name, function in functions.items():
        yield functools.partial(by_function, module, name, cls, function)


def _fitting(names: dict[str, Any], text: str, _: SearchBudget) -> Making:
    return fitting(names, text)
