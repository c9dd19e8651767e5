"""Snapshots of calls of regions: copies of the arguments, and the modes that the call was made in."""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..instrument.region_calls import call_modes, user_target
from ..runtime.foreign_code import attempted
from ..torch_internals.attributes import DYNAMIC_MARKS
from ..torch_internals.core import PYTREE

NO_GRAD, GRAD, INFERENCE = "torch.no_grad()", "torch.enable_grad()", "torch.inference_mode()"


@dataclass(frozen=True, slots=True)
class CallSnapshot:
    """One call. ``mode`` is one of NO_GRAD, GRAD and INFERENCE; ``autocast`` are pairs of a device and a dtype's name.

    ``training`` are pairs of a module and whether it is in train mode during the call. ``around`` makes what is in force during it.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    mode: str
    autocast: tuple[tuple[str, str], ...]
    training: tuple[tuple[Any, bool], ...] = ()
    around: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext

    def call(self, function: Callable[..., Any]) -> Any:
        """Make the call with copies of the arguments, in its modes, and with the same random seed as every other call."""
        import torch

        args, kwargs = copied((self.args, self.kwargs))
        torch.manual_seed(0)
        with self._modes():
            return function(*args, **kwargs)

    @contextlib.contextmanager
    def _modes(self) -> Iterator[None]:
        before = [(part, part.training) for module, _ in self.training for part in module.modules()]
        with contextlib.ExitStack() as stack:
            stack.enter_context(in_grad_mode(self.mode))
            stack.enter_context(in_autocast(self.autocast))
            for module, training in self.training:
                module.train(training)
            try:
                with self.around():
                    yield
            finally:
                for part, training in before:
                    part.training = training

    def with_leaves(self, change: Callable[[str, Any], Any]) -> CallSnapshot:
        """The call with ``change(path, value)`` instead of each value in it."""
        pytree = PYTREE.need()
        leaves, spec = pytree.tree_flatten((self.args, self.kwargs))
        changed = [change(path, leaf) for path, leaf in zip(self._paths(), leaves, strict=True)]
        args, kwargs = pytree.tree_unflatten(changed, spec)
        return replace(self, args=args, kwargs=kwargs)

    def _paths(self) -> list[str]:
        pytree = PYTREE.need()
        return [pytree.keystr(path) for path, _ in pytree.tree_flatten_with_path((self.args, self.kwargs))[0]]

    def leaves(self) -> list[tuple[str, Any]]:
        """Where each value is in the call, and the value."""
        return list(zip(self._paths(), PYTREE.need().tree_leaves((self.args, self.kwargs)), strict=True))


def take_snapshot(args: Any, kwargs: Any) -> CallSnapshot:
    """The call that is about to be made with these arguments."""
    autocast = tuple((device, dtype) for device, dtype in call_modes()["autocast"])
    kept_args, kept_kwargs = copied((args, kwargs))
    return CallSnapshot(kept_args, kept_kwargs, grad_mode(), autocast)


def grad_mode() -> str:
    """The mode of now: NO_GRAD, GRAD or INFERENCE."""
    modes = call_modes()
    return INFERENCE if modes["inference"] else GRAD if modes["grad"] else NO_GRAD


def in_grad_mode(mode: str) -> contextlib.AbstractContextManager[None]:
    """In the body, ``mode`` (NO_GRAD, GRAD or INFERENCE) is in force."""
    import torch

    modes = {NO_GRAD: torch.no_grad, GRAD: torch.enable_grad, INFERENCE: torch.inference_mode}
    context: contextlib.AbstractContextManager[None] = modes[mode]()
    return context


@contextlib.contextmanager
def in_autocast(modes: Iterable[tuple[str, str]]) -> Iterator[None]:
    """In the body, autocast is on for types of devices, each with the name of its dtype."""
    import torch

    with contextlib.ExitStack() as stack:
        for device, dtype in modes:
            stack.enter_context(torch.autocast(device, dtype=getattr(torch, dtype.removeprefix("torch."))))
        yield


def copied(values: Any) -> Any:
    """``values`` with copies of its tensors; other objects are shared, and all where a class of the program does not let it be taken
    apart."""
    import torch

    known: dict[int, Any] = {}

    def copy_of(value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or isinstance(value, torch.nn.Parameter):
            return value
        if id(value) not in known:
            known[id(value)] = with_marks_of(value, _plain_copy(value))
        return known[id(value)]

    result = attempted(lambda: PYTREE.need().tree_map(copy_of, values))
    return values if result is None else result


def _plain_copy(value: Any) -> Any:
    import torch

    if type(value) is not torch.Tensor:
        return copy.deepcopy(value.detach())
    return value.detach().clone()


def with_marks_of(original: Any, copy_: Any) -> Any:
    """``copy_`` with the ``requires_grad`` of ``original``, and with the attributes that ``mark_dynamic`` and its like set on it."""
    for name, value in vars(original).items():
        if name.startswith(DYNAMIC_MARKS):
            setattr(copy_, name, copy.copy(value))
    return copy_.requires_grad_(original.requires_grad)


class ArgumentNames:
    """The names of values in a call, as its user knows them: ``x``, ``sizes[0]``, ``options['causal']``."""

    def __init__(self, function: Any) -> None:
        import torch

        target = user_target(function)
        self.target = target.forward if isinstance(target, torch.nn.Module) else target
        try:
            self.signature: inspect.Signature | None = inspect.signature(self.target)
        except (TypeError, ValueError):
            self.signature = None

    def of(self, path: str) -> str:
        """The name of the value at ``path``, a ``keystr`` of (positional arguments, keyword arguments)."""
        side, _, rest = path.removeprefix("[").partition("]")
        first, _, inner = rest.removeprefix("[").partition("]")
        if side == "1":
            return first.strip("'\"") + inner
        positional = self._positional()
        number = int(first)
        if number < len(positional):
            return positional[number] + inner
        return f"argument {number + 1}{inner}"

    def _positional(self) -> list[str]:
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = self.signature.parameters.values() if self.signature is not None else ()
        return [parameter.name for parameter in parameters if parameter.kind in kinds]

    def optional(self, snapshot: CallSnapshot) -> Iterator[tuple[inspect.Parameter, bool]]:
        """Parameters that have a default, and whether the call passes them."""
        if self.signature is None:
            return
        positional = self._positional()[: len(snapshot.args)]
        for parameter in self.signature.parameters.values():
            if parameter.default is not inspect.Parameter.empty:
                yield parameter, parameter.name in positional or parameter.name in snapshot.kwargs

    def with_value(self, snapshot: CallSnapshot, name: str, value: Any) -> CallSnapshot:
        """The call with ``value`` for parameter ``name``."""
        positional = self._positional()[: len(snapshot.args)]
        if name in positional:
            number = positional.index(name)
            return replace(snapshot, args=(*snapshot.args[:number], value, *snapshot.args[number + 1 :]))
        return replace(snapshot, kwargs={**snapshot.kwargs, name: value})

    def value(self, snapshot: CallSnapshot, name: str) -> Any:
        """What the call passes for parameter ``name``."""
        positional = self._positional()[: len(snapshot.args)]
        return snapshot.args[positional.index(name)] if name in positional else snapshot.kwargs[name]
