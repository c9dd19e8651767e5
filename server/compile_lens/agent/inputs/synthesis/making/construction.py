"""Finds constructor calls of a class that return, and that make something small enough to be called here."""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ....instrument.unrecorded import unrecorded
from ...calling import expressions
from ...calling.time_limit import SlowTrial, TrialTooLong
from ..changes.annotated_elsewhere import with_annotated_values
from ..changes.any_arguments import with_all_unpacked
from ..changes.checked_types import with_checked_types
from ..changes.demanded_values import with_demanded_values
from ..changes.lacking_settings import with_lacking_setting, with_open_settings
from ..changes.lazily_built import with_targets
from ..changes.names_of_models import with_name_of_model
from ..changes.number_ranges import with_number_in_bounds
from ..changes.other_lengths import with_other_length
from ..changes.other_values import ANY_MODULE, is_exclusive, is_none_called, with_callable
from ..changes.refused_members import with_member
from ..changes.refused_numbers import with_accepted_number
from ..changes.settings_of_parts import with_settings_of_parts
from ..changes.spaces import with_object_of_shape
from ..changes.stand_ins import with_models_of_any_call, with_stand_ins
from ..changes.structures import with_structure
from ..changes.unpacked_settings import with_unpacked_settings
from ..errors.failing_lines import names_in_failing_lines
from ..errors.messages import requirements
from ..guessing.argument_guesser import ArgumentGuesser
from ..guessing.first_arguments import first_candidates
from ..project.classes_by_use import with_classes_by_use
from ..project.configuration_probe import with_read_structure
from ..project.documented_values import documented_values
from ..project.factories import factories, factory_parameters
from ..project.own_classes import with_own_class
from ..source.accepted_values import texts_of_attributes
from ..source.constructor_parameters import constructor, constructor_parameters
from ..source.delegation import accepts_names, may_be_a_parameter
from ..source.guesses import MAKERS, by_name
from ..terms.arguments import Argument, Arguments, Expression
from ..terms.call_problem import CallProblem
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns
from ..terms.parameter_info import ParameterInfo, positional_names
from ..trying.search import NotFound, SearchBudget, search
from .less_work import with_less_work
from .numbers_of_sizes import with_equal_sizes, with_kernels_of_one, with_larger_sizes
from .size_of_model import MAX_PARAMETERS, TooLarge, check_size, needs_memory, place, without_memory
from .without_weights import without_weights

# the share of the remaining time for one way to construct an object
ATTEMPT_SHARE = 0.5
MAX_TRIALS = 24
# sizes that are tried for one error
MOST_SIZES = 4
# and that are tried larger
MOST_LARGER = 12
# for the arguments of a part alone
PART_TRIALS, PART_S = 16, 4.0
# these, by the module that is searched and the class; None while they are looked for: a part may have one of its own class
_found_alone: dict[tuple[str, type], Candidate | None] = {}
SIZE = "__compile_lens_size__"
# what a vocabulary has an index of: `vocab["<pad>"]`, `words["[UNK]"]`
_TOKEN = re.compile(r"<[\w/|]+>|\[[A-Z]+\]")
CONSTRUCTOR_FAILED = "its constructor failed"


@dataclass(frozen=True, slots=True)
class Making:
    """A constructor call that returns. ``is_meta``: of something so large that it is constructed on the meta device; ``is_large``: that
    would be, if it could, so that it is constructed once for all trials.

    ``candidate`` has its arguments, where they were searched.
    """

    text: str
    is_meta: bool = False
    candidate: Candidate | None = None
    is_large: bool = False

    def place(self) -> AbstractContextManager[Any]:
        """The context to construct it in, and the inputs for it."""
        return place(self.is_meta)


