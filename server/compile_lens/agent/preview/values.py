"""Decides which operators of the emulated GPU compute something in a preview: those on little data.

The others give tensors of zeros with the sizes and strides that the GPU's would have, so that a model for 80 GB runs in a second. What
is computed from them is remembered; a program that reads such a value goes on with an assumption, which is told.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from ..substitutes.cuda import memory
from ..substitutes.cuda.operators import written_tensors
from ..torch_internals.core import FAKE_TENSOR_MODE, HAS_KERNEL_FOR_KEY, operator_schema
from .notes import PreviewNotes

# elements of arguments and results together; a product of matrices of that size takes a tenth of a second
MOST_ELEMENTS = 1 << 20
READS_VALUE = frozenset({"aten::_local_scalar_dense", "aten::is_nonzero", "aten::equal", "aten::item"})


class CheapValues:
    """Computes what is cheap, and assumes the rest."""

    def __init__(self, notes: PreviewNotes) -> None:
        self._notes = notes
        self._assumed: set[int] = set()  # addresses of storages

    def run(self, operator: Any, arguments: tuple[Any, ...], named: dict[str, Any], compute: Callable[[], Any]) -> Any:
        """The result of ``operator``. Raises what ``compute`` raises for values that were computed."""
        tensors = [value for value in _flat((arguments, named)) if isinstance(value, torch.Tensor)]
        is_assumed = any(self._address(tensor) in self._assumed for tensor in tensors)
        schema = operator_schema(operator)
        if schema.name in READS_VALUE:
            if is_assumed:
                self._notes.value_assumed()
            return compute()
        if _size(tensors, arguments) > MOST_ELEMENTS:
            try:
                return self._assume(operator, schema, arguments, named)
            except (RuntimeError, NotImplementedError):
                pass  # a size that depends on values, or an operator that has no fake implementation
        try:
            result = compute()
        except (RuntimeError, ValueError, IndexError):
            # values that nobody computed are no values of the program's; and what has no kernel for a CPU computes nothing
            if not is_assumed and not _lacks_kernel(operator):
                raise
            return self._assume(operator, schema, arguments, named)
        self._remember(result, is_assumed)
        return result

    def assume(self, values: Any) -> None:
        """The tensors among ``values`` have been written to by something that was not run."""
        for value in _flat(values):
            if isinstance(value, torch.Tensor):
                self._assumed.add(self._address(value))

    def _assume(self, operator: Any, schema: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        written = written_tensors(operator, arguments, named)
        if written and all(tensor.numel() for tensor in written):
            self.assume(written)
            if all(result.alias_info is not None for result in schema.returns):
                return _in_place_result(schema, arguments, named)
        fakes: dict[int, tuple[Any, Any]] = {}
        with _fake_mode():
            result = operator(*_map(arguments, fakes, _to_fake), **_map(named, fakes, _to_fake))
        originals = {id(fake): original for original, fake in fakes.values()}
        for original, fake in fakes.values():
            if original.shape != fake.shape:  # an empty result that the operator resizes
                original.data = self._real(fake)
        return _map(result, {}, lambda value, _: originals[id(value)] if id(value) in originals else self._real(value))

    def _real(self, fake: torch.Tensor) -> torch.Tensor:
        shape, strides = tuple(fake.shape), tuple(fake.stride())
        if fake.device.type != "cuda":
            self._notes.value_assumed()
            made = torch.ops.aten.empty_strided.default(shape, strides, dtype=fake.dtype, device="cpu")
            return torch.ops.aten.zero_.default(made)
        made = memory.zeros(shape, strides, fake.dtype, fake.device.index or 0)
        self._assumed.add(self._address(made))
        return made

    def _remember(self, result: Any, is_assumed: bool) -> None:
        for value in _flat(result):
            if not isinstance(value, torch.Tensor):
                continue
            if value.device.type != "cuda":
                if is_assumed:
                    self._notes.value_assumed()
            elif is_assumed:
                self._assumed.add(self._address(value))
            else:
                self._assumed.discard(self._address(value))  # memory that was freed and given out again

    @staticmethod
    def _address(tensor: torch.Tensor) -> int:
        return int(tensor.untyped_storage().data_ptr()) if tensor.layout is torch.strided else 0


def _size(tensors: list[torch.Tensor], arguments: tuple[Any, ...]) -> int:
    """How many elements an operator reads and writes, as far as that is seen without running it."""
    sizes = next(
        (value for value in arguments if isinstance(value, (list, tuple)) and value and isinstance(value[0], int)), ()
    )
    longest = max((tensor.dim() for tensor in tensors), default=0)
    together: int = 1
    for place in range(1, longest + 1):
        together *= max(tensor.shape[-place] if tensor.dim() >= place else 1 for tensor in tensors)
    return int(sum(tensor.numel() for tensor in tensors) + max(math.prod(sizes), together if len(tensors) > 1 else 0))


def _lacks_kernel(operator: Any) -> bool:
    return not HAS_KERNEL_FOR_KEY.need()(operator.name(), "CPU")


def _in_place_result(schema: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What an operator returns that returns the tensors it writes to."""
    given = {
        argument.name: arguments[place] if place < len(arguments) else named.get(argument.name)
        for place, argument in enumerate(schema.arguments)
    }
    results = [
        given[argument.name]
        for result in schema.returns
        for argument in schema.arguments
        if argument.alias_info is not None and argument.alias_info.before_set & result.alias_info.before_set
    ]
    if not results:
        return None
    return results[0] if len(schema.returns) == 1 else tuple(results)


@functools.cache
def _fake_mode() -> Any:
    return FAKE_TENSOR_MODE.need()(allow_non_fake_inputs=True)


def _to_fake(tensor: torch.Tensor, fakes: dict[int, tuple[Any, Any]]) -> torch.Tensor:
    if id(tensor) not in fakes:
        made = torch.empty_strided(tuple(tensor.shape), tensor.stride(), dtype=tensor.dtype, device=tensor.device)
        fakes[id(tensor)] = tensor, made
    return fakes[id(tensor)][1]


def _map(value: Any, fakes: dict[int, tuple[Any, Any]], change: Callable[..., Any]) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value, fakes)
    if isinstance(value, (list, tuple)):
        return type(value)(_map(one, fakes, change) for one in value)
    if isinstance(value, dict):
        return {name: _map(one, fakes, change) for name, one in value.items()}
    return value


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _flat(one)
    elif isinstance(value, dict):
        yield from _flat(tuple(value.values()))
    else:
        yield value
