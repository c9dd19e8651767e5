"""Searches a call of an object that a constructor call makes, after the methods that may have to come first."""

from __future__ import annotations

import copy
import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from ....instrument.unrecorded import unrecorded
from ....torch_internals.attributes import original_function
from ...calling import expressions, two_devices
from ...calling.call_in_progress import in_progress
from ...calling.time_limit import TrialTooLong
from ..changes.any_arguments import with_all_unpacked
from ..changes.other_shapes import of_common_sides, of_one_rank
from ..guessing.argument_guesser import ArgumentGuesser
from ..guessing.feature_maps import feature_maps
from ..guessing.loss_inputs import loss_inputs
from ..project.own_classes import with_own_method
from ..source.constructor_parameters import constructor_parameters
from ..source.delegation import accepts_names, may_be_a_parameter, one_of_any_number, parameters_of
from ..source.guesses import INPUTS, InputGuess, by_name
from ..source.hint_kinds import kinds_of
from ..source.layers import expected_by_layers, image_size
from ..source.named_sizes import sizes_of
from ..source.passed_on_values import learn_from_parts
from ..source.recurrent_states import states_of
from ..source.signatures import read_class_docstring, read_parameters
from ..terms.arguments import Argument, Arguments, Expression, Group
from ..terms.call_problem import CallProblem
from ..terms.candidate import Candidate
from ..terms.dimensions import Unknowns
from ..terms.parameter_info import ParameterInfo, positional_names
from ..trying.progress import comes_further
from ..trying.search import NotFound, SearchBudget, first_that_returns, search, search_likely, sentence_of
from .construction import (
    CONSTRUCTOR_FAILED,
    MAX_TRIALS,
    SIZE,
    Making,
    as_text,
    with_symbolic_sizes,
)
from .preparations import after_method, preparing_methods
from .size_of_model import made_by, place, without_memory

# the object in the text of a call that prepares it: `(m := Net(), m.setup())[0](x)`
MADE = "m"
# for inputs that all have another rank
RANK_TRIALS, RANK_S = 8, 1.5
# for the arguments of a method that prepares the object
PREPARING_TRIALS, PREPARING_S = 12, 2.0
# the side of an image that a model insists on
MAX_EXACT = 1024
# of processor time, for one object
SLOW_S = 1.0
ON_META = ", on the meta device, since it is too large"
ON_GPU = ", on the GPU"


@dataclass(frozen=True, slots=True)
class FoundCall:
    """A call that returns. ``expression`` is all of it; ``making`` and ``inputs`` are its two halves, as shown to the user.

    ``method`` is what is called, ``forward`` for a module. ``is_meta``: it is so large that it is called on the meta device. ``device``
    is where its inputs are put, '' for where its object is. ``is_cut``: it ends where it needs a library that is not here.
    """

    expression: str
    making: str
    inputs: str
    method: str = ""
    is_meta: bool = False
    candidate: Candidate | None = None
    device: str = ""
    is_cut: bool = False

    def on_gpu(self) -> FoundCall:
        """The same call with its inputs on the GPU."""
        text = two_devices.on_gpu(self.expression)
        return replace(self, expression=text, inputs=f"{self.inputs}{ON_GPU}", device=two_devices.GPU)

    def place(self) -> AbstractContextManager[Any]:
        """The context to construct the object and its inputs in."""
        return place(self.is_meta)

    def evaluate(self, names: dict[str, Any]) -> expressions.PreparedCall:
        """A new object and new inputs. Raises what the program raises."""
        with self.place():
            return expressions.evaluate(self.expression, names)


