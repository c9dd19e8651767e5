"""Every operator of ``cuda`` tensors, done by the CPU's kernel on twins of them.

Below autograd, autocast and every mode: what Python, Dynamo and autograd meet are tensors of ``cuda``, treated as such.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

import torch

from ..notes import Told
from . import memory, recurrent
from .generators import Devices
from .native import State

# composites whose C++ looks at the device, or that choose a kernel which the CPU has not
CHOOSING = (
    "aten::copy_",
    "aten::convolution",
    "aten::convolution_backward",
    "aten::convolution_overrideable",
    "aten::_efficientzerotensor",
)
# what the CPU's kernel does to any tensor, as it is about sizes alone, or a result that must share the storage of the argument
ANY_DEVICE = frozenset(
    {
        "aten::set_.source_Storage",
        "aten::set_.source_Storage_storage_offset",
        "aten::set_.source_Tensor",
        "aten::view",
        "aten::as_strided",
        "aten::_reshape_alias",
        "aten::unfold",
    }
)

ON_CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
_libraries: list[Any] = []


def install(state: State, generators: Devices | None, told: Told) -> None:
    """Register for every operator that the CPU has, and for those that come later, such as custom operators."""
    bridge = Bridge(state, generators, told)
    here: Any = torch._dynamo.disable(bridge.call)
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(here, "CUDA")
    _libraries.append(everything)
    libraries: dict[str, Any] = {}
    known = [
        *torch._C._dispatch_get_registrations_for_dispatch_key("CPU"),
        *torch._C._dispatch_get_registrations_for_dispatch_key("CUDA"),
        *CHOOSING,
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where torch has kernels for the device, that they are replaced
        for name in dict.fromkeys(known):
            space, _, rest = name.partition("::")
            if space not in libraries:
                libraries[space] = torch.library.Library(space, "IMPL")
            through = _directly if name in ANY_DEVICE else here
            libraries[space].m.impl(rest, "CUDA", _named(through, space, rest), False)
        for name in (
            "_use_cudnn_ctc_loss",
            "_use_cudnn_ctc_loss.Tensor",
            "_use_miopen_ctc_loss",
            "_use_miopen_ctc_loss.Tensor",
        ):
            with contextlib.suppress(RuntimeError):  # an operator that this torch has not
                libraries["aten"].m.impl(name, "CUDA", lambda *arguments: False, False)
        libraries["aten"].m.impl("_pin_memory", "CPU", _pinning(state), False)
        recurrent.register(libraries["aten"])
    _libraries.extend(libraries.values())


def _directly(operator: Any, *arguments: Any, **named: Any) -> Any:
    return operator.redispatch(ON_CPU, *arguments, **named)


def _pinning(state: State) -> Callable[..., Any]:
    """A copy in memory that says to be pinned (``isPinnedPtr`` among the hooks)."""

    def pin_memory(tensor: torch.Tensor, device: Any = None) -> torch.Tensor:
        copied = torch.ops.aten.clone.default(tensor)
        state.pinned.add(copied.untyped_storage().data_ptr())
        return copied

    return pin_memory


def _named(here: Callable[..., Any], space: str, name: str) -> Callable[..., Any]:
    """The kernel of one operator, which is looked up when it is first called: there are thousands, and few are used."""
    operator: Any = None

    def kernel(*arguments: Any, **named: Any) -> Any:
        nonlocal operator
        if operator is None:
            base, _, overload = name.partition(".")
            operator = getattr(getattr(getattr(torch.ops, space), base), overload or "default")
        return here(operator, *arguments, **named)

    return kernel


class Bridge:
    """Takes a call of an operator to the CPU and brings the result back."""

    def __init__(self, state: State, generators: Devices | None, told: Told) -> None:
        self._state = state
        self._told: Told | None = told  # until it has told
        self._generators = generators

    def call(self, operator: Any, *arguments: Any, **named: Any) -> Any:
        """Do ``operator``. Raises what the CPU's kernel raises."""
        if self._told is not None:
            self._told.used()
            self._told = None
        crossing = Crossing(self._state.current)
        taken = [crossing.there(value) for value in arguments]
        taken_names = {name: crossing.there(value) for name, value in named.items()}
        if crossing.generators and self._generators:
            with self._generators.of_cpu(crossing.generators):
                return crossing.back(operator(*taken, **taken_names))
        try:
            return crossing.back(operator(*taken, **taken_names))
        except RuntimeError as problem:
            if "resiz" not in str(problem):
                raise
        # the memory under a twin is not its own: what is to grow gets some that is
        crossing.own_memory_for(_written(operator, arguments, named))
        taken = [crossing.there(value) for value in arguments]
        taken_names = {name: crossing.there(value) for name, value in named.items()}
        result = operator(*taken, **taken_names)
        crossing.give_memory_back()
        return crossing.back(result)