def constructions(
    module: ModuleType,
    path: str,
    cls: type,
    budget: SearchBudget,
    given: Mapping[str, str],
    begins_with: Iterable[Candidate] | None = None,
) -> Iterator[Making]:
    """Constructor calls that return, the likeliest first, and small ones before those on the meta device; where the search
    ``begins_with`` candidates, with no others."""
    last: NotFound | None = None
    draft, nearest = "", None
    large: list[str] = []
    count = 0
    # what a function of the file passes is no guess
    is_made_here = any(True for _ in factories(module, cls))
    for first in first_candidates(module, cls, given) if begins_with is None else begins_with:
        problem = _Construction(module, path, cls, fixed=frozenset(given), budget=budget)
        for candidate in (first,) if is_made_here else problem.with_read_structure(first):
            part = SearchBudget(min(budget.trials, MAX_TRIALS), budget.left * ATTEMPT_SHARE)
            try:
                found = search(problem.as_call(), [candidate], part)
            except NotFound as failed:
                last = failed
                nearest = nearest or failed.nearest  # what is tried first is the smallest
                draft = f"{path}({as_text(failed.nearest or candidate)})"
                large += problem.large[:1]
                continue
            count += 1
            yield Making(f"{path}({as_text(found)})", candidate=found)
    for text in large[-1:]:
        count += 1
        is_large = needs_memory(vars(module), text)
        yield Making(text, is_meta=not is_large, is_large=is_large)
    if not count:
        shown, began = (last.error, last.first) if last is not None else (None, None)
        reason = f"{CONSTRUCTOR_FAILED}: {last or 'no arguments are known'}"
        raise NotFound(reason, draft, first=began, nearest=nearest, shown=shown)


def first_construction(module: ModuleType, path: str, cls: type, given: Mapping[str, str]) -> str:
    """The constructor call that is tried first, as text."""
    return f"{path}({as_text(next(first_candidates(module, cls, given)))})"


def with_other_parts(
    module: ModuleType, path: str, cls: type, making: Making, error: BaseException
) -> Iterator[Making]:
    """Constructor calls that return and pass something that can be called where ``error`` shows that a number was called."""
    if making.candidate is None:
        return
    problem = _Construction(module, path, cls)
    parts = (*problem.with_parts(making.candidate, error), *problem.with_open_parts(making.candidate, error))
    yield from _that_return(problem, path, parts)


def with_asked_parts(
    module: ModuleType, path: str, cls: type, making: Making, error: BaseException | None
) -> Iterator[Making]:
    """Constructor calls that return and pass an object of a class that the function which raised ``error`` takes."""
    if making.candidate is not None and error is not None:
        problem = _Construction(module, path, cls)
        yield from _that_return(problem, path, problem.with_asked_class(making.candidate, error))


def with_other_sizes(
    module: ModuleType, path: str, cls: type, making: Making, errors: Iterable[BaseException]
) -> Iterator[Making]:
    """Constructor calls that return and pass what ``errors`` require of sizes: one for two that are compared (`Block(in=64, out=64)`), as
    many numbers as a layer takes, those in a range, smaller ones where the call took too long."""
    candidate = making.candidate
    if candidate is None:
        return
    problem = _Construction(module, path, cls)
    for error in errors:
        found = itertools.chain(
            problem.with_less_work(candidate, error),
            itertools.islice(with_equal_sizes(candidate, error), MOST_SIZES),
            itertools.islice(with_kernels_of_one(candidate, error), MOST_SIZES),
            itertools.islice(with_larger_sizes(candidate, error), MOST_LARGER),
            itertools.islice(with_other_length(candidate, error), MOST_SIZES),
            itertools.islice(with_number_in_bounds(candidate, error), MOST_SIZES),
        )
        yield from _that_return(problem, path, found)


def made_of(module: ModuleType, path: str, cls: type, candidates: Iterable[Candidate]) -> Iterator[Making]:
    """Constructor calls with ``candidates``, those that return."""
    yield from _that_return(_Construction(module, path, cls), path, candidates)


def with_models(module: ModuleType, path: str, cls: type, making: Making) -> Iterator[Making]:
    """Constructor calls that return and pass a model where ``making`` passes a module that changes nothing."""
    if making.candidate is not None:
        yield from _that_return(_Construction(module, path, cls), path, with_stand_ins(making.candidate))


def _that_return(problem: _Construction, path: str, candidates: Iterable[Candidate]) -> Iterator[Making]:
    for candidate in candidates:
        try:
            with unrecorded():
                problem.as_call().real(candidate.text)
        except TrialTooLong:  # of the search
            raise
        except (Exception, SystemExit):  # code of the user's may raise anything
            continue
        yield Making(f"{path}({as_text(candidate)})", candidate=candidate)


def by_function(module: ModuleType, path: str, cls: type, function: Any, budget: SearchBudget) -> Making:
    """A call of what is written ``path``, a function or a class method that constructs ``cls``, with arguments with which it returns.

    ``function`` is what it is without its class. Raises NotFound.
    """
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    problem = _Construction(module, path, cls, function, budget=budget)
    infos = list(problem.infos.values())
    named = tuple((info.name, guesser.for_constructor(cls, info)[0]) for info in infos if info.required)
    found = search(problem.as_call(), [Candidate(Arguments(named, positional_names(infos)), unknowns)], budget)
    return Making(f"{path}({as_text(found)})")