class CallsOfObject:
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
        self._inputs = inputs
        started = time.process_time()
        self._made = self._make()
        # one object serves all trials where making another takes most of their time
        self._is_kept = making.is_large or time.process_time() - started > SLOW_S
        self._suffix = "" if method == "forward" and callable(self._made) else f".{method}"
        function = getattr(type(self._made), method, None)
        if function is None:
            raise NotFound(f"it has no `{method}()`")
        self._infos = parameters_of(self._made, function)
        learn_from_parts(self._made, self._infos, read_parameters)
        self._open_parts = _open_parts(cls, self._made) if making.candidate is not None else frozenset()
        self._kept = (
            frozenset(name for name, _ in making.candidate.arguments.named) if making.candidate else frozenset()
        )
        self._sizes = sizes_of(self._made, making.candidate)
        if method == "forward":
            read_class_docstring(cls, self._infos)

    def find(self, budget: SearchBudget) -> FoundCall:
        """The call, after methods that prepare it if it needs them. Raises NotFound."""
        try:
            return self.search(budget)
        except NotFound as problem:
            furthest = problem
            for name, prepared in self._preparations(problem.error):
                again = SearchBudget(MAX_TRIALS, max(budget.left, 2.0))
                try:
                    return prepared.search(again)
                except NotFound as later:
                    if furthest is problem and comes_further(later.error, problem.error):
                        later.args = (f"{after_method(name)} {later}",)
                        furthest = later
            raise furthest from None

    def search(self, budget: SearchBudget) -> FoundCall:
        """The call of the object as it is made. Raises NotFound."""
        unknowns = Unknowns()
        guesser = ArgumentGuesser(self._module, unknowns, self._sizes)
        known = {**dict.fromkeys(self._passed, ""), **self._inputs}
        first = first_inputs(self._infos, getattr(self._made, "main_input_name", None), known)
        named = tuple(
            (info.name, known_argument(info, self._inputs) or self._argument_for(info, guesser)) for info in first
        )
        start = Candidate(Arguments(named, positional_names(self._infos)), unknowns)
        unknowns.assign({name: size for name, size in image_size(self._made).items() if name in unknowns.by_name})
        making = f"{self._making.text}{self._suffix}"
        draft = f"{making}({as_text(start)})"
        try:
            found = self._search_from(start, budget)
        except TrialTooLong as late:
            late.draft = draft
            raise
        except NotFound as problem:
            problem.draft = f"{making}({as_text(problem.nearest or start)})"
            problem.call = self._call_with(making, problem.nearest or start)
            raise
        return self._call_with(making, found)

    def _call_with(self, making: str, found: Candidate) -> FoundCall:
        expression = f"{making}({as_text(found)})"
        inputs = f"{described(found)}{ON_META if self._making.is_meta else ''}"
        return FoundCall(expression, making, inputs, self._method, self._making.is_meta, found)

    def _search_from(self, start: Candidate, budget: SearchBudget) -> Candidate:
        """What ``start`` leads to; else what it leads to with other ranks of all its tensors, or images of the size of the model."""
        problem = self._problem()
        function = original_function(getattr(type(self._made), self._method))
        likely = list(loss_inputs(start, function, type(self._made).__name__, self._made))
        maps = list(feature_maps(start, self._made, function, self._making.candidate))
        found = search_likely(problem, likely, budget) or first_that_returns(problem, maps, budget)
        if found is not None:
            return found
        try:
            return search(problem, [start], budget)
        except NotFound as failed:
            found = first_that_returns(problem, of_common_sides(start), budget) if failed.of_object is None else None
            if found is not None:
                return found
            others = (*maps, *of_one_rank(start), *self._of_exact_size(start), *self._with_one_more(start))
            for other in others if failed.of_object is None else ():
                try:
                    return search(problem, [other], SearchBudget(RANK_TRIALS, max(budget.left, RANK_S)))
                except NotFound:
                    continue
            raise failed

    def _of_exact_size(self, start: Candidate) -> Iterator[Candidate]:
        """``start`` with images as large as the object says, where that is larger than what is tried first."""
        sizes = image_size(self._made, MAX_EXACT)
        wanted = {name: size for name, size in sizes.items() if name in start.unknowns.by_name}
        if wanted and wanted != {name: image_size(self._made)[name] for name in wanted}:
            unknowns = copy.deepcopy(start.unknowns)
            unknowns.assign({**unknowns.values, **wanted})
            yield Candidate(start.arguments, unknowns)

    def _with_one_more(self, start: Candidate) -> Iterator[Candidate]:
        """``start`` with a tensor more, where the method takes any number of them."""
        more = one_of_any_number(original_function(getattr(type(self._made), self._method)))
        if more is not None and start.arguments.get(more.name) is None:
            unknowns = copy.deepcopy(start.unknowns)
            guesser = ArgumentGuesser(self._module, unknowns, self._sizes)
            named = (*start.arguments.named, (more.name, self._argument_for(more, guesser)))
            yield Candidate(Arguments(named, tuple(name for name, _ in named)), unknowns)

    def _preparations(self, error: BaseException | None) -> Iterator[tuple[str, CallsOfObject]]:
        """The same object after a call of each method that may have to come first, also by what ``error`` says; with its name."""
        for name in preparing_methods(self._made, self._method, error):
            for text in self._preparing_calls(name):
                making = Making(f"({MADE} := {self._making.text}, {MADE}.{name}({text}))[0]", self._making.is_meta)
                try:
                    with unrecorded():
                        prepared = CallsOfObject(self._module, making, type(self._made), self._method, self._inputs)
                except NotFound:
                    continue
                yield name, prepared
                break

    def _preparing_calls(self, name: str) -> Iterator[str]:
        """Arguments for the method ``name``: plain ones, then those with which it returns."""
        infos = [info for info in read_parameters(getattr(type(self._made), name), skip_first=True) if info.required]
        unknowns = Unknowns()
        guesser = ArgumentGuesser(self._module, unknowns)
        named = tuple((info.name, guesser.for_constructor(None, info)[0]) for info in infos)
        arguments = Arguments(named, positional_names(infos))
        yield as_text(Candidate(arguments, unknowns))
        try:
            calls = CallsOfObject(self._module, self._making, type(self._made), name, {})
            found = calls.search(SearchBudget(PREPARING_TRIALS, PREPARING_S)) if infos else None
        except NotFound:
            return
        if found is not None and found.candidate is not None:
            yield as_text(found.candidate)

    def _make(self) -> Any:
        try:
            if self._given is not None:
                return self._given()
            with self._making.place(), in_progress.making(self._making.text):
                return made_by(self._making.text, self._names)
        except (Exception, SystemExit) as error:  # code of the user's may raise anything
            raise NotFound(f"{CONSTRUCTOR_FAILED}: {sentence_of(error)}", shown=error) from None

    def _argument_for(self, info: ParameterInfo, guesser: ArgumentGuesser) -> Argument:
        states = states_of(self._made, info.states)
        if states:
            tensors = tuple(guesser.tensor(info, each) for each in states)
            return Group(tensors) if len(tensors) > 1 else tensors[0]
        return guesser.for_input(info, self._expected(info), self._expected)

    def _expected(self, info: ParameterInfo) -> InputGuess | None:
        return expected_by_layers(self._made, info.layers)

    def _symbolic(self, arguments: Arguments, size: Any) -> object:
        _clear_gradients(self._made)
        text = f"__made__{self._suffix}({with_symbolic_sizes(arguments)})"
        return evaluated_call(text, self._names, size, self._made)

    def _real(self, text: str) -> object:
        made = self._made if self._is_kept else self._make()
        with self._making.place():
            call = expressions.evaluate(f"__made__{self._suffix}({text})", {**self._names, "__made__": made})
        return call.run()

    def _problem(self) -> CallProblem:
        guess = functools.partial(guess_of, self._module, self._infos)
        return CallProblem(
            self._symbolic,
            self._real,
            self._offer,
            guess,
            functools.partial(read_of, self._infos),
            _names(self._infos),
            others=self._others,
            called=f"{self._making.text}{self._suffix}",
            open_parts=self._open_parts,
            kept=self._kept,
            optional=optional_tensors(self._infos),
        )

    def _others(self, candidate: Candidate, error: Exception) -> Iterator[Candidate]:
        yield from with_own_method(candidate, error, self._module, self._made_of)
        function = original_function(getattr(type(self._made), self._method))
        guess = functools.partial(guess_of, self._module, self._infos)
        yield from with_all_unpacked(candidate, error, function, guess)

    def _made_of(self, cls: type, unknowns: Unknowns) -> Argument:
        return ArgumentGuesser(self._module, unknowns).constructed(cls)

    def _offer(self, name: str, unknowns: Unknowns, passed_on: ParameterInfo | None) -> Argument | None:
        info = next((info for info in self._infos if info.name == name), None)
        if info is None and accepts_names(getattr(type(self._made), self._method)) and may_be_a_parameter(name):
            info = passed_on or ParameterInfo(name, True, None, "")
        guesser = ArgumentGuesser(self._module, unknowns, self._sizes)
        return self._argument_for(info, guesser) if info is not None else None


