"""One target, a class or a function of the user's module, and the call that was found for it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .. import expressions
from ..module import find
from .arguments import Argument, Arguments, Plain
from .dimensions import Unknowns
from .filling import Filler
from .guesses import INPUTS, by_name
from .layers import layer_expectation
from .reading import Read, read_class_docstring, read_parameters
from .search import Budget, NotFound, Problem, State, search

# parameters of a real model; a larger one is made smaller, or is not made
MOST_PARAMETERS = 80_000_000
_DEPTH_NAMES = re.compile(r"(?:.*_)?(?:depth|(?:num|n)_(?:encoder_|decoder_|hidden_)?(?:layers?|blocks)|layers)")
DEEP = 4
# the share of what is left that goes into one way to make an object
SHARE = 0.5
MOST_TRIALS = 24
SIZE = "__compile_lens_size__"


@dataclass(frozen=True, slots=True)
class Found:
    """A call that comes back. ``expression`` is all of it; ``making`` and ``inputs`` are its two halves, as shown."""

    expression: str
    making: str
    inputs: str


def find_call(
    module: ModuleType,
    qualified_name: str,
    budget: Budget,
    given: dict[str, str] | None = None,
    inputs: dict[str, str] | None = None,
) -> Found:
    """A call of ``qualified_name`` that comes back in eager. ``given`` are constructor arguments that a call site shows, ``inputs``
    expressions for its own arguments that are known.

    Raises NotFound, and AttributeError when there is no such name.
    """
    subject = find(module, qualified_name)
    owner_name, _, method = qualified_name.rpartition(".")
    owner = find(module, owner_name) if owner_name else None
    with eager():
        if isinstance(subject, type):
            return _of_class(module, qualified_name, subject, "forward", budget, given or {}, inputs or {})
        if isinstance(owner, type):
            return _of_class(module, owner_name, owner, method, budget, given or {}, inputs or {})
        function = getattr(subject, "_torchdynamo_orig_callable", subject)
        return _of_function(module, qualified_name, function, budget, inputs or {})


@contextlib.contextmanager
def eager() -> Iterator[None]:
    """Nothing is compiled while it is tried."""
    import torch

    set_stance = getattr(torch.compiler, "set_stance", None)
    if set_stance is None:
        yield
        return
    with set_stance("force_eager"):
        yield


def _of_class(
    module: ModuleType,
    path: str,
    cls: type,
    method: str,
    budget: Budget,
    given: dict[str, str],
    inputs: dict[str, str],
) -> Found:
    last: NotFound | None = None
    for making in _constructions(module, path, cls, budget, given):
        part = Budget(min(budget.trials, MOST_TRIALS), budget.left * SHARE)
        try:
            return _call_of(module, making, cls, method, part, inputs)
        except NotFound as problem:
            last = problem
        budget.trials -= min(budget.trials, MOST_TRIALS) - part.trials
        if budget.trials <= 0 or budget.left <= 0:
            break
    more = _mentioned(module, cls, str(last or ""))
    if more and not more.keys() <= given.keys() and budget.left > 0:
        return _of_class(module, path, cls, method, budget, {**given, **more}, inputs)
    raise last or NotFound("no way was found to make it")


def _mentioned(module: ModuleType, cls: type, words: str) -> dict[str, str]:
    """Optional constructor arguments that an error of the call names: "either size or scale_factor should be defined"."""
    unknowns = Unknowns()
    filler = Filler(module, unknowns)
    for read in read_parameters(_constructor(cls), skip_first=True):
        if not read.required and read.default is None and re.search(rf"\b{read.name}\b", words):
            argument = filler.for_constructor(cls, read)[0]
            return {read.name: argument.render(lambda name: str(unknowns.by_name[name].value))}
    return {}


def _constructions(module: ModuleType, path: str, cls: type, budget: Budget, given: dict[str, str]) -> Iterator[str]:
    """Texts of constructor calls that come back and are small enough, the likeliest first."""
    last: NotFound | None = None
    count = 0
    for state in _starts(module, cls, given):
        problem = _construction_problem(module, path, cls, state)
        try:
            found = search(problem, [state], Budget(min(budget.trials, MOST_TRIALS), budget.left * SHARE))
        except NotFound as failed:
            last = failed
            continue
        count += 1
        yield f"{path}({_short(found)})"
    if not count:
        raise NotFound(f"it could not be made: {last or 'no arguments are known'}")


def _starts(module: ModuleType, cls: type, given: dict[str, str]) -> Iterator[State]:
    """First arguments for a constructor: those that it must have; for a configuration one start per size."""
    reads = read_parameters(_constructor(cls), skip_first=True)
    required = [read for read in reads if read.required]
    unknowns = Unknowns()
    filler = Filler(module, unknowns)
    if given:
        known = {read.name for read in reads}
        seen = {n: Plain(v) for n, v in given.items() if n in known}
        rest = {read.name: filler.for_constructor(cls, read)[0] for read in required if read.name not in seen}
        yield State(Arguments(tuple({**rest, **seen}.items())), unknowns)
    options = [filler.for_constructor(cls, read) for read in required]
    if not any(len(option) > 1 for option in options):
        # a model whose defaults are those of its paper is made shallower: its layers are alike
        depths = [read for read in reads if not read.required and _is_deep(read)]
        if depths:
            named = tuple((read.name, option[0]) for read, option in zip(required, options, strict=True))
            yield State(Arguments((*named, *((read.name, Plain("2")) for read in depths))), unknowns)
    for index in range(max((len(option) for option in options), default=1)):
        named = tuple(
            (read.name, option[min(index, len(option) - 1)]) for read, option in zip(required, options, strict=True)
        )
        yield State(Arguments(named), unknowns)


def _constructor(cls: type) -> Any:
    """The constructor, as a function."""
    return getattr(cls, "__init__")  # noqa: B009 - mypy does not like it said otherwise


def _is_deep(read: Read) -> bool:
    is_number = isinstance(read.default, int) and not isinstance(read.default, bool)
    return is_number and read.default > DEEP and _DEPTH_NAMES.fullmatch(read.name) is not None


class TooLarge(Exception):
    """A model with more parameters than a background run should make."""


def _construction_problem(module: ModuleType, path: str, cls: type, state: State) -> Problem:
    reads = {read.name: read for read in read_parameters(_constructor(cls), skip_first=True)}
    names = vars(module)

    def symbolic(arguments: Arguments, size: Any) -> object:
        # plain numbers first: few programs are written for symbolic ones where they make their layers
        values = state.unknowns.values
        return _evaluate(f"{path}({_placed(arguments)})", names, size, values)

    def real(text: str) -> object:
        _check_size(names, f"{path}({text})")
        return None

    def offer(name: str, unknowns: Unknowns) -> Argument | None:
        read = reads.get(name)
        if read is None and not reads and name.isidentifier():
            read = Read(name, True, None, "")  # the constructor takes anything, and hands it on
        return Filler(module, unknowns).for_constructor(cls, read)[0] if read is not None else None

    return Problem(symbolic, real, offer)


def _placed(arguments: Arguments) -> str:
    return arguments.render(lambda name: f"{SIZE}({name!r})")


def _evaluate(text: str, names: dict[str, Any], size: Any, values: dict[str, int]) -> Any:
    import torch

    def tensor(dtype: str, shape: tuple[Any, ...], below: int | None = None, equal: int | None = None) -> Any:
        return torch.empty(shape, dtype=getattr(torch, dtype))

    scope = {**names, SIZE: size}
    return expressions.evaluate(f"__run__({text})", {**scope, "__run__": lambda value: value}, tensor).run()


def _check_size(names: dict[str, Any], text: str) -> None:
    """Make the object on fake tensors and count its parameters. Raises TooLarge, and what its constructor raises."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    try:
        with FakeTensorMode(allow_non_fake_inputs=True):
            made = expressions.evaluate(f"__run__({text})", {**names, "__run__": lambda value: value}).run()
    except Exception as error:
        if not _is_fakes_fault(error):
            raise
        return
    count = sum(p.numel() for p in made.parameters()) if hasattr(made, "parameters") else 0
    if count > MOST_PARAMETERS:
        raise TooLarge(f"it has {count / 1e6:.0f} million parameters")


