"""Finds constructor calls of a class that return, and that make something small enough to be called here."""

from __future__ import annotations

import copy
import inspect
import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ...instrument.unrecorded import unrecorded
from ...runtime.foreign_code import attempted
from ...torch_internals.core import FAKE_TENSOR_MODE
from .. import expressions
from ..parameter_count import parameter_count
from ..time_limit import SlowTrial
from .argument_guesser import ArgumentGuesser, is_needed
from .arguments import Argument, Arguments, Expression, UnknownInteger
from .call_problem import CallProblem
from .candidate import Candidate
from .configuration_probe import with_read_structure
from .constructor_parameters import constructor, constructor_parameters
from .delegation import accepts_names, may_be_a_parameter
from .dimensions import Unknowns
from .documented_values import documented_values
from .factories import factories
from .failing_lines import failing_place, names_in_failing_lines
from .guesses import MAKERS, by_name
from .messages import is_of_nothing, requirements
from .number_ranges import with_number_in_bounds
from .other_lengths import with_other_length
from .other_shapes import with_values
from .other_values import ANY_MODULE, is_none_called, with_callable, with_required_class
from .own_classes import with_own_class
from .parameter_info import ParameterInfo
from .refused_numbers import with_accepted_number
from .search import NotFound, SearchBudget, search
from .signatures import read_parameters
from .smaller_defaults import smaller_defaults, with_less_work
from .stand_ins import with_stand_ins
from .structures import with_structure
from .without_weights import without_weights

# larger models are made smaller or have no memory: they are constructed on the meta device
MAX_PARAMETERS = 80_000_000
# those that cannot be constructed there
MOST_IN_MEMORY = 250_000_000
# the share of the remaining time for one way to construct an object
ATTEMPT_SHARE = 0.5
MAX_TRIALS = 24
# sizes that are tried for one error
MOST_SIZES = 4
# and that are tried larger, by how much
MOST_LARGER, TIMES_LARGER = 12, (8, 64)
SIZE = "__compile_lens_size__"
# parameters that say nothing of what they take
_OF_ANYTHING = re.compile(r"_*(?:a|args|arguments|params|inputs)")
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


def place(is_meta: bool) -> AbstractContextManager[Any]:
    """A context in which tensors have no memory if ``is_meta``."""
    import torch

    return torch.device("meta") if is_meta else nullcontext()


# what a constructor that fails on fake tensors may raise, also after it has handled torch's own error
OF_FAKE_TENSORS = (RuntimeError, UnboundLocalError, ValueError)


# the folder of their code
_FAKE_TENSORS = os.path.join("torch", "_subclasses")


class TooLarge(Exception):
    """A model with more parameters than a background run should allocate."""


def constructions(
    module: ModuleType, path: str, cls: type, budget: SearchBudget, given: Mapping[str, str]
) -> Iterator[Making]:
    """Constructor calls that return, the likeliest first, and small ones before those on the meta device."""
    last: NotFound | None = None
    draft = ""
    large: list[str] = []
    count = 0
    # what a function of the file passes is no guess
    is_made_here = any(True for _ in factories(module, cls))
    for first in _first_candidates(module, cls, given):
        problem = _Construction(module, path, cls)
        for candidate in (first,) if is_made_here else problem.with_read_structure(first):
            part = SearchBudget(min(budget.trials, MAX_TRIALS), budget.left * ATTEMPT_SHARE)
            try:
                found = search(problem.as_call(), [candidate], part)
            except NotFound as failed:
                last = failed
                draft = f"{path}({as_text(failed.nearest or candidate)})"
                large += problem.large[:1]
                continue
            count += 1
            yield Making(f"{path}({as_text(found)})", candidate=found)
    for text in large[-1:]:
        count += 1
        needs_memory = _needs_memory(vars(module), text)
        yield Making(text, is_meta=not needs_memory, is_large=needs_memory)
    if not count:
        shown = last.error if last is not None else None
        raise NotFound(f"{CONSTRUCTOR_FAILED}: {last or 'no arguments are known'}", draft, shown=shown)


def first_construction(module: ModuleType, path: str, cls: type, given: Mapping[str, str]) -> str:
    """The constructor call that is tried first, as text."""
    return f"{path}({as_text(next(_first_candidates(module, cls, given)))})"