def _open_parts(cls: type, made: Any) -> frozenset[str]:
    """Parameters of the constructor that are None by default, and so are the attributes of their names."""
    infos = constructor_parameters(cls)
    own = getattr(made, "__dict__", {})
    return frozenset(i.name for i in infos if not i.required and i.default is None and own.get(i.name, made) is None)


def _clear_gradients(module: Any) -> None:
    """Clear the gradients that an earlier trial left."""
    if hasattr(module, "zero_grad"):
        module.zero_grad(set_to_none=True)


def evaluated_call(text: str, names: dict[str, Any], size: Any, target: Any) -> Any:
    """Make the call ``text`` of ``target`` with the sizes that ``size`` gives. Raises what the program raises."""
    return expressions.evaluate(text, {**names, SIZE: size, "__made__": target}, without_memory).run()


def guess_of(module: ModuleType, infos: list[ParameterInfo], name: str, unknowns: Unknowns) -> Argument:
    """An argument for what is read of one of the parameters ``infos`` as ``name``: data, unless it is a flag."""
    dtype = next((info.field_kinds[name] for info in infos if name in info.field_kinds), "")
    of_graph = any(info.of_graph for info in infos)
    info = ParameterInfo(name, True, None, "", dtype=dtype, of_graph=of_graph)
    return ArgumentGuesser(module, unknowns).read_by_key(info)