def _is_fakes_fault(error: Exception) -> bool:
    name = type(error).__name__
    return "Fake" in str(error) or name in ("DataDependentOutputException", "DynamicOutputShapeException")


def _call_of(module: ModuleType, making: str, cls: type, method: str, budget: Budget, inputs: dict[str, str]) -> Found:
    """Arguments for ``method`` of the object that ``making`` makes."""
    names = vars(module)

    def make() -> Any:
        return expressions.evaluate(f"__run__({making})", {**names, "__run__": lambda value: value}).run()

    try:
        made = make()
    except Exception as error:
        raise NotFound(f"it could not be made: {type(error).__name__}: {error}") from None
    function = getattr(type(made), method, None)
    if function is None:
        raise NotFound(f"it has no {method}()")
    function = getattr(function, "_torchdynamo_orig_callable", function)
    reads = read_parameters(function, skip_first=True)
    if method == "forward":
        read_class_docstring(cls, reads)
    suffix = "" if method == "forward" else f".{method}"
    unknowns = Unknowns()
    filler = Filler(module, unknowns)
    by_its_name = {read.name: read for read in reads}

    def argument_for(read: Read, filler: Filler) -> Argument:
        return filler.for_input(read, layer_expectation(made, read.layers))

    first = _first_inputs(reads, getattr(made, "main_input_name", None), inputs)
    named = tuple((read.name, _known(read, inputs) or argument_for(read, filler)) for read in first)
    arguments = Arguments(named, _positional(reads))

    def symbolic(arguments: Arguments, size: Any) -> object:
        _restart(made)
        return _evaluate_call(f"__made__{suffix}({_placed(arguments)})", names, size, made)

    def real(text: str) -> object:
        return expressions.evaluate(f"__made__{suffix}({text})", {**names, "__made__": make()}).run()

    def offer(name: str, unknowns: Unknowns) -> Argument | None:
        read = by_its_name.get(name)
        return argument_for(read, Filler(module, unknowns)) if read is not None else None

    found = search(Problem(symbolic, real, offer), [State(arguments, unknowns)], budget)
    return Found(f"{making}{suffix}({_short(found)})", f"{making}{suffix}", _shown(found))


