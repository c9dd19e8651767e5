"""Finds a call of one target, a class or a function of the user's module."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ...instrument.unrecorded import uncompiled, unrecorded
from ...torch_internals.attributes import original_function
from ...torch_internals.core import FAKE_TENSOR_MODE
from .. import expressions
from ..module import find
from .argument_guesser import ArgumentGuesser
from .arguments import Argument, Arguments, Expression
from .dimensions import Unknowns
from .factories import factories
from .guesses import INPUTS, by_name
from .layers import expected_by_layers, image_size
from .parameter_info import ParameterInfo, read_class_docstring, read_parameters
from .search import CallProblem, Candidate, NotFound, SearchBudget, search

# larger models are made smaller or are not constructed
MAX_PARAMETERS = 80_000_000
_DEPTH_NAMES = re.compile(r"(?:.*_)?(?:depth|(?:num|n)_(?:encoder_|decoder_|hidden_)?(?:layers?|blocks)|layers)")
MAX_LAYERS = 4
# the share of the remaining time for one way to construct an object
ATTEMPT_SHARE = 0.5
MAX_TRIALS = 24
# … and the least for one that the file writes
FACTORY_S = 6.0
SIZE = "__compile_lens_size__"


@dataclass(frozen=True, slots=True)
class FoundCall:
    """A call that returns. ``expression`` is all of it; ``making`` and ``inputs`` are its two halves, as shown to the user."""

    expression: str
    making: str
    inputs: str


def find_call(
    module: ModuleType,
    qualified_name: str,
    budget: SearchBudget,
    given: dict[str, str] | None = None,
    inputs: dict[str, str] | None = None,
) -> FoundCall:
    """A call of ``qualified_name`` that returns in eager. ``given`` are constructor arguments from a call site, ``inputs``
    expressions for its own arguments where they are known.

    Raises NotFound, and AttributeError when there is no such name.
    """
    subject = find(module, qualified_name)
    owner_name, _, method = qualified_name.rpartition(".")
    owner = find(module, owner_name) if owner_name else None
    with uncompiled():
        if isinstance(subject, type):
            return _of_class(module, qualified_name, subject, "forward", budget, given or {}, inputs or {})
        if isinstance(owner, type):
            return _of_class(module, owner_name, owner, method, budget, given or {}, inputs or {})
        function = original_function(subject)
        return _of_function(module, qualified_name, function, budget, inputs or {})


def _of_class(
    module: ModuleType,
    path: str,
    cls: type,
    method: str,
    budget: SearchBudget,
    given: dict[str, str],
    inputs: dict[str, str],
) -> FoundCall:
    last: NotFound | None = None
    try:
        for making in _constructions(module, path, cls, budget, given):
            part = SearchBudget(min(budget.trials, MAX_TRIALS), budget.left * ATTEMPT_SHARE)
            try:
                return _call_of(module, making, cls, method, part, inputs)
            except NotFound as problem:
                last = problem
            budget.trials -= min(budget.trials, MAX_TRIALS) - part.trials
            if budget.trials <= 0 or budget.left <= 0:
                break
    except NotFound as problem:  # of the constructor
        last = problem
    more = _mentioned_parameters(module, cls, str(last or ""))
    if more and not more.keys() <= given.keys() and budget.left > 0:
        return _of_class(module, path, cls, method, budget, {**given, **more}, inputs)
    found = _by_factory(module, cls, method, budget, inputs)
    if found is not None:
        return found
    raise last or NotFound("no constructor call is known")


def _by_factory(
    module: ModuleType, cls: type, method: str, budget: SearchBudget, inputs: dict[str, str]
) -> FoundCall | None:
    """A call on what a function of the file constructs."""
    for number, name in enumerate(factories(module, cls)):
        if number and not budget.left:
            break
        making = f"{name}()"
        part = SearchBudget(MAX_TRIALS, max(budget.left * ATTEMPT_SHARE, FACTORY_S))
        try:
            with unrecorded():
                _check_size(vars(module), making)
            return _call_of(module, making, cls, method, part, inputs)
        except Exception:  # code of the user's may raise anything, and the failure of the constructor says more
            continue
    return None


def _mentioned_parameters(module: ModuleType, cls: type, message: str) -> dict[str, str]:
    """Optional constructor arguments that an error message names: "either size or scale_factor should be defined"."""
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    for info in read_parameters(_constructor(cls), skip_first=True):
        if not info.required and info.default is None and re.search(rf"\b{info.name}\b", message):
            argument = guesser.for_constructor(cls, info)[0]
            return {info.name: argument.render(lambda name: str(unknowns.by_name[name].value))}
    return {}


def _constructions(
    module: ModuleType, path: str, cls: type, budget: SearchBudget, given: dict[str, str]
) -> Iterator[str]:
    """Texts of constructor calls that return and are small enough, the likeliest first."""
    last: NotFound | None = None
    count = 0
    for candidate in _first_candidates(module, cls, given):
        problem = _construction_problem(module, path, cls, candidate)
        try:
            found = search(
                problem, [candidate], SearchBudget(min(budget.trials, MAX_TRIALS), budget.left * ATTEMPT_SHARE)
            )
        except NotFound as failed:
            last = failed
            continue
        count += 1
        yield f"{path}({_as_text(found)})"
    if not count:
        raise NotFound(f"its constructor failed: {last or 'no arguments are known'}")


def _first_candidates(module: ModuleType, cls: type, given: dict[str, str]) -> Iterator[Candidate]:
    """First arguments for a constructor: the required ones, with one candidate per size of a configuration."""
    infos = read_parameters(_constructor(cls), skip_first=True)
    required = [info for info in infos if info.required]
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    if given:
        known = {info.name for info in infos}
        from_call_site = {n: Expression(v) for n, v in given.items() if n in known}
        rest = {
            info.name: guesser.for_constructor(cls, info)[0] for info in required if info.name not in from_call_site
        }
        yield Candidate(Arguments(tuple({**rest, **from_call_site}.items())), unknowns)
    options = [guesser.for_constructor(cls, info) for info in required]
    if not any(len(option) > 1 for option in options):
        # a model with the defaults of its paper needs only a few of its layers, which are alike
        depths = [info for info in infos if not info.required and _is_deep(info)]
        if depths:
            named = tuple((info.name, option[0]) for info, option in zip(required, options, strict=True))
            yield Candidate(Arguments((*named, *((info.name, Expression("2")) for info in depths))), unknowns)
    for index in range(max((len(option) for option in options), default=1)):
        named = tuple(
            (info.name, option[min(index, len(option) - 1)]) for info, option in zip(required, options, strict=True)
        )
        yield Candidate(Arguments(named), unknowns)


def _constructor(cls: type) -> Any:
    """The constructor, as a function."""
    return getattr(cls, "__init__")  # noqa: B009 - mypy does not like it said otherwise


def _is_deep(info: ParameterInfo) -> bool:
    is_number = isinstance(info.default, int) and not isinstance(info.default, bool)
    return is_number and info.default > MAX_LAYERS and _DEPTH_NAMES.fullmatch(info.name) is not None


class TooLarge(Exception):
    """A model with more parameters than a background run should allocate."""


def _construction_problem(module: ModuleType, path: str, cls: type, candidate: Candidate) -> CallProblem:
    infos = {info.name: info for info in read_parameters(_constructor(cls), skip_first=True)}
    names = vars(module)

    def symbolic(arguments: Arguments, size: Any) -> object:
        # plain numbers: few constructors accept symbolic ones
        values = candidate.unknowns.values
        return _evaluate(f"{path}({_with_symbolic_sizes(arguments)})", names, size, values)

    def real(text: str) -> object:
        _check_size(names, f"{path}({text})")
        return None

    def offer(name: str, unknowns: Unknowns) -> Argument | None:
        info = infos.get(name)
        if info is None and not infos and name.isidentifier():
            info = ParameterInfo(name, True, None, "")  # the constructor accepts any argument and passes it on
        return ArgumentGuesser(module, unknowns).for_constructor(cls, info)[0] if info is not None else None

    return CallProblem(symbolic, real, offer)


def _with_symbolic_sizes(arguments: Arguments) -> str:
    return arguments.render(lambda name: f"{SIZE}({name!r})")


def _evaluate(text: str, names: dict[str, Any], size: Any, values: dict[str, int]) -> Any:
    import torch

    def tensor(dtype: str, shape: tuple[Any, ...], below: int | None = None, equal: int | None = None) -> Any:
        return torch.empty(shape, dtype=getattr(torch, dtype))

    scope = {**names, SIZE: size}
    return expressions.evaluate(f"__run__({text})", {**scope, "__run__": lambda value: value}, tensor).run()


def _check_size(names: dict[str, Any], text: str) -> None:
    """Construct the object on fake tensors and count its parameters. Raises TooLarge, and what its constructor raises."""
    try:
        with FAKE_TENSOR_MODE.need()(allow_non_fake_inputs=True):
            made = expressions.evaluate(f"__run__({text})", {**names, "__run__": lambda value: value}).run()
    except Exception as error:  # code of the user's may raise anything
        if not _is_fake_tensor_error(error):
            raise
        return
    count = sum(p.numel() for p in made.parameters()) if hasattr(made, "parameters") else 0
    if count > MAX_PARAMETERS:
        raise TooLarge(f"it has {count / 1e6:.0f} million parameters")


def _is_fake_tensor_error(error: Exception) -> bool:
    name = type(error).__name__
    return "Fake" in str(error) or name in ("DataDependentOutputException", "DynamicOutputShapeException")


def _call_of(
    module: ModuleType, making: str, cls: type, method: str, budget: SearchBudget, inputs: dict[str, str]
) -> FoundCall:
    """A call of ``method`` on the object that ``making`` constructs."""
    names = vars(module)

    def make() -> Any:
        return expressions.evaluate(f"__run__({making})", {**names, "__run__": lambda value: value}).run()

    try:
        made = make()
    except Exception as error:  # code of the user's may raise anything
        raise NotFound(f"its constructor failed: {type(error).__name__}: {error}") from None
    return find_inputs(module, made, method, make, making, budget, inputs)


def find_inputs(
    module: ModuleType,
    made: Any,
    method: str,
    make: Callable[[], Any],
    making: str,
    budget: SearchBudget,
    inputs: dict[str, str],
    passed: Sequence[str] = (),
) -> FoundCall:
    """A call of ``method`` on ``made``, which ``make`` makes again for each trial, and which is written ``making``.

    ``inputs`` are expressions for arguments that are known; ``passed`` are parameters that get one although they need none. Raises
    NotFound.
    """
    names = vars(module)
    cls = type(made)
    function = getattr(cls, method, None)
    if function is None:
        raise NotFound(f"it has no `{method}()`")
    function = original_function(function)
    infos = read_parameters(function, skip_first=True)
    if method == "forward":
        read_class_docstring(cls, infos)
    suffix = "" if method == "forward" else f".{method}"
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    infos_by_name = {info.name: info for info in infos}

    def argument_for(info: ParameterInfo, guesser: ArgumentGuesser) -> Argument:
        return guesser.for_input(info, expected_by_layers(made, info.layers))

    first = _first_inputs(infos, getattr(made, "main_input_name", None), {**dict.fromkeys(passed, ""), **inputs})
    named = tuple((info.name, _known_argument(info, inputs) or argument_for(info, guesser)) for info in first)
    arguments = Arguments(named, _positional(infos))
    unknowns.assign({name: size for name, size in image_size(made).items() if name in unknowns.by_name})

    def symbolic(arguments: Arguments, size: Any) -> object:
        _clear_gradients(made)
        return _evaluate_call(f"__made__{suffix}({_with_symbolic_sizes(arguments)})", names, size, made)

    def real(text: str) -> object:
        return expressions.evaluate(f"__made__{suffix}({text})", {**names, "__made__": make()}).run()

    def offer(name: str, unknowns: Unknowns) -> Argument | None:
        info = infos_by_name.get(name)
        return argument_for(info, ArgumentGuesser(module, unknowns)) if info is not None else None

    found = search(CallProblem(symbolic, real, offer), [Candidate(arguments, unknowns)], budget)
    return FoundCall(f"{making}{suffix}({_as_text(found)})", f"{making}{suffix}", _described(found))


def _clear_gradients(module: Any) -> None:
    """Clear the gradients that an earlier trial left."""
    if hasattr(module, "zero_grad"):
        module.zero_grad(set_to_none=True)


def _evaluate_call(text: str, names: dict[str, Any], size: Any, target: Any) -> Any:
    import torch

    def tensor(dtype: str, shape: tuple[Any, ...], below: int | None = None, equal: int | None = None) -> Any:
        return torch.empty(shape, dtype=getattr(torch, dtype))

    return expressions.evaluate(text, {**names, SIZE: size, "__made__": target}, tensor).run()


def _of_function(
    module: ModuleType, path: str, function: Any, budget: SearchBudget, inputs: dict[str, str]
) -> FoundCall:
    names = vars(module)
    infos = read_parameters(function, skip_first=False)
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    infos_by_name = {info.name: info for info in infos}
    first = [info for info in infos if info.required or info.name in inputs]
    named = tuple((info.name, _known_argument(info, inputs) or guesser.for_input(info, None)) for info in first)
    arguments = Arguments(named, _positional(infos))

    def symbolic(arguments: Arguments, size: Any) -> object:
        return _evaluate_call(f"__made__({_with_symbolic_sizes(arguments)})", names, size, function)

    def real(text: str) -> object:
        return expressions.evaluate(f"__made__({text})", {**names, "__made__": function}).run()

    def offer(name: str, unknowns: Unknowns) -> Argument | None:
        info = infos_by_name.get(name)
        return ArgumentGuesser(module, unknowns).for_input(info, None) if info is not None else None

    found = search(CallProblem(symbolic, real, offer), [Candidate(arguments, unknowns)], budget)
    return FoundCall(f"{path}({_as_text(found)})", path, _described(found))


def _known_argument(info: ParameterInfo, inputs: dict[str, str]) -> Argument | None:
    return Expression(inputs[info.name]) if info.name in inputs else None


def _first_inputs(infos: list[ParameterInfo], main_input: str | None, inputs: dict[str, str]) -> list[ParameterInfo]:
    """The first parameters to pass: required or known ones, or the main input of a model whose parameters are all optional."""
    required = [info for info in infos if info.required or info.name in inputs]
    if required:
        return required
    named = [info for info in infos if info.name == main_input]
    known = [info for info in infos if by_name(INPUTS, info.name) is not None]
    return named or known[:1]


def _positional(infos: list[ParameterInfo]) -> frozenset[str]:
    return frozenset(info.name for info in infos if not info.keyword_only)


def _as_text(candidate: Candidate) -> str:
    values = candidate.unknowns.values
    names = [name for name, _ in candidate.arguments.named]
    # a name may be omitted while none before it was needed
    return candidate.arguments.render(lambda name: str(values[name]), with_names=bool(names))


def _described(candidate: Candidate) -> str:
    """``x: float32[2, 16, 64], n: 3``."""
    values = candidate.unknowns.values
    return ", ".join(f"{n}: {a.render(lambda name: str(values[name]))}" for n, a in candidate.arguments.named)
