"""Finds a call of one target, a class or a function of the user's module."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from ...instrument.unrecorded import uncompiled, unrecorded
from ...torch_internals.attributes import original_function
from .. import expressions
from ..module import find
from .argument_guesser import ArgumentGuesser
from .arguments import Argument, Arguments, Expression
from .candidate import Candidate
from .construction import (
    ATTEMPT_SHARE,
    MAX_TRIALS,
    SIZE,
    Making,
    as_text,
    constructions,
    fitting,
    made_by,
    mentioned_parameters,
    place,
    with_symbolic_sizes,
    without_memory,
)
from .delegation import parameters_of
from .dimensions import Unknowns
from .factories import factories
from .guesses import INPUTS, by_name
from .layers import expected_by_layers, image_size
from .parameter_info import ParameterInfo, read_class_docstring, read_parameters
from .preparations import preparing_methods
from .search import CallProblem, NotFound, SearchBudget, search

# the object in the text of a call that prepares it: `(m := Net(), m.setup())[0](x)`
MADE = "m"
# the least time for an object that the file constructs itself
FACTORY_S = 6.0
_FLAG = re.compile(r"(?:use|is|has|with|return|output|num|n)_")
ON_META = ", on the meta device, since it is too large"


@dataclass(frozen=True, slots=True)
class FoundCall:
    """A call that returns. ``expression`` is all of it; ``making`` and ``inputs`` are its two halves, as shown to the user.

    ``method`` is what is called, ``forward`` for a module. ``is_meta``: it is so large that it is called on the meta device.
    """

    expression: str
    making: str
    inputs: str
    method: str = ""
    is_meta: bool = False
    candidate: Candidate | None = None

    def place(self) -> AbstractContextManager[Any]:
        """The context to construct the object and its inputs in."""
        return place(self.is_meta)

    def evaluate(self, names: dict[str, Any]) -> expressions.PreparedCall:
        """A new object and new inputs. Raises what the program raises."""
        with self.place():
            return expressions.evaluate(self.expression, names)


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
    given: Mapping[str, str],
    inputs: Mapping[str, str],
) -> FoundCall:
    last: NotFound | None = None
    try:
        for making in constructions(module, path, cls, budget, given):
            part = SearchBudget(min(budget.trials, MAX_TRIALS), budget.left * ATTEMPT_SHARE)
            try:
                return _CallsOfObject(module, making, cls, method, inputs).find(part)
            except NotFound as problem:
                last = problem
            budget.trials -= min(budget.trials, MAX_TRIALS) - part.trials
            if budget.trials <= 0 or budget.left <= 0:
                break
    except NotFound as problem:
        draft = _draft_without_object(module, cls, method, inputs)
        last = NotFound(str(problem), f"{problem.draft}{draft}" if problem.draft else "")
    more = mentioned_parameters(module, cls, str(last or ""))
    if more and not more.keys() <= given.keys() and budget.left > 0:
        return _of_class(module, path, cls, method, budget, {**given, **more}, inputs)
    found = _by_factory(module, cls, method, budget, inputs)
    if found is not None:
        return found
    raise last or NotFound("no constructor call is known")


def _by_factory(
    module: ModuleType, cls: type, method: str, budget: SearchBudget, inputs: Mapping[str, str]
) -> FoundCall | None:
    """A call on what a function of the file constructs."""
    for number, text in enumerate(factories(module, cls)):
        if number and not budget.left:
            break
        part = SearchBudget(MAX_TRIALS, max(budget.left * ATTEMPT_SHARE, FACTORY_S))
        try:
            with unrecorded():
                making = fitting(vars(module), text)
            return _CallsOfObject(module, making, cls, method, inputs).find(part)
        except Exception:  # code of the user's may raise anything, and the failure of the constructor says more
            continue
    return None


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
    return _CallsOfObject(module, Making(making), type(made), method, inputs, make, passed).search(budget)


class _CallsOfObject:
    """Searches a call of ``method`` on the object that ``making`` constructs, or ``make`` if that is given.

    ``passed`` are parameters that get an argument although they need none.
    """

    def __init__(
        self,
        module: ModuleType,
        making: Making,
        cls: type,
        method: str,
        inputs: Mapping[str, str],
        make: Callable[[], Any] | None = None,
        passed: Sequence[str] = (),
    ) -> None:
        self._given = make
        self._passed = passed
        self._module = module
        self._names = vars(module)
        self._making = making
        self._method = method
        self._suffix = "" if method == "forward" else f".{method}"
        self._inputs = inputs
        self._made = self._make()
        function = getattr(type(self._made), method, None)
        if function is None:
            raise NotFound(f"it has no `{method}()`")
        self._infos = parameters_of(self._made, function)
        if method == "forward":
            read_class_docstring(cls, self._infos)

    def find(self, budget: SearchBudget) -> FoundCall:
        """The call, after methods that prepare it if it needs them. Raises NotFound."""
        try:
            return self.search(budget)
        except NotFound as problem:
            for prepared in self._preparations(budget):
                again = SearchBudget(MAX_TRIALS, max(budget.left, 2.0))
                try:
                    return prepared.search(again)
                except NotFound:
                    continue
            raise problem

    def search(self, budget: SearchBudget) -> FoundCall:
        """The call of the object as it is made. Raises NotFound."""
        unknowns = Unknowns()
        guesser = ArgumentGuesser(self._module, unknowns)
        known = {**dict.fromkeys(self._passed, ""), **self._inputs}
        first = _first_inputs(self._infos, getattr(self._made, "main_input_name", None), known)
        named = tuple(
            (info.name, _known_argument(info, self._inputs) or self._argument_for(info, guesser)) for info in first
        )
        start = Candidate(Arguments(named, _positional(self._infos)), unknowns)
        unknowns.assign({name: size for name, size in image_size(self._made).items() if name in unknowns.by_name})
        making = f"{self._making.text}{self._suffix}"
        try:
            found = search(self._problem(), [start], budget)
        except NotFound as problem:
            raise NotFound(str(problem), f"{making}({as_text(start)})") from None
        expression = f"{making}({as_text(found)})"
        inputs = f"{_described(found)}{ON_META if self._making.is_meta else ''}"
        return FoundCall(expression, making, inputs, self._method, self._making.is_meta, found)

    def _preparations(self, budget: SearchBudget) -> Iterator[_CallsOfObject]:
        """The same object after a call of each method that may have to come first."""
        for name in preparing_methods(self._made, self._method):
            if budget.trials <= 0:
                return
            infos = [
                info for info in read_parameters(getattr(type(self._made), name), skip_first=True) if info.required
            ]
            unknowns = Unknowns()
            guesser = ArgumentGuesser(self._module, unknowns)
            arguments = Arguments(tuple((info.name, guesser.for_constructor(None, info)[0]) for info in infos))
            text = as_text(Candidate(arguments, unknowns))
            making = Making(f"({MADE} := {self._making.text}, {MADE}.{name}({text}))[0]", self._making.is_meta)
            try:
                with unrecorded():
                    yield _CallsOfObject(self._module, making, type(self._made), self._method, self._inputs)
            except NotFound:
                continue

    def _make(self) -> Any:
        try:
            if self._given is not None:
                return self._given()
            with self._making.place():
                return made_by(self._making.text, self._names)
        except Exception as error:  # code of the user's may raise anything
            raise NotFound(f"its constructor failed: {type(error).__name__}: {error}") from None

    def _argument_for(self, info: ParameterInfo, guesser: ArgumentGuesser) -> Argument:
        return guesser.for_input(info, expected_by_layers(self._made, info.layers))

    def _symbolic(self, arguments: Arguments, size: Any) -> object:
        _clear_gradients(self._made)
        text = f"__made__{self._suffix}({with_symbolic_sizes(arguments)})"
        return evaluated_call(text, self._names, size, self._made)

    def _real(self, text: str) -> object:
        made = self._make()
        with self._making.place():
            call = expressions.evaluate(f"__made__{self._suffix}({text})", {**self._names, "__made__": made})
        return call.run()

    def _problem(self) -> CallProblem:
        guess = functools.partial(_guess, self._module)
        return CallProblem(self._symbolic, self._real, self._offer, guess, functools.partial(_read_of, self._infos))

    def _offer(self, name: str, unknowns: Unknowns) -> Argument | None:
        info = next((info for info in self._infos if info.name == name), None)
        return self._argument_for(info, ArgumentGuesser(self._module, unknowns)) if info is not None else None


def _draft_without_object(module: ModuleType, cls: type, method: str, inputs: Mapping[str, str]) -> str:
    """The second half of a call whose first half could not be found: what the signature says of the inputs."""
    function = getattr(cls, method, None)
    if function is None:
        return ""
    infos = read_parameters(original_function(function), skip_first=True)
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    first = _first_inputs(infos, None, inputs)
    named = tuple((info.name, _known_argument(info, inputs) or guesser.for_input(info, None)) for info in first)
    suffix = "" if method == "forward" else f".{method}"
    return f"{suffix}({as_text(Candidate(Arguments(named, _positional(infos)), unknowns))})"


def _clear_gradients(module: Any) -> None:
    """Clear the gradients that an earlier trial left."""
    if hasattr(module, "zero_grad"):
        module.zero_grad(set_to_none=True)


def evaluated_call(text: str, names: dict[str, Any], size: Any, target: Any) -> Any:
    """Make the call ``text`` of ``target`` with the sizes that ``size`` gives. Raises what the program raises."""
    return expressions.evaluate(text, {**names, SIZE: size, "__made__": target}, without_memory).run()


def _of_function(
    module: ModuleType, path: str, function: Any, budget: SearchBudget, inputs: Mapping[str, str]
) -> FoundCall:
    names = vars(module)
    infos = read_parameters(function, skip_first=False)
    unknowns = Unknowns()
    guesser = ArgumentGuesser(module, unknowns)
    infos_by_name = {info.name: info for info in infos}
    first = [info for info in infos if info.required or info.name in inputs]
    named = tuple((info.name, _known_argument(info, inputs) or guesser.for_input(info, None)) for info in first)
    start = Candidate(Arguments(named, _positional(infos)), unknowns)

    def symbolic(arguments: Arguments, size: Any) -> object:
        return evaluated_call(f"__made__({with_symbolic_sizes(arguments)})", names, size, function)

    def real(text: str) -> object:
        return expressions.evaluate(f"__made__({text})", {**names, "__made__": function}).run()

    def offer(name: str, unknowns: Unknowns) -> Argument | None:
        info = infos_by_name.get(name)
        return ArgumentGuesser(module, unknowns).for_input(info, None) if info is not None else None

    problem = CallProblem(symbolic, real, offer, functools.partial(_guess, module), functools.partial(_read_of, infos))
    try:
        found = search(problem, [start], budget)
    except NotFound as problem:
        raise NotFound(str(problem), f"{path}({as_text(start)})") from None
    return FoundCall(f"{path}({as_text(found)})", path, _described(found), candidate=found)


def _guess(module: ModuleType, name: str, unknowns: Unknowns) -> Argument:
    """An argument for what is read of another one as ``name``: data, unless it is a flag."""
    guesser, info = ArgumentGuesser(module, unknowns), ParameterInfo(name, True, None, "")
    return guesser.for_input(info, None) if _FLAG.match(name) else guesser.tensor(info, None)


def _read_of(infos: list[ParameterInfo], name: str) -> tuple[str, ...]:
    return next((info.fields for info in infos if info.name == name), ())


def _known_argument(info: ParameterInfo, inputs: Mapping[str, str]) -> Argument | None:
    return Expression(inputs[info.name]) if info.name in inputs else None


def _first_inputs(infos: list[ParameterInfo], main_input: str | None, inputs: Mapping[str, str]) -> list[ParameterInfo]:
    """The first parameters to pass: required or known ones, or the main input of a model whose parameters are all optional."""
    required = [info for info in infos if info.required or info.name in inputs]
    if required:
        return required
    named = [info for info in infos if info.name == main_input]
    known = [info for info in infos if by_name(INPUTS, info.name) is not None]
    return named or known[:1]


def _positional(infos: list[ParameterInfo]) -> frozenset[str]:
    return frozenset(info.name for info in infos if info.positional_only)


def _described(candidate: Candidate) -> str:
    """``x: float32[2, 16, 64], n: 3``."""
    values = candidate.unknowns.values
    return ", ".join(f"{n}: {a.render(lambda name: str(values[name]))}" for n, a in candidate.arguments.named)