def _restart(made: Any) -> None:
    """Each trial sees the object as it was made, as far as gradients go."""
    if hasattr(made, "zero_grad"):
        made.zero_grad(set_to_none=True)


def _evaluate_call(text: str, names: dict[str, Any], size: Any, made: Any) -> Any:
    import torch

    def tensor(dtype: str, shape: tuple[Any, ...], below: int | None = None, equal: int | None = None) -> Any:
        return torch.empty(shape, dtype=getattr(torch, dtype))

    return expressions.evaluate(text, {**names, SIZE: size, "__made__": made}, tensor).run()


def _of_function(module: ModuleType, path: str, function: Any, budget: Budget, inputs: dict[str, str]) -> Found:
    names = vars(module)
    reads = read_parameters(function, skip_first=False)
    unknowns = Unknowns()
    filler = Filler(module, unknowns)
    by_its_name = {read.name: read for read in reads}
    first = [read for read in reads if read.required or read.name in inputs]
    named = tuple((read.name, _known(read, inputs) or filler.for_input(read, None)) for read in first)
    arguments = Arguments(named, _positional(reads))

    def symbolic(arguments: Arguments, size: Any) -> object:
        return _evaluate_call(f"__made__({_placed(arguments)})", names, size, function)

    def real(text: str) -> object:
        return expressions.evaluate(f"__made__({text})", {**names, "__made__": function}).run()

    def offer(name: str, unknowns: Unknowns) -> Argument | None:
        read = by_its_name.get(name)
        return Filler(module, unknowns).for_input(read, None) if read is not None else None

    found = search(Problem(symbolic, real, offer), [State(arguments, unknowns)], budget)
    return Found(f"{path}({_short(found)})", path, _shown(found))


def _known(read: Read, inputs: dict[str, str]) -> Argument | None:
    return Plain(inputs[read.name]) if read.name in inputs else None


def _first_inputs(reads: list[Read], main_input: str | None, inputs: dict[str, str]) -> list[Read]:
    """What is given at first: what must be or is known, and the main input of a model whose parameters are all optional."""
    required = [read for read in reads if read.required or read.name in inputs]
    if required:
        return required
    named = [read for read in reads if read.name == main_input]
    known = [read for read in reads if by_name(INPUTS, read.name) is not None]
    return named or known[:1]


def _positional(reads: list[Read]) -> frozenset[str]:
    return frozenset(read.name for read in reads if not read.keyword_only)


def _short(state: State) -> str:
    values = state.unknowns.values
    names = [name for name, _ in state.arguments.named]
    # a name may be left out as long as nothing before it was
    return state.arguments.render(lambda name: str(values[name]), with_names=bool(names))


def _shown(state: State) -> str:
    """``x: float32[2, 16, 64], n: 3``."""
    values = state.unknowns.values
    return ", ".join(f"{n}: {a.render(lambda name: str(values[name]))}" for n, a in state.arguments.named)