def _needs_memory(names: dict[str, Any], text: str) -> bool:
    """Whether the constructor call ``text`` reads numbers of the tensors that it makes, so that it fails on the meta device, and makes
    what still has room here."""
    try:
        with unrecorded(), place(True):
            made_by(text, names)
    except Exception as error:  # code of the user's may raise anything
        is_of_meta = "meta" in str(error) or isinstance(error, NotImplementedError)
        return is_of_meta and _has_room(names, text)
    return False


def _has_room(names: dict[str, Any], text: str) -> bool:
    try:
        _check_size(names, text, MOST_IN_MEMORY)
    except Exception:  # code of the user's may raise anything
        return False
    return True


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
    many numbers as a layer takes, those in a range."""
    candidate = making.candidate
    if candidate is None:
        return
    for error in errors:
        found = itertools.chain(
            itertools.islice(_with_equal_sizes(candidate, error), MOST_SIZES),
            itertools.islice(_with_larger_sizes(candidate, error), MOST_LARGER),
            itertools.islice(with_other_length(candidate, error), MOST_SIZES),
            itertools.islice(with_number_in_bounds(candidate, error), MOST_SIZES),
        )
        yield from _that_return(_Construction(module, path, cls), path, found)


def _with_equal_sizes(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    pairs = dict.fromkeys(wanted.value for wanted in requirements(error) if wanted.kind == "size")
    for one, other in (map(int, pair.split()) for pair in pairs):
        for got, want in ((one, other), (other, one)):
            values = candidate.unknowns.values
            for name in (name for name, value in values.items() if value == got and want > 1):
                yield with_values(candidate, {**values, name: want}, candidate.negated)


def _with_larger_sizes(candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
    """Candidates with one size larger, where the object computed none of it: `window // 300` is 0."""
    values = candidate.unknowns.values
    for times, name in itertools.product(TIMES_LARGER, values) if is_of_nothing(error) else ():
        yield with_values(candidate, {**values, name: values[name] * times}, candidate.negated)


def with_models(module: ModuleType, path: str, cls: type, making: Making) -> Iterator[Making]:
    """Constructor calls that return and pass a model where ``making`` passes a module that changes nothing."""
    if making.candidate is not None:
        yield from _that_return(_Construction(module, path, cls), path, with_stand_ins(making.candidate))


def _that_return(problem: _Construction, path: str, candidates: Iterable[Candidate]) -> Iterator[Making]:
    for candidate in candidates:
        try:
            with unrecorded():
                problem.as_call().real(candidate.text)
        except Exception:  # code of the user's may raise anything
            continue
        yield Making(f"{path}({as_text(candidate)})", candidate=candidate)


def by_class_method(module: ModuleType, path: str, cls: type, name: str, budget: SearchBudget) -> Making:
    """A call of the class method ``name`` that returns. Raises NotFound."""
    function = getattr(cls, name).__func__
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    infos = read_parameters(function, skip_first=True)
    named = tuple((info.name, guesser.for_constructor(cls, info)[0]) for info in infos if info.required)
    problem = _Construction(module, f"{path}.{name}", cls, function)
    found = search(problem.as_call(), [Candidate(Arguments(named), unknowns)], budget)
    return Making(f"{path}.{name}({as_text(found)})")


def fitting(names: dict[str, Any], text: str, most: int = MAX_PARAMETERS) -> Making:
    """The constructor call ``text``, on the meta device if it makes something too large. Raises what it raises."""
    try:
        _check_size(names, text, most)
    except TooLarge:
        return Making(text, is_meta=True)
    return Making(text)


def mentioned_parameters(module: ModuleType, cls: type, message: str) -> dict[str, str]:
    """Optional constructor arguments that an error message names: "either size or scale_factor should be defined"."""
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    for info in constructor_parameters(cls):
        if not info.required and info.default is None and re.search(rf"\b{info.name}\b", message):
            argument = guesser.for_constructor(cls, info)[0]
            return {info.name: argument.render(lambda name: str(unknowns.by_name[name].value))}
    return {}


def _first_candidates(module: ModuleType, cls: type, given: Mapping[str, str]) -> Iterator[Candidate]:
    """First arguments for a constructor: the required ones, with one candidate per size of a configuration or of the defaults."""
    infos = constructor_parameters(cls)
    required = [info for info in infos if info.required or is_needed(info)]
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    if given:
        known = {info.name: info for info in infos}
        takes_any = accepts_names(constructor(cls))
        from_call_site = {n: Expression(v) for n, v in given.items() if n in known or takes_any}
        rest = {
            info.name: guesser.for_constructor(cls, info)[0] for info in required if info.name not in from_call_site
        }
        written = {**rest, **from_call_site}
        # as the call site has it, with fewer of what comes many times; then exactly so
        for smaller in smaller_defaults([info for info in infos if not info.required], given):
            yield Candidate(Arguments(tuple({**written, **dict(smaller)}.items())), unknowns)
    options = [guesser.for_constructor(cls, info) for info in required]
    optional = [info for info in infos if not info.required and info.name not in given]
    if not any(len(option) > 1 for option in options):
        named = tuple((info.name, option[0]) for info, option in zip(required, options, strict=True))
        for smaller in smaller_defaults(optional, {}):
            yield Candidate(Arguments((*named, *smaller)), unknowns)
        yield from _with_any_number(cls, named, unknowns, guesser)
        return
    for index in range(max((len(option) for option in options), default=1)):
        named = tuple(
            (info.name, option[min(index, len(option) - 1)]) for info, option in zip(required, options, strict=True)
        )
        yield Candidate(Arguments(named), unknowns)


def _with_any_number(
    cls: type, named: tuple[tuple[str, Argument], ...], unknowns: Unknowns, guesser: ArgumentGuesser
) -> Iterator[Candidate]:
    """One more argument, where a constructor takes any number of them: `Reshape(*sizes)`, `Chain(*layers)`, `Track(*effects)`.

    One that takes any names as well, and whose parameter has no name of its own, passes them on.
    """
    parameters = attempted(lambda: inspect.signature(constructor(cls)).parameters.values()) or ()
    for parameter in parameters:
        if parameter.kind is not parameter.VAR_POSITIONAL:
            continue
        if accepts_names(constructor(cls)) and _OF_ANYTHING.fullmatch(parameter.name):
            return
        name = parameter.name.rstrip("s")
        made, alike = by_name(MAKERS, name), guesser.class_called(name)
        item: Argument = (
            UnknownInteger(unknowns.get(f"{parameter.name}=", 64).name) if made is None else Expression(made)
        )
        if made is None and alike is not None and alike is not cls:
            item = guesser.constructed(alike, without=cls)
        all_named = (*named, (parameter.name, item))
        yield Candidate(Arguments(all_named, frozenset(name for name, _ in all_named)), unknowns)


class _Construction:
    """One call to find arguments for; ``large`` are the texts of those that return and make something too large."""

    def __init__(self, module: ModuleType, path: str, cls: type, function: Any = None) -> None:
        self._module = module
        self._names = vars(module)
        self._path = path
        self._cls = cls
        self._function = function or constructor(cls)
        infos = constructor_parameters(cls) if function is None else read_parameters(function, skip_first=True)
        self._infos = {info.name: info for info in infos}
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
            _check_size(self._names, f"{self._path}({text})")
        except TooLarge:
            self.large.append(f"{self._path}({text})")
            raise
        return None

    def _guess(self, name: str, unknowns: Unknowns) -> Argument:
        known = documented_values(self._cls, self._module).get(name)
        if known is not None:
            return Expression(known)
        return ArgumentGuesser(self._module, unknowns).for_constructor(self._cls, ParameterInfo(name, True, None, ""))[
            0
        ]

    def with_read_structure(self, candidate: Candidate) -> Iterator[Candidate]:
        """``candidate`` with configurations that have what the constructor reads of them."""
        return with_read_structure(self._names, self._path, candidate, list(self._infos.values()), self._guess)

    def _make(self, cls: type, unknowns: Unknowns) -> Argument:
        return ArgumentGuesser(self._module, unknowns).constructed(cls, without=self._cls)

    def _others(self, candidate: Candidate, error: Exception) -> Iterator[Candidate]:
        if isinstance(error, SlowTrial):
            yield from with_less_work(candidate, self._infos.values())
            return
        yield from without_weights(candidate, error, list(self._infos.values()))
        yield from with_own_class(candidate, error, self._module, self._make, self._cls)

    def with_parts(self, candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
        """Candidates that pass something that can be called, or that has what was read of it."""
        if isinstance(error, Exception):
            yield from with_own_class(candidate, error, self._module, self._make, self._cls)
        yield from with_accepted_number(candidate, error)
        yield from with_number_in_bounds(candidate, error)
        for requirement in requirements(error):
            if requirement.kind == "callable":
                yield from with_callable(candidate, requirement, error)
            elif requirement.kind in ("attribute", "key", "several"):
                yield from with_structure(candidate, requirement, error, self._guess, self._read)

    def with_asked_class(self, candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
        """Candidates with an object of a class that the failing function asks for."""
        yield from with_required_class(candidate, error, self._make)

    def with_open_parts(self, candidate: Candidate, error: BaseException) -> Iterator[Candidate]:
        """Candidates that pass what is None by default and was used: the failing line names it. What is called is a module."""
        for name in names_in_failing_lines(error)[:24]:
            info = self._infos.get(name)
            if info is None or info.required or info.default is not None or candidate.arguments.get(name) is not None:
                continue
            unknowns = copy.deepcopy(candidate.unknowns)
            made: Argument = Expression(by_name(MAKERS, name) or ANY_MODULE)
            if not is_none_called(error):
                made = ArgumentGuesser(self._module, unknowns).for_constructor(self._cls, info)[0]
            yield Candidate(candidate.arguments.with_argument(name, made), unknowns)

    def _read(self, name: str) -> tuple[str, ...]:
        return self._infos[name].fields if name in self._infos else ()

    def _offer(self, name: str, unknowns: Unknowns, passed_on: ParameterInfo | None) -> Argument | None:
        info = self._infos.get(name)
        if info is None and accepts_names(self._function) and may_be_a_parameter(name):
            # the constructor accepts any argument and passes it on
            info = passed_on or ParameterInfo(name, True, None, "")
        return ArgumentGuesser(self._module, unknowns).for_constructor(self._cls, info)[0] if info is not None else None


def with_symbolic_sizes(arguments: Arguments) -> str:
    """The text of ``arguments`` with a call of ``SIZE`` for each unknown."""
    return arguments.render(lambda name: f"{SIZE}({name!r})")


def without_memory(dtype: str, shape: tuple[Any, ...], below: int | None = None, equal: int | None = None) -> Any:
    """The tensor for ``float32[2, 16]`` in a trial on fake tensors."""
    import torch

    return torch.empty(shape, dtype=getattr(torch, dtype))


def made_by(text: str, names: dict[str, Any]) -> Any:
    """The value of an expression of the entry's form. Raises what the program raises."""
    return expressions.evaluate(f"__run__({text})", {**names, "__run__": lambda value: value}).run()