def _written(operator: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> list[torch.Tensor]:
    """The tensors of the device that ``operator`` writes to."""
    found: list[torch.Tensor] = []
    for place, argument in enumerate(operator._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = arguments[place] if place < len(arguments) else named.get(argument.name)
        found.extend(one for one in (value if isinstance(value, (list, tuple)) else [value]) if _is_of_device(one))
    return found


def _is_of_device(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "cuda"


class Crossing:
    """One call: which twin belongs to which tensor."""

    def __init__(self, index: int) -> None:
        self._index = index
        self._twins: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # id of a tensor → it, and its twin
        self._to_cpu = False  # the caller names the CPU
        self.generators: list[torch.Generator] = []
        self._owning: list[torch.Tensor] = []
        self._storages: dict[int, torch.Tensor] = {}  # address of a storage → a tensor of the device over it

    def there(self, value: Any) -> Any:
        """``value`` as the CPU's kernel is to get it."""
        if isinstance(value, torch.Tensor):
            return self._twin(value) if value.device.type == "cuda" else value
        if isinstance(value, torch.device):
            if value.type != "cuda":
                self._to_cpu = value.type == "cpu"
                return value
            self._index = self._index if value.index is None else value.index
            return torch.device("cpu")
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.there, value))
        if isinstance(value, torch.Generator) and value.device.type == "cuda":
            self.generators.append(value)
        return value

    def _twin(self, tensor: torch.Tensor) -> torch.Tensor:
        known = self._twins.get(id(tensor))
        if known is not None:
            return known[1]
        made = memory.twin(tensor)
        self._index = tensor.device.index
        self._twins[id(tensor)] = tensor, made
        if address := made.untyped_storage().data_ptr():
            self._storages[address] = tensor
        return made

    def own_memory_for(self, tensors: list[torch.Tensor]) -> None:
        """Give ``tensors`` twins with memory of their own, which can be made larger."""
        for tensor in tensors:
            self._owning.append(tensor)
            self._twins[id(tensor)] = tensor, torch.ops.aten.clone.default(memory.twin(tensor))

    def give_memory_back(self) -> None:
        """Let the tensors have what has become of those twins."""
        for tensor in self._owning:
            tensor.data = memory.on_device(self._twins[id(tensor)][1], self._index)

    def back(self, result: Any) -> Any:
        """``result`` of the CPU's kernel as the caller is to get it."""
        if isinstance(result, torch.Tensor):
            return self._tensor_back(result)
        if isinstance(result, (list, tuple)):
            return type(result)(map(self.back, result))
        return result

    def _tensor_back(self, result: torch.Tensor) -> torch.Tensor:
        if self._to_cpu:
            return result
        for tensor, twin in self._twins.values():
            if twin is result:
                return tensor
        if result.device.type != "cpu":
            return result
        shared = self._storages.get(result.untyped_storage().data_ptr())
        if shared is not None and shared.dtype == result.dtype:
            return torch._C._dynamo.guards._reinterpret_tensor(
                shared, result.shape, result.stride(), result.storage_offset() - shared.storage_offset()
            )
        return memory.on_device(result, self._index)
