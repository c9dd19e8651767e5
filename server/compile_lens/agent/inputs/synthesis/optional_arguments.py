"""Finds arguments for optional parameters of a call that is known to return: labels, masks and the like."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from ..calling import expressions
from .guessing.argument_guesser import ArgumentGuesser
from .guessing.loss_inputs import TARGET_NAME
from .making.construction import with_symbolic_sizes
from .making.object_calls import FoundCall, evaluated_call
from .source.guesses import INPUTS, by_name
from .source.hint_kinds import kinds_of
from .source.layers import expected_by_layers
from .source.signatures import read_parameters
from .terms.arguments import Argument
from .terms.call_problem import CallProblem
from .terms.candidate import Candidate
from .terms.dimensions import Unknowns
from .terms.parameter_info import ParameterInfo
from .trying.search import NotFound, SearchBudget, search

MAX_OPTIONAL = 4
MAX_TRIALS = 8
SECONDS_EACH = 3.0


def optional_arguments(module: ModuleType, found: FoundCall, seconds: float) -> Iterator[tuple[str, str]]:
    """Name and expression of each optional argument with which the call returns, everything else left as it is."""
    budget = SearchBudget(MAX_TRIALS * MAX_OPTIONAL, seconds)
    if found.candidate is None:
        return
    names = vars(module)
    target = found.evaluate(names).target
    function = type(target).forward if hasattr(type(target), "forward") and found.method == "forward" else target
    infos = read_parameters(function, skip_first=function is not target)
    for info in [i for i in infos if _is_offered(i, found)][:MAX_OPTIONAL]:
        guesser_unknowns = copy.deepcopy(found.candidate.unknowns)
        for unknown in guesser_unknowns.by_name.values():
            unknown.fixed = True
        guesser = ArgumentGuesser(module, guesser_unknowns)
        argument = guesser.for_input(info, expected_by_layers(target, info.layers))
        tried = [*_tokens_to_come(info, found), argument]
        text = _with_which_it_returns(module, found, info, tried, guesser_unknowns, budget)
        if text is not None:
            yield info.name, text


def _is_offered(info: ParameterInfo, found: FoundCall) -> bool:
    assert found.candidate is not None
    return found.candidate.arguments.get(info.name) is None and is_optional_tensor(info)


def is_optional_tensor(info: ParameterInfo) -> bool:
    """Whether a parameter is None by default, and a tensor otherwise: by its annotation, else by its name or by what the body does with it,
    such as to call a layer with it or to ask for its shape."""
    if info.required or info.default is not None:
        return False
    kinds = kinds_of(info.hint, info.annotation)
    is_used_as_one = info.dims is not None or bool(info.least_rank or info.layers)
    return "tensor" in kinds or (not kinds and (is_used_as_one or by_name(INPUTS, info.name) is not None))


def _tokens_to_come(info: ParameterInfo, found: FoundCall) -> Iterator[Argument]:
    """The targets of a model of tokens are tokens."""
    assert found.candidate is not None
    if TARGET_NAME.fullmatch(info.name):
        tokens = (tensor for _, tensor in found.candidate.arguments.tensors() if tensor.dtype == "int64")
        yield from itertools.islice((each for each in tokens if each.below is not None), 1)


def _with_which_it_returns(
    module: ModuleType,
    found: FoundCall,
    info: ParameterInfo,
    tried: list[Argument],
    unknowns: Unknowns,
    budget: SearchBudget,
) -> str | None:
    assert found.candidate is not None
    names = vars(module)
    before = found.candidate.arguments

    def symbolic(arguments: Any, size: Any) -> object:
        made = found.evaluate(names).target
        return evaluated_call(f"__made__({with_symbolic_sizes(arguments)})", names, size, made)

    def real(text: str) -> object:
        made = found.evaluate(names).target
        with found.place():
            call = expressions.evaluate(f"__made__({text})", {**names, "__made__": made})
        return call.run()

    start = [Candidate(before.with_argument(info.name, each), unknowns) for each in tried]
    part = SearchBudget(min(MAX_TRIALS, budget.trials), min(SECONDS_EACH, budget.left))
    try:
        result = search(CallProblem(symbolic, real, none_offered), start, part)
    except NotFound:
        return None
    finally:
        budget.trials -= MAX_TRIALS
    values = result.unknowns.values

    def render(one: Argument) -> str:
        return one.render(lambda name: str(values[name]))

    others = [(n, render(a)) for n, a in result.arguments.named if n != info.name]
    now = found.candidate.unknowns.values
    if others != [(n, a.render(lambda name: str(now[name]))) for n, a in before.named]:
        return None  # it takes another call, which is not this one with one more argument
    found_argument = result.arguments.get(info.name)
    return render(found_argument) if found_argument is not None else None


def none_offered(_: str, __: Unknowns, ___: ParameterInfo | None) -> None:
    """No further argument: the call is known but for one."""