def _evaluated(text: str, names: dict[str, Any], size: Any) -> Any:
    scope = {**names, SIZE: size, "__run__": lambda value: value}
    return expressions.evaluate(f"__run__({text})", scope, without_memory).run()


def _check_size(names: dict[str, Any], text: str, most: int = MAX_PARAMETERS) -> None:
    """Construct the object on fake tensors and count its parameters. Raises TooLarge, and what its constructor raises.

    One that fake tensors cannot construct is constructed as it is: what that raises shows which arguments are wrong.
    """
    try:
        with FAKE_TENSOR_MODE.need()(allow_non_fake_inputs=True):
            made = made_by(text, names)
    except Exception as error:  # code of the user's may raise anything
        if not isinstance(error, OF_FAKE_TENSORS) and not _is_fake_tensor_error(error):
            raise
        made = made_by(text, names)
    count = parameter_count(made) if hasattr(made, "parameters") else 0
    if count > most:
        raise TooLarge(f"it has {count / 1e6:.0f} million parameters")


def _is_fake_tensor_error(error: BaseException | None) -> bool:
    """Whether ``error`` is one of fake tensors, or was raised while one of theirs was handled: `torch.jit.trace` compares results."""
    while error is not None:
        name = type(error).__name__
        if "Fake" in str(error) or name in ("DataDependentOutputException", "DynamicOutputShapeException"):
            return True
        if _FAKE_TENSORS in failing_place(error)[0]:
            return True
        error = error.__context__
    return False


def as_text(candidate: Candidate) -> str:
    """The arguments as the entry has them."""
    return candidate.text
