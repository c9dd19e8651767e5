"""Variations of a call: inputs that a program may pass to a region next, each with a phrase that names it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .call_snapshot import GRAD, INFERENCE, NO_GRAD, ArgumentNames, CallSnapshot, with_marks_of

# at most so many of each kind
MAX_SIZES = 4
MAX_VALUES = 6
MAX_TENSORS = 4
MAX_ELEMENTS = 1 << 26
# kinds of variations: a module in train or eval mode, the grad mode, and whether an input needs a gradient
MODE, GRAD_MODE, REQUIRES_GRAD = "mode", "grad-mode", "requires-grad"
OTHER_DTYPES = {
    "float32": "bfloat16",
    "float16": "bfloat16",
    "bfloat16": "float16",
    "float64": "float32",
    "int64": "int32",
}


@dataclass(frozen=True, slots=True)
class InputVariation:
    """``phrase`` completes "with …". ``calls`` are made in order, starting from the state after the original call.

    Of those with the same ``choice``, only the first that the program accepts is made.
    """

    kind: str
    phrase: str
    calls: tuple[CallSnapshot, ...]
    choice: str = ""


def variations(base: CallSnapshot, names: ArgumentNames, modules: list[Any]) -> Iterator[InputVariation]:
    """The variations of ``base``, the likeliest first. ``modules`` are those that the region is, calls or is passed."""
    yield InputVariation("same", "the same inputs again", (base,))
    yield from _sizes(base, names)
    yield from modes(base, modules)
    yield from _values(base, names)
    yield from _optional(base, names)
    yield from _of_tensors(base, names)


def flags(base: CallSnapshot, names: ArgumentNames) -> Iterator[InputVariation]:
    """Flags that have a default and are not passed."""
    for parameter, is_given in names.optional(base):
        if not is_given and isinstance(parameter.default, bool):
            other = not parameter.default
            call = names.with_value(base, parameter.name, other)
            yield InputVariation("value", _value_phrase(parameter.name, (other,), parameter.default), (call,))


def tensors_of(base: CallSnapshot) -> list[tuple[str, Any]]:
    """The tensors in a call, with their paths."""
    import torch

    return [(path, leaf) for path, leaf in base.leaves() if isinstance(leaf, torch.Tensor)]


def _sizes(base: CallSnapshot, names: ArgumentNames) -> Iterator[InputVariation]:
    """Each size in turn, changed in all tensors that have it: a batch size is one number in many places."""
    tensors = [(path, tensor) for path, tensor in tensors_of(base) if tensor.dim() and not is_parameter(tensor)]
    if not tensors:
        return
    batch = next((tensor.shape[0] for _, tensor in tensors if tensor.dim() > 1), None)
    done: list[int] = []
    for dimension in range(max(tensor.dim() for _, tensor in tensors)):
        for path, tensor in tensors:
            if dimension >= tensor.dim() or tensor.shape[dimension] in done:
                continue
            size = tensor.shape[dimension]
            done.append(size)
            if len(done) > MAX_SIZES:
                return
            is_batch = dimension == 0 and size == batch
            what = "a batch" if is_batch else _side(names.of(path), tensor, dimension)
            others = [p for p, t in tensors if p != path and size in (t.shape[:1] if is_batch else t.shape)]
            at = others if what.startswith("`") else [path, *others]
            where = f"instead of {size}{_in([names.of(p) for p in at])}"
            larger = (size + 1, size + 2) if size > 1 else (2, 3)
            calls = tuple(_resized(base, size, other, is_batch) for other in larger)
            yield InputVariation("size", f"{what} of {larger[0]}, then {larger[1]}, {where}", calls)
            if size > 1:
                yield InputVariation("size", f"{what} of 1 {where}", (_resized(base, size, 1, is_batch),))


def _in(names: list[str]) -> str:
    return f" ({', '.join(f'`{name}`' for name in names)})" if names else ""


def _side(name: str, tensor: Any, dimension: int) -> str:
    """What a size is called: `[batch, length, channels]` and token ids have a length."""
    is_sequence = tensor.dim() == 3 if tensor.is_floating_point() else tensor.dim() == 2
    return "a length" if is_sequence and dimension == 1 else f"`{name}.shape[{dimension}]`"


def _resized(base: CallSnapshot, size: int, other: int, is_batch: bool) -> CallSnapshot:
    """The call with ``other`` wherever its tensors have ``size``; for a batch, only in their first dimension."""

    def sides(tensor: Any) -> list[int]:
        return [other if s == size and not (is_batch and n) else s for n, s in enumerate(tensor.shape)]

    return resized(base, sides)


def resized(base: CallSnapshot, sides_of: Callable[[Any], list[int]]) -> CallSnapshot:
    """The call with tensors of the sizes that ``sides_of`` has for each of its own; parameters stay as they are."""

    def change(_: str, value: Any) -> Any:
        import torch

        if not isinstance(value, torch.Tensor) or is_parameter(value):
            return value
        sides = sides_of(value)
        if sides == list(value.shape) or torch.Size(sides).numel() > MAX_ELEMENTS:
            return value
        made = value.detach()
        for number, side in enumerate(sides):
            # repeats values of the tensor, so that indices stay in range and masks stay masks
            made = made.index_select(number, torch.arange(side, device=made.device) % value.shape[number])
        return with_marks_of(value, made)

    return base.with_leaves(change)


def is_parameter(tensor: Any) -> bool:
    """Whether it is a parameter of a module, whose sizes no call changes."""
    import torch

    return isinstance(tensor, torch.nn.Parameter)


def modes(base: CallSnapshot, modules: list[Any]) -> Iterator[InputVariation]:
    """The other of train and eval mode, and the other grad modes."""
    if modules:
        training = bool(modules[0].training)
        words = "the model in eval mode" if training else "the model in train mode"
        changed = tuple((module, not training) for module in modules)
        yield InputVariation(
            MODE, f"{words} (`.{'eval' if training else 'train'}()`)", (replace(base, training=changed),)
        )
    for mode in (GRAD, NO_GRAD, INFERENCE):
        if mode != base.mode:
            yield InputVariation(GRAD_MODE, f"`{mode}` around the call", (replace(base, mode=mode),))


def _values(base: CallSnapshot, names: ArgumentNames) -> Iterator[InputVariation]:
    """Python numbers and flags: those that the call passes, and flags that have a default."""
    count = 0
    for path, leaf in base.leaves():
        steps = _other_values(leaf)
        if not steps or count >= MAX_VALUES:
            continue
        count += 1
        calls = tuple(base.with_leaves(_replacing(path, other)) for other in steps)
        yield InputVariation("value", _value_phrase(names.of(path), steps, leaf), calls)
    yield from itertools.islice(flags(base, names), MAX_VALUES - count)


def numbers(base: CallSnapshot, names: ArgumentNames) -> Iterator[tuple[str, type, InputVariation]]:
    """The numbers that the call passes, each with its name and type: whole ones counted up, others smaller."""
    for path, leaf in base.leaves():
        if type(leaf) in (int, float):
            steps = _other_values(leaf)
            calls = tuple(base.with_leaves(_replacing(path, other)) for other in steps)
            name = names.of(path)
            yield name, type(leaf), InputVariation("value", _value_phrase(name, steps, leaf), calls)


def default_numbers(base: CallSnapshot, names: ArgumentNames) -> Iterator[tuple[str, InputVariation]]:
    """The numbers that are defaults, each with its name, as in ``numbers``."""
    for parameter, is_given in names.optional(base):
        default = parameter.default
        if not is_given and type(default) in (int, float):
            steps = _other_values(default)
            calls = tuple(names.with_value(base, parameter.name, other) for other in steps)
            yield parameter.name, InputVariation("value", _value_phrase(parameter.name, steps, default), calls)


def _value_phrase(name: str, steps: tuple[Any, ...], was: Any) -> str:
    return f"`{name}={', then '.join(map(repr, steps))}` instead of `{was!r}`"


def _other_values(value: Any) -> tuple[Any, ...]:
    if type(value) is bool:
        return (not value,)
    if type(value) is int:
        return (value + 1, value + 2)
    if type(value) is float:
        return (value / 2, value / 4) if value else (0.5, 0.25)
    return ()


def _replacing(path: str, other: Any) -> Callable[[str, Any], Any]:
    return lambda at, value: other if at == path else value


def _optional(base: CallSnapshot, names: ArgumentNames) -> Iterator[InputVariation]:
    for parameter, is_given in names.optional(base):
        if is_given and parameter.default is None and names.value(base, parameter.name) is not None:
            yield InputVariation("none", f"`{parameter.name}=None`", (names.with_value(base, parameter.name, None),))


def _of_tensors(base: CallSnapshot, names: ArgumentNames) -> Iterator[InputVariation]:
    """``requires_grad`` and the dtype of each tensor, one at a time."""
    tensors = _varied_tensors(base)
    yield from gradients(base, names)
    for path, tensor in tensors:
        was = str(tensor.dtype).removeprefix("torch.")
        other = OTHER_DTYPES.get(was)
        if other is not None:
            call = base.with_leaves(_changing(path, partial(_converted, other)))
            yield InputVariation("dtype", f"`{names.of(path)}` in {other} instead of {was}", (call,))


def gradients(base: CallSnapshot, names: ArgumentNames) -> Iterator[InputVariation]:
    """``requires_grad`` of each tensor turned around, one at a time."""
    for path, tensor in _varied_tensors(base):
        if tensor.is_floating_point():
            requires_grad = not tensor.requires_grad
            call = base.with_leaves(_changing(path, partial(_with_requires_grad, requires_grad)))
            yield InputVariation(REQUIRES_GRAD, f"`{names.of(path)}.requires_grad={requires_grad}`", (call,))


def _varied_tensors(base: CallSnapshot) -> list[tuple[str, Any]]:
    return [(path, tensor) for path, tensor in tensors_of(base) if not is_parameter(tensor)][:MAX_TENSORS]


def _with_requires_grad(requires_grad: bool, tensor: Any) -> Any:
    return with_marks_of(tensor, tensor.detach()).requires_grad_(requires_grad)


def _converted(dtype: str, tensor: Any) -> Any:
    import torch

    return with_marks_of(tensor, tensor.detach().to(getattr(torch, dtype)))


def _changing(path: str, change: Callable[[Any], Any]) -> Callable[[str, Any], Any]:
    return lambda at, value: change(value) if at == path else value