def fitting(names: dict[str, Any], text: str, most: int = MAX_PARAMETERS) -> Making:
    """The constructor call ``text``, on the meta device if it makes something too large. Raises what it raises."""
    try:
        check_size(names, text, most)
    except TooLarge:
        return Making(text, is_meta=True)
    return Making(text)


def _alone(module: ModuleType, seconds: float, cls: type) -> Candidate | None:
    """Arguments with which ``cls`` can be constructed alone, if they are found within ``seconds``."""
    key = module.__name__, cls
    if key not in _found_alone:
        _found_alone[key] = None
        path = ArgumentGuesser(module, Unknowns()).path_of(cls)
        with contextlib.suppress(NotFound, RecursionError):
            _found_alone[key] = next(constructions(module, path, cls, SearchBudget(PART_TRIALS, seconds), {})).candidate
    return _found_alone[key]


class _Construction:
    """One call to find arguments for; ``large`` are the texts of those that return and make something too large."""

    def __init__(
        self,
        module: ModuleType,
        path: str,
        cls: type,
        function: Any = None,
        fixed: frozenset[str] = frozenset(),
        budget: SearchBudget | None = None,
    ) -> None:
        self._module = module
        self._names = vars(module)
        self._path = path
        self._cls = cls
        self._function = function or constructor(cls)
        infos = constructor_parameters(cls) if function is None else factory_parameters(path, function)
        self.infos = {info.name: info for info in infos}
        self._fixed = fixed
        self._budget = budget
        self.large: list[str] = []

    def as_call(self) -> CallProblem:
        return CallProblem(
            self._symbolic,
            self._real,
            self._offer,
            self._guess,
            self._read,
            make=self._make,
            others=self._others,
            called=self._path,
        )

    def _symbolic(self, arguments: Arguments, size: Any) -> object:
        # plain numbers: few constructors accept symbolic ones
        text = f"{self._path}({with_symbolic_sizes(arguments)})"
        return _evaluated(text, self._names, size)

    def _real(self, text: str) -> object:
        try:
            check_size(self._names, f"{self._path}({text})")
        except TooLarge:
            self.large.append(f"{self._path}({text})")
            raise
        return None

    def _guess(self, name: str, unknowns: Unknowns) -> Argument:
        if _TOKEN.fullmatch(name):
            return Expression("0")
        known = documented_values(self._cls, self._module).get(name)
        if known is not None:
            return Expression(known)
        texts = texts_of_attributes(self._module).get(name)
        if texts:
            return Expression(repr(texts[0]))
        return ArgumentGuesser(self._module, unknowns).for_constructor(self._cls, ParameterInfo(name, True, None, ""))[
            0
        ]

    def with_read_structure(self, candidate: Candidate) -> Iterator[Candidate]:
        """``candidate`` with configurations and objects that have what the constructor reads of them."""
        made_up = with_read_structure(self._names, self._path, candidate, list(self.infos.values()), self._guess)
        first = next(made_up)
        for is_named_so in (True, False):
            yield from with_classes_by_use(candidate, first, self._module, self._make, self._cls, is_named_so)
            yield from (first, *made_up) if is_named_so else ()

    def _make(self, cls: type, unknowns: Unknowns) -> Argument:
        return ArgumentGuesser(self._module, unknowns).constructed(cls, without=self._cls)

    def _others(self, candidate: Candidate, error: Exception) -> Iterator[Candidate]:
        if isinstance(error, SlowTrial):
            yield from self.with_less_work(candidate, error)
            return
        yield from with_member(candidate, error, ArgumentGuesser(self._module, Unknowns()).path_of)
        yield from without_weights(candidate, error, list(self.infos.values()))
        yield from with_name_of_model(candidate, error, self._module)
        yield from with_all_unpacked(candidate, error, self._function, self._guess)
        yield from with_object_of_shape(candidate, error, self._guess)
        yield from with_targets(candidate, error)
        yield from self._without_one(candidate, error)
        yield from with_checked_types(candidate, error, self._hint_of, self._of_hint)
        yield from with_annotated_values(candidate, error, self._of_hint)
        of_part_s = PART_S if self._budget is None else min(PART_S, self._budget.left)
        yield from with_settings_of_parts(candidate, error, functools.partial(_alone, self._module, of_part_s))
        yield from with_unpacked_settings(candidate, error, self.infos.__contains__, self._guess)
        yield from with_open_settings(candidate, error, self._names, self._guess)
        yield from with_lacking_setting(candidate, error, self._takes_any_class, self._guess)
        yield from with_own_class(candidate, error, self._module, self._make, self._cls)

    def with_less_work(self, candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
        """Candidates with smaller numbers than those with which ``error`` ended the constructor, or a call of what it makes."""
        if isinstance(error, SlowTrial):
            yield from with_less_work(candidate, self.infos.values(), error, self._fixed)

    def with_parts(self, candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
        """Candidates that pass something that can be called, or that has what was read of it."""
        if isinstance(error, Exception):
            yield from with_own_class(candidate, error, self._module, self._make, self._cls)
        yield from self._without_one(candidate, error)
        yield from with_accepted_number(candidate, error)
        yield from with_number_in_bounds(candidate, error)
        for requirement in requirements(error):
            if requirement.kind == "callable":
                yield from with_callable(candidate, requirement, error)
                yield from with_models_of_any_call(candidate) if requirement.value else ()
            elif requirement.kind in ("attribute", "key", "several"):
                yield from with_structure(candidate, requirement, error, self._guess, self._read)
        yield from self.with_asked_class(candidate, error)

    def _without_one(self, candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
        """Candidates with None for one of the arguments that may be None, where several exclude each other."""
        given = [name for name, argument in candidate.arguments.named if argument != Expression("None")]
        for info in map(self.infos.get, given) if is_exclusive(error) else ():
            may_be_none = info is not None and (
                re.search(r"\b(?:Optional|None)\b", info.annotation) or not info.required
            )
            if info is not None and may_be_none:
                yield Candidate(
                    candidate.arguments.with_argument(info.name, Expression("None")), copy.deepcopy(candidate.unknowns)
                )

    def with_asked_class(self, candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
        """Candidates with an object of a class that the failing function asks for."""
        yield from with_demanded_values(candidate, error, self._make, self._guess, self._read, self._offer)

    def with_open_parts(self, candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
        """Candidates that pass what is None by default and was used: the failing line names it. What is called is a module."""
        for name in names_in_failing_lines(error)[:24]:
            info = self.infos.get(name)
            if info is None or info.required or info.default is not None or candidate.arguments.get(name) is not None:
                continue
            unknowns = copy.deepcopy(candidate.unknowns)
            made: Argument = Expression(by_name(MAKERS, name) or ANY_MODULE)
            if not is_none_called(error):
                made = ArgumentGuesser(self._module, unknowns).for_constructor(self._cls, info)[0]
            yield Candidate(candidate.arguments.with_argument(name, made), unknowns)

    def _of_hint(self, name: str, hint: Any, unknowns: Unknowns) -> Argument:
        info = ParameterInfo(name, True, None, "", hint=hint)
        return ArgumentGuesser(self._module, unknowns).for_constructor(self._cls, info)[0]

    def _hint_of(self, name: str) -> Any:
        return self.infos[name].hint if name in self.infos else None

    def _takes_any_class(self, name: str) -> bool:
        return name in self.infos and self.infos[name].hint is None

    def _read(self, name: str) -> tuple[str, ...]:
        return self.infos[name].fields if name in self.infos else ()

    def _offer(self, name: str, unknowns: Unknowns, passed_on: ParameterInfo | None) -> Argument | None:
        info = self.infos.get(name)
        if info is None and accepts_names(self._function) and may_be_a_parameter(name):
            # the constructor accepts any argument and passes it on
            info = passed_on or ParameterInfo(name, True, None, "")
        return ArgumentGuesser(self._module, unknowns).for_constructor(self._cls, info)[0] if info is not None else None


def with_symbolic_sizes(arguments: Arguments) -> str:
    """The text of ``arguments`` with a call of ``SIZE`` for each unknown."""
    return arguments.render(lambda name: f"{SIZE}({name!r})")


def _evaluated(text: str, names: dict[str, Any], size: Any) -> Any:
    scope = {**names, SIZE: size, "__run__": lambda value: value}
    return expressions.evaluate(f"__run__({text})", scope, without_memory).run()


def as_text(candidate: Candidate) -> str:
    """The arguments as the entry has them."""
    return candidate.text
