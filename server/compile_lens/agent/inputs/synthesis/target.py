"""Finds a call of one target, a class or a function of the user's module."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from ...instrument.unrecorded import uncompiled
from ...runtime.entry_protocol import LEFT_OPEN
from ...torch_internals.attributes import original_function
from ..calling import expressions
from ..calling.time_limit import TrialTooLong
from ..importing.module import find, written_outside
from .drafts import draft_of, inputs_of
from .guessing.argument_guesser import ArgumentGuesser
from .guessing.first_arguments import written_candidates
from .guessing.loss_inputs import loss_inputs
from .making.calls_of_making import of_evaluation, with_parts
from .making.construction import (
    ATTEMPT_SHARE,
    CONSTRUCTOR_FAILED,
    MAX_TRIALS,
    Making,
    as_text,
    constructions,
    with_symbolic_sizes,
)
from .making.made_elsewhere import by_factory, of_package
from .making.object_calls import (
    CallsOfObject,
    FoundCall,
    described,
    evaluated_call,
    guess_of,
    known_argument,
    read_of,
)
from .making.parts_of_project import with_parts_of_project
from .making.settings_around import mentioned_parameters, settings_around
from .project.concrete_classes import leaves_forward_open, leaves_methods_open, method_beside, method_instead
from .project.heirs import heirs, is_left_open, lacks_what_heirs_have
from .project.project_calls import project_calls
from .source.constructor_parameters import constructor_parameters
from .source.signatures import read_parameters
from .terms.arguments import Argument, Arguments
from .terms.call_problem import CallProblem
from .terms.candidate import Candidate
from .terms.dimensions import Unknowns
from .terms.parameter_info import ParameterInfo, positional_names
from .trying.search import NotFound, SearchBudget, search, search_likely

# the least time for each class that inherits from one which cannot be called
LEAST_HEIR_S = 2.0
# and for a call of the project
LEAST_PROJECT_S = 2.0


def find_call(
    module: ModuleType,
    qualified_name: str,
    budget: SearchBudget,
    given: Mapping[str, str] | None = None,
    inputs: Mapping[str, str] | None = None,
) -> FoundCall:
    """A call of ``qualified_name`` that returns in eager. ``given`` are constructor arguments from a call site, ``inputs``
    expressions for its own arguments where they are known.

    Raises NotFound, and AttributeError when there is no such name.
    """
    qualified_name = written_outside(qualified_name)
    subject = find(module, qualified_name)
    owner_name, _, method = qualified_name.rpartition(".")
    owner = find(module, owner_name) if owner_name else None
    with uncompiled():
        if isinstance(subject, type):
            return _of_class_or_heir(module, qualified_name, subject, budget, given or {}, inputs or {})
        if isinstance(owner, type) and method == "apply" and is_autograd_function(owner):
            return _of_autograd_function(module, owner_name, owner, budget, inputs or {})
        if isinstance(owner, type) and not _is_of_class_itself(owner, method):
            return _of_class(module, owner_name, owner, method, budget, given or {}, inputs or {})
        function = original_function(subject)
        return _of_function(module, qualified_name, function, budget, inputs or {})


def _of_class_or_heir(
    module: ModuleType,
    path: str,
    cls: type,
    budget: SearchBudget,
    given: Mapping[str, str],
    inputs: Mapping[str, str],
) -> FoundCall:
    """A call of an object of ``cls``; of a class that inherits from it, where it leaves its work to such classes."""
    is_open = leaves_forward_open(cls)
    try:
        if is_open:
            raise NotFound(LEFT_OPEN)
        return _of_class(module, path, cls, "forward", budget, given, inputs)
    except NotFound as problem:
        is_for_others = is_open or is_left_open(problem.error) or leaves_methods_open(cls)
        is_for_others = is_for_others or lacks_what_heirs_have(problem.shown, cls, module)
        try:
            return _by_heir(module, cls, budget, problem, only_elsewhere=not is_for_others)
        except NotFound:
            beside = method_beside(cls) if is_open else ""
            if not beside:
                raise
            return _of_class(module, path, cls, beside, budget, given, inputs)


def _by_heir(
    module: ModuleType, cls: type, budget: SearchBudget, problem: NotFound, only_elsewhere: bool = False
) -> FoundCall:
    """A call of a class that inherits from ``cls``. Raises ``problem`` where there is none, with the nearest call of the first of them.

    ``only_elsewhere``: those of other files that inherit its `forward`, since ``cls`` does not say that it needs one.
    """
    own = SearchBudget(MAX_TRIALS, max(budget.left, budget.more))
    method = method_instead(cls) or "forward"
    first, name = None, ""
    for path, heir in heirs(module, cls):
        if only_elsewhere and (heir.__module__ == module.__name__ or not _runs_forward_of(heir, cls)):
            continue
        try:
            part = SearchBudget(MAX_TRIALS, max(own.left * ATTEMPT_SHARE, LEAST_HEIR_S))
            return _of_class(module, path, heir, method, part, {}, {})
        except NotFound as failed:
            if first is None:
                first, name = failed, heir.__name__
                first.draft = first.draft or draft_of(module, path, {}, {})
            if not own.left:
                break
    if first is not None and not only_elsewhere:
        # what the first of them failed with says more
        raise NotFound(f"{problem}; {name}: {first}", first.draft, error=problem.error, shown=first.shown)
    raise problem


def _runs_forward_of(heir: type, cls: type) -> bool:
    return getattr(heir, "forward", None) is getattr(cls, "forward", heir)


def _of_class(
    module: ModuleType,
    path: str,
    cls: type,
    method: str,
    budget: SearchBudget,
    given: Mapping[str, str],
    inputs: Mapping[str, str],
) -> FoundCall:
    """A call of an object of ``cls``: constructed as the project does where it takes more than literals, or where all else fails."""
    if method == "forward":
        method = method_instead(cls) or method
    is_known = {info.name for info in constructor_parameters(cls) if info.required} <= given.keys()
    found = None if is_known else _as_in_project(module, path, cls, method, budget, inputs)
    try:
        return found or _of_searched(module, path, cls, method, budget, given, inputs)
    except NotFound:
        found = _as_in_project(module, path, cls, method, budget, inputs) if is_known else None
        if found is None:
            raise
        return found


def call_with(module: ModuleType, path: str, given: Mapping[str, str], budget: SearchBudget) -> FoundCall:
    """A call of an object of the class that is written ``path`` and whose constructor gets ``given``. Raises NotFound."""
    cls = find(module, path)
    with uncompiled():
        makings = constructions(module, path, cls, budget, {}, written_candidates(module, cls, given))
        return _first_call(makings, module, path, cls, method_instead(cls) or "forward", budget, {})


def _as_in_project(
    module: ModuleType, path: str, cls: type, method: str, budget: SearchBudget, inputs: Mapping[str, str]
) -> FoundCall | None:
    """A call of an object that is constructed with the arguments of a call in the project."""
    for given in project_calls(module, cls):
        part = SearchBudget(min(budget.trials, MAX_TRIALS), max(budget.left * ATTEMPT_SHARE, LEAST_PROJECT_S))
        try:
            makings = constructions(module, path, cls, part, {}, written_candidates(module, cls, given))
            return _first_call(makings, module, path, cls, method, part, inputs)
        except NotFound:
            continue
    return None


def _first_call(
    makings: Iterator[Making],
    module: ModuleType,
    path: str,
    cls: type,
    method: str,
    budget: SearchBudget,
    inputs: Mapping[str, str],
) -> FoundCall:
    """A call of the first object of ``makings`` that one is found for. Raises NotFound."""
    last: NotFound | None = None
    for making in makings:
        part = SearchBudget(min(budget.trials, MAX_TRIALS), budget.left * ATTEMPT_SHARE)
        try:
            return with_parts(module, path, cls, method, making, inputs, part)
        except NotFound as problem:
            last = problem
            found = of_evaluation(module, path, cls, method, making, inputs, problem, budget)
            if found is not None:
                return found
        budget.trials -= min(budget.trials, MAX_TRIALS) - part.trials
        if budget.trials <= 0 or budget.left <= 0:
            break
    raise last or NotFound("no constructor call is known")


def _of_searched(
    module: ModuleType,
    path: str,
    cls: type,
    method: str,
    budget: SearchBudget,
    given: Mapping[str, str],
    inputs: Mapping[str, str],
) -> FoundCall:
    """A call of an object whose constructor arguments are searched, or that a function or another class constructs. Raises NotFound."""
    try:
        return _first_call(constructions(module, path, cls, budget, given), module, path, cls, method, budget, inputs)
    except NotFound as problem:
        last = failed = problem
        if str(problem).startswith(CONSTRUCTOR_FAILED):
            draft = inputs_of(module, cls, method, inputs)
            last = NotFound(str(problem), f"{problem.draft}{draft}" if problem.draft else "", shown=problem.shown)
            parts = _with_other_parts(module, path, cls, problem, budget)
            with contextlib.suppress(NotFound):
                return _first_call(parts, module, path, cls, method, budget, inputs)
    more = mentioned_parameters(module, cls, str(last))
    if more and not more.keys() <= given.keys() and budget.left > 0:
        return _of_searched(module, path, cls, method, budget, {**given, **more}, inputs)
    try:
        found = _with_other_setting(module, path, cls, method, failed, inputs, budget) if not given else None
        found = (
            found
            or by_factory(module, path, cls, method, budget, inputs)
            or of_package(module, cls, method, budget, inputs)
        )
    except TrialTooLong:
        found = None  # what the constructor failed with says more
    if found is not None:
        return found
    raise last


def _with_other_setting(
    module: ModuleType,
    path: str,
    cls: type,
    method: str,
    problem: NotFound,
    inputs: Mapping[str, str],
    budget: SearchBudget,
) -> FoundCall | None:
    """A call of an object with another setting, where no sizes avoid what ``problem`` failed with."""
    nearest = problem.nearest if str(problem).startswith(CONSTRUCTOR_FAILED) else None
    for given in settings_around(module, cls, nearest, problem.shown):
        part = SearchBudget(MAX_TRIALS, max(budget.left * ATTEMPT_SHARE, LEAST_PROJECT_S))
        try:
            makings = constructions(module, path, cls, part, {}, written_candidates(module, cls, given))
            return _first_call(makings, module, path, cls, method, part, inputs)
        except NotFound:
            if not budget.left:
                break
    return None


def _with_other_parts(
    module: ModuleType, path: str, cls: type, problem: NotFound, budget: SearchBudget
) -> Iterator[Making]:
    """Constructor calls with what the project has for an argument that lacked something: at first, or in the call that came furthest."""
    for error in dict.fromkeys(each for each in (problem.first, problem.shown) if each is not None):
        if problem.nearest is not None:
            yield from with_parts_of_project(module, path, cls, problem.nearest, error, budget)


def find_inputs(
    module: ModuleType,
    made: Any,
    method: str,
    make: Callable[[], Any],
    making: str,
    budget: SearchBudget,
    inputs: Mapping[str, str],
    passed: Sequence[str] = (),
) -> FoundCall:
    """A call of ``method`` on ``made``, which ``make`` makes again for each trial, and which is written ``making``.

    ``inputs`` are expressions for arguments that are known; ``passed`` are parameters that get one although they need none. Raises
    NotFound.
    """
    return CallsOfObject(module, Making(making), type(made), method, inputs, make, passed).search(budget)


def _is_of_class_itself(cls: type, method: str) -> bool:
    """Whether ``method`` needs no object."""
    return isinstance(inspect.getattr_static(cls, method, None), (staticmethod, classmethod))


def is_autograd_function(cls: type) -> bool:
    """Whether ``cls`` is called by its ``apply``, and defines a ``forward`` and a ``backward`` for it."""
    import torch

    return issubclass(cls, torch.autograd.Function)


def _of_autograd_function(
    module: ModuleType, path: str, cls: Any, budget: SearchBudget, inputs: Mapping[str, str]
) -> FoundCall:
    """A call of its ``apply``, inside of a function: torch compiles what calls it, and not what it inherits."""
    import torch

    takes_context = cls.setup_context is torch.autograd.Function.setup_context
    infos = read_parameters(original_function(cls.forward), skip_first=takes_context)
    for info in infos:
        info.positional_only = True
    return _of_function(module, f"(lambda *inputs: {path}.apply(*inputs))", cls.apply, budget, inputs, infos)


def _of_function(
    module: ModuleType,
    path: str,
    function: Any,
    budget: SearchBudget,
    inputs: Mapping[str, str],
    infos: list[ParameterInfo] | None = None,
) -> FoundCall:
    names = vars(module)
    infos = read_parameters(function, skip_first=False) if infos is None else infos
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    infos_by_name = {info.name: info for info in infos}
    first = [info for info in infos if info.required or info.name in inputs]
    named = tuple((info.name, known_argument(info, inputs) or guesser.for_input(info, None)) for info in first)
    start = Candidate(Arguments(named, positional_names(infos)), unknowns)

    def symbolic(arguments: Arguments, size: Any) -> object:
        return evaluated_call(f"__made__({with_symbolic_sizes(arguments)})", names, size, function)

    def real(text: str) -> object:
        return expressions.evaluate(f"__made__({text})", {**names, "__made__": function}).run()

    def offer(name: str, unknowns: Unknowns, _: ParameterInfo | None) -> Argument | None:
        info = infos_by_name.get(name)
        return ArgumentGuesser(module, unknowns).for_input(info, None) if info is not None else None

    guess, read = (
        functools.partial(guess_of, module, infos),
        functools.partial(read_of, infos),
    )
    problem = CallProblem(symbolic, real, offer, guess, read, called=path)
    try:
        likely = list(loss_inputs(start, function, getattr(function, "__name__", "")))
        found = search_likely(problem, likely, budget) or search(problem, [start], budget)
    except NotFound as failed:
        failed.draft = f"{path}({as_text(failed.nearest or start)})"
        failed.call = _call_of_function(path, failed.nearest or start)
        raise
    return _call_of_function(path, found)


def _call_of_function(path: str, found: Candidate) -> FoundCall:
    return FoundCall(f"{path}({as_text(found)})", path, described(found), candidate=found)
