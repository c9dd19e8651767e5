"""Constructor calls in which an argument that lacks what is read of it is an object of a class of the project that has it.

`Sampler(model)` that calls `model.noise(x)` takes what the project has with a method `noise`. That class is constructed by a search of its
own: as the project constructs it, or with arguments that are found.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from types import ModuleType

from ..changes.stand_ins import with_model
from ..errors.lacking_object import lacking_member, lacking_place
from ..guessing.argument_guesser import ArgumentGuesser
from ..guessing.first_arguments import written_candidates
from ..project.classes_by_members import classes_with, members_read
from ..project.project_calls import project_calls
from ..terms.arguments import INSIDE, Constructed, Expression
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns
from ..trying.search import NotFound, SearchBudget
from .construction import MAX_TRIALS, Making, constructions

# for one class, of what is left
PART_SHARE, LEAST_PART_S = 0.2, 1.5


def with_parts_of_project(
    module: ModuleType, path: str, cls: type, candidate: Candidate, error: BaseException, budget: SearchBudget
) -> Iterator[Making]:
    """Constructor calls of ``cls`` that return, with a part in place of the argument of ``candidate`` that lacks what ``error`` asks
    for."""
    member, place = lacking_member(error), lacking_place(error, dict(candidate.arguments.named))
    if not member or not place:
        return
    name = place.rpartition(INSIDE)[2]
    for part in classes_with(member, members_read(module, cls, name), module, cls):
        for text in _texts(module, part, _constructed(candidate, place), budget):
            arguments = candidate.arguments.with_argument(place, Expression(text))
            changed = Candidate(arguments, copy.deepcopy(candidate.unknowns))
            made = _first(module, path, cls, [changed], budget)
            if made is not None:
                yield made


def _texts(module: ModuleType, part: type, instead_of: str, budget: SearchBudget) -> Iterator[str]:
    """Constructor calls of ``part`` that return: as in the project, else with arguments that are found. One that wraps a model gets what
    it is ``instead_of``, where that has been constructed, before a module that changes nothing."""
    path = ArgumentGuesser(module, Unknowns()).path_of(part)
    for given in project_calls(module, part):
        made = _first(module, path, part, list(written_candidates(module, part, given)), budget)
        if made is not None:
            yield made.text
            return
    made = _first(module, path, part, None, budget)
    if made is not None and made.candidate is not None and instead_of:
        wrapping = _first(module, path, part, list(with_model(made.candidate, instead_of)), budget)
        yield from [wrapping.text] if wrapping is not None else []
    if made is not None:
        yield made.text


def _constructed(candidate: Candidate, place: str) -> str:
    """The text of the argument at ``place``, where a class of the project is constructed for it; '' for any other one."""
    argument = candidate.arguments.get(place)
    if not isinstance(argument, Constructed):
        return ""
    values = candidate.unknowns.values
    return argument.render(lambda name: str(values[name]))


def _first(
    module: ModuleType, path: str, cls: type, begins_with: list[Candidate] | None, budget: SearchBudget
) -> Making | None:
    """The first constructor call that returns, of something that has memory."""
    own = SearchBudget(MAX_TRIALS, max(budget.left * PART_SHARE, LEAST_PART_S))
    try:
        found = next(constructions(module, path, cls, own, {}, begins_with))
    except NotFound:
        return None
    return None if found.is_meta else found