def read_of(infos: list[ParameterInfo], name: str) -> tuple[str, ...]:
    return next((info.fields for info in infos if info.name == name), ())


def optional_tensors(infos: list[ParameterInfo]) -> tuple[str, ...]:
    """The parameters that are None by default, and that nothing says to be no tensors."""
    left_out = [info for info in infos if not info.required and info.default is None]
    return tuple(each.name for each in left_out if kinds_of(each.hint, each.annotation) <= {"tensor"})


def _names(infos: list[ParameterInfo]) -> frozenset[str]:
    return frozenset(info.name for info in infos)


def known_argument(info: ParameterInfo, inputs: Mapping[str, str]) -> Argument | None:
    return Expression(inputs[info.name]) if info.name in inputs else None


def first_inputs(infos: list[ParameterInfo], main_input: str | None, inputs: Mapping[str, str]) -> list[ParameterInfo]:
    """The first parameters to pass: required or known ones, or the main input of a model whose parameters are all optional."""
    required = [info for info in infos if info.required or info.name in inputs]
    if required:
        return required
    named = [info for info in infos if info.name == main_input]
    known = [info for info in infos if by_name(INPUTS, info.name) is not None]
    return named or known[:1]


def described(candidate: Candidate) -> str:
    """``x: float32[2, 16, 64], n: 3``."""
    values = candidate.unknowns.values
    return ", ".join(f"{n}: {a.render(lambda name: str(values[name]))}" for n, a in candidate.arguments.named)
