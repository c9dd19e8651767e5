"""Finds a call of what a constructor call makes: with other parts, or in evaluation mode, where the object as it is cannot be called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import ModuleType

from ....torch_internals.attributes import original_function
from ..changes.stand_ins import has_placeholders
from ..terms.candidate import Candidate
from ..trying.search import NotFound, SearchBudget
from ..trying.solved_numbers import compared_sizes, with_one_changed, with_solved_number
from .construction import (
    ATTEMPT_SHARE,
    MAX_TRIALS,
    Making,
    made_of,
    with_asked_parts,
    with_models,
    with_other_parts,
    with_other_sizes,
)
from .object_calls import CallsOfObject, FoundCall
from .parts_of_project import with_parts_of_project

# parts of an object that are found one after the other
MAX_PARTS, LEAST_PART_S = 12, 0.5
# for each kind of model that is passed to what wraps one
MODEL_TRIALS, MODEL_S = 16, 2.0
# to see how the sizes that an error compares depend on a number
SOLVING_TRIALS, SOLVING_SHARE = 8, 0.2
_OF_TRAINING = re.compile(r"\btrain(?:ing)?\b|\btargets?\b", re.I)


def with_parts(
    module: ModuleType,
    path: str,
    cls: type,
    method: str,
    making: Making,
    inputs: Mapping[str, str],
    budget: SearchBudget,
    depth: int = 0,
) -> FoundCall:
    """A call of what ``making`` constructs; where that calls a number it was constructed with, of one that got a module instead."""
    try:
        return _of_making(module, path, cls, method, making, inputs, budget)
    except NotFound as problem:
        if problem.of_object is None or depth >= MAX_PARTS:
            raise
        for other in _with_parts(module, path, cls, making, problem.of_object, budget):
            part = SearchBudget(MAX_TRIALS, max(budget.left * ATTEMPT_SHARE, LEAST_PART_S))
            try:
                return with_parts(module, path, cls, method, other, inputs, part, depth + 1)
            except NotFound:
                if budget.trials <= 0 or budget.left <= 0:
                    break
        raise problem


def _with_parts(
    module: ModuleType, path: str, cls: type, making: Making, error: BaseException, budget: SearchBudget
) -> Iterator[Making]:
    """Constructor calls with other parts: what the project has for one comes before what is made up."""
    if making.candidate is not None:
        yield from with_parts_of_project(module, path, cls, making.candidate, error, budget)
    yield from with_other_parts(module, path, cls, making, error)


def of_evaluation(
    module: ModuleType,
    path: str,
    cls: type,
    method: str,
    making: Making,
    inputs: Mapping[str, str],
    problem: NotFound,
    budget: SearchBudget,
) -> FoundCall | None:
    """A call in evaluation mode, where the model needs more for its training: targets, a batch of many samples, several devices."""
    is_about_it = _OF_TRAINING.search(f"{problem} {problem.first}") is not None or _asks_for_mode(cls, method)
    if not is_about_it or not hasattr(cls, "eval"):
        return None
    wraps = making.candidate is not None and has_placeholders(making.candidate)
    for each in (*(with_models(module, path, cls, making) if wraps else ()), making):
        part = SearchBudget(MAX_TRIALS, max(budget.left * ATTEMPT_SHARE, 1.0))
        try:
            return CallsOfObject(module, Making(f"{each.text}.eval()", each.is_meta), cls, method, inputs).find(part)
        except NotFound:
            continue
    return None


def _asks_for_mode(cls: type, method: str) -> bool:
    """Whether ``method`` itself asks whether the model is in training."""
    function = original_function(getattr(cls, method, None))
    return "training" in getattr(getattr(function, "__code__", None), "co_names", ())


def _of_making(
    module: ModuleType,
    path: str,
    cls: type,
    method: str,
    making: Making,
    inputs: Mapping[str, str],
    budget: SearchBudget,
) -> FoundCall:
    """A call of what ``making`` constructs. One that wraps a module soon gets a model in its place: not every input suits one that
    changes nothing."""
    calls = CallsOfObject(module, making, cls, method, inputs)
    wraps = making.candidate is not None and has_placeholders(making.candidate)
    try:
        return calls.search(SearchBudget(MODEL_TRIALS, budget.left * ATTEMPT_SHARE)) if wraps else calls.find(budget)
    except NotFound as problem:
        if problem.of_object is not None:
            raise
        asked = with_asked_parts(module, path, cls, making, problem.error)
        found = _of_first(asked, module, cls, method, inputs, budget)
        if found is None:
            errors = [each for each in (problem.error, *problem.told) if each is not None]
            sizes = with_other_sizes(module, path, cls, making, errors)
            found = _of_first(sizes, module, cls, method, inputs, budget)
        if found is None and problem.error is not None and making.candidate is not None:
            found = _with_solved_number(module, path, cls, method, making.candidate, problem.error, inputs, budget)
        if found is None and wraps:
            found = _of_first(with_models(module, path, cls, making), module, cls, method, inputs, budget)
        if found is None and not (wraps and budget.left):
            raise
    return found or calls.find(budget)


def _with_solved_number(
    module: ModuleType,
    path: str,
    cls: type,
    method: str,
    candidate: Candidate,
    error: BaseException,
    inputs: Mapping[str, str],
    budget: SearchBudget,
) -> FoundCall | None:
    """A call of an object whose constructor got the number for which two sizes are equal that ``error`` compares."""
    for name, changed in with_one_changed(candidate) if compared_sizes(error) else ():
        for making in made_of(module, path, cls, [changed]):
            part = SearchBudget(SOLVING_TRIALS, max(budget.left * SOLVING_SHARE, LEAST_PART_S))
            try:
                return CallsOfObject(module, making, cls, method, inputs).search(part)
            except NotFound as problem:
                other = problem.error
            solved = with_solved_number(candidate, name, error, other) if other is not None else iter(())
            found = _of_first(made_of(module, path, cls, solved), module, cls, method, inputs, budget)
            if found is not None:
                return found
        if not budget.left:
            break
    return None


def _of_first(
    makings: Iterator[Making],
    module: ModuleType,
    cls: type,
    method: str,
    inputs: Mapping[str, str],
    budget: SearchBudget,
) -> FoundCall | None:
    """A call of the first object that one is found for: of what wraps a model, with one for its kind of input."""
    for making in makings:
        part = SearchBudget(MODEL_TRIALS, max(budget.left * ATTEMPT_SHARE, MODEL_S))
        try:
            return CallsOfObject(module, making, cls, method, inputs).search(part)
        except NotFound:
            if not budget.left:
                break
    return None
