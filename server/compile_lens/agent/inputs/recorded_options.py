"""Finds optional arguments for a call that a program was seen to make: masks, labels and states that are as large as its tensors.

Tests, examples and scripts show one way to call a model; its users pass masks and labels, too.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..instrument.unrecorded import uncompiled
from ..runtime.foreign_code import attempted
from ..torch_internals.attributes import original_function
from ..variations.call_snapshot import ArgumentNames, in_grad_mode, take_snapshot
from ..variations.watcher import Offers
from .calling import expressions
from .calling.ahead import can_fork, of_copy
from .calling.expressions import PreparedCall
from .calling.placement import beside
from .synthesis.guessing.argument_guesser import ArgumentGuesser
from .synthesis.guessing.loss_inputs import TARGET_NAME
from .synthesis.making.construction import SIZE, with_symbolic_sizes
from .synthesis.making.size_of_model import without_memory
from .synthesis.optional_arguments import MAX_OPTIONAL, MAX_TRIALS, SECONDS_EACH, is_optional_tensor, none_offered
from .synthesis.source.guesses import INPUTS, by_name
from .synthesis.source.layers import expected_by_layers
from .synthesis.source.named_sizes import sizes_of
from .synthesis.source.signatures import read_parameters
from .synthesis.terms.arguments import Argument, Arguments, Expression, Tensor, known_text
from .synthesis.terms.call_problem import CallProblem
from .synthesis.terms.candidate import Candidate
from .synthesis.terms.dimensions import Unknowns
from .synthesis.terms.parameter_info import ParameterInfo
from .synthesis.trying.search import NotFound, SearchBudget, first_that_returns, search

# for all arguments of one call, and by the clock
SECONDS, CLOCK_S = 5.0, 12.0
MOST_SHAPES = 2
# the dimensions of tensors whose names say nothing, by how many there are
_USUAL = {1: ("B",), 3: ("B", "T", "C"), 4: ("B", "C", "H", "W"), 5: ("B", "C", "F", "H", "W")}
_USUAL_OF_INTEGERS = {1: ("B",), 2: ("B", "T")}


def offers(call: PreparedCall) -> Offers:
    """Name, text and value of each optional argument with which ``call`` returns too; searched in a copy of the process, and not at all
    where there can be none: what a trial leaves behind would change the calls that follow."""

    def found() -> list[tuple[str, str]]:
        with uncompiled(), in_grad_mode(call.mode) if call.mode else contextlib.nullcontext():
            return list(optional_arguments_of(call, SECONDS))

    for name, text in (of_copy(found, CLOCK_S) or ()) if can_fork() else ():
        prepared = expressions.evaluate(f"dict(value={text})", {**_names_of(call.target), "dict": dict})
        (value,), _ = beside(call.target, (prepared.named["value"],), {})
        yield name, text, value


def optional_arguments_of(call: PreparedCall, seconds: float) -> Iterator[tuple[str, str]]:
    """Name and expression of each optional tensor with which ``call`` returns, everything else left as it is."""
    budget = SearchBudget(MAX_TRIALS * MAX_OPTIONAL, seconds)
    known = _KnownCall(call)
    for info in known.optional()[:MAX_OPTIONAL]:
        text = known.with_which_it_returns(info, budget)
        if text is not None:
            yield info.name, text


class _KnownCall:
    """A call with its own values; ``_given`` are those by parameter."""

    def __init__(self, call: PreparedCall) -> None:
        self._target = call.target
        self._names = ArgumentNames(call.target)
        self._snapshot = take_snapshot(call.positional, call.named)
        function = original_function(self._names.target)
        self._owner = getattr(function, "__self__", None) if inspect.ismethod(function) else None
        self._infos = read_parameters(getattr(function, "__func__", function), skip_first=self._owner is not None)
        signature = self._names.signature
        bound = attempted(lambda: signature.bind(*call.positional, **call.named)) if signature is not None else None
        self._given: dict[str, Any] = bound.arguments if bound is not None else {}
        self._module = sys.modules[getattr(function, "__module__", None) or "__main__"]

    def optional(self) -> list[ParameterInfo]:
        """The parameters that may get a tensor, and get none."""
        return [i for i in self._infos if self._given and is_optional_tensor(i) and self._given.get(i.name) is None]

    def with_which_it_returns(self, info: ParameterInfo, budget: SearchBudget) -> str | None:
        """The expression of a value for ``info`` with which the call returns; None if none is found."""
        unknowns = _sizes_of_tensors(self._infos, self._given)
        own = sizes_of(self._owner, None) if self._owner is not None else {}
        expected = expected_by_layers(self._owner, info.layers) if self._owner is not None else None
        guessed = ArgumentGuesser(self._module, unknowns, own).for_input(info, expected)
        likely = (*self._tokens_to_come(info), guessed, *self._as_large(guessed, unknowns))
        start = [Candidate(Arguments(((info.name, each),)), unknowns) for each in likely]

        def made(text: str, more: dict[str, Any], make: Callable[..., Any] | None) -> object:
            values = expressions.evaluate(f"dict({text})", {**vars(self._module), "dict": dict, **more}, make).named
            (value,), _ = beside(self._target, (values[info.name],), {})
            return self._names.with_value(self._snapshot, info.name, value).call(self._target)

        def symbolic(arguments: Arguments, size: Any) -> object:
            return made(with_symbolic_sizes(arguments), {SIZE: size}, without_memory)

        def real(text: str) -> object:
            return made(text, {}, None)

        part = SearchBudget(min(MAX_TRIALS, budget.trials), min(SECONDS_EACH, budget.left))
        problem = CallProblem(symbolic, real, none_offered)
        try:
            result = first_that_returns(problem, start, part) or search(problem, start, part)
        except NotFound:
            return None
        finally:
            budget.trials -= MAX_TRIALS
        values, found = result.unknowns.values, result.arguments.get(info.name)
        is_this_one_more = found is not None and len(result.arguments.named) == 1
        return found.render(lambda name: str(values[name])) if found is not None and is_this_one_more else None

    def _tokens_to_come(self, info: ParameterInfo) -> list[Argument]:
        """The targets of a model of tokens are tokens."""
        import torch

        if not TARGET_NAME.fullmatch(info.name):
            return []
        given = (each for each in self._given.values() if isinstance(each, torch.Tensor))
        texts = (known_text(each) for each in given if each.dtype is torch.int64 and each.dim() > 1)
        found: list[Argument] = [Expression(text) for text in texts if text is not None]
        return found[:1]

    def _as_large(self, guessed: Argument, unknowns: Unknowns) -> list[Argument]:
        """``guessed`` with the shapes of the call's tensors: a mask of an image, a target beside what is predicted."""
        import torch

        shapes = dict.fromkeys(tuple(each.shape) for each in self._given.values() if isinstance(each, torch.Tensor))
        for size in {size for shape in shapes for size in shape}:
            unknowns.get(str(size), size, fixed=True)
        if not isinstance(guessed, Tensor):
            return []
        large = [tuple(map(str, shape)) for shape in shapes if len(shape) > 1]
        found: list[Argument] = [replace(guessed, dims=shape) for shape in large]
        return found[:MOST_SHAPES]


def _sizes_of_tensors(infos: list[ParameterInfo], given: Mapping[str, Any]) -> Unknowns:
    """The sizes of the dimensions of what is passed, by their usual names: the first tensor that has one says it."""
    import torch

    known = Unknowns()
    for info in infos:
        value = given.get(info.name)
        if not isinstance(value, torch.Tensor):
            continue
        usual = by_name(INPUTS, info.name)
        dims = info.dims or (usual.dims if usual is not None else ())
        if len(dims) != value.dim():
            dims = (_USUAL if value.is_floating_point() else _USUAL_OF_INTEGERS).get(value.dim(), ())
        for dim, size in zip(dims, value.shape, strict=False):
            if dim and not dim.isdecimal():
                known.get(dim, int(size), fixed=True)
    return known


def _names_of(target: Any) -> dict[str, Any]:
    """The names of the module that defines what is called."""
    function = original_function(ArgumentNames(target).target)
    return vars(sys.modules[getattr(function, "__module__", None) or "__main__"])
