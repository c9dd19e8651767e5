"""Runs every operator on ``cuda`` tensors with the CPU kernel on CPU aliases of them.

This is below autograd, autocast and every mode: Python, Dynamo and autograd see ``cuda`` tensors and treat them as such.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any, Protocol

import torch

from ...torch_internals.core import KERNELS_OF_KEY, operator_schema
from ..notes import StandInNotes
from . import attention, memory, nested, products, recurrent, sparse
from .generators import GeneratorDevices
from .native import EmulatedDevices

# composites whose C++ checks the device, or that choose a kernel that the CPU lacks
DEVICE_DEPENDENT_COMPOSITES = (
    "aten::copy_",
    "aten::convolution",
    "aten::convolution_backward",
    "aten::convolution_overrideable",
    "aten::_efficientzerotensor",
)
# the CPU kernel accepts any tensor: it only changes sizes, or the result must share the storage of the argument
DEVICE_INDEPENDENT = frozenset(
    {
        "aten::set_.source_Storage",
        "aten::set_.source_Storage_storage_offset",
        "aten::set_.source_Tensor",
        "aten::view",
        "aten::as_strided",
        "aten::_reshape_alias",
        "aten::unfold",
        "aten::_nested_view_from_buffer",
    }
)

READERS = sparse.READERS | nested.READERS
ON_CPU = torch.DispatchKeySet(torch.DispatchKey.CPU)
_libraries: list[Any] = []


class ValuePolicy(Protocol):
    """Decides which operators of the emulated device compute something."""

    def run(self, operator: Any, arguments: tuple[Any, ...], named: dict[str, Any], compute: Callable[[], Any]) -> Any:
        """The result of ``operator``: that of ``compute``, or one with other values. Raises what ``compute`` raises."""


def install(
    devices: EmulatedDevices,
    generators: GeneratorDevices | None,
    notes: StandInNotes,
    values: ValuePolicy | None = None,
) -> None:
    """Register for every operator that has a CPU kernel, and for operators added later, such as custom ones."""
    dispatch = CpuDispatch(devices, generators, notes, values)
    on_cpu: Any = torch.compiler.disable(dispatch.call)
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(on_cpu, "CUDA")
    _libraries.append(everything)
    libraries: dict[str, Any] = {}
    known = [
        *KERNELS_OF_KEY.need()("CPU"),
        *KERNELS_OF_KEY.need()("CUDA"),
        *DEVICE_DEPENDENT_COMPOSITES,
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns about each kernel that is replaced
        for name in dict.fromkeys(known):
            space, _, rest = name.partition("::")
            if space not in libraries:
                libraries[space] = torch.library.Library(space, "IMPL")
            kernel = _redispatch if name in DEVICE_INDEPENDENT else on_cpu
            libraries[space].m.impl(rest, "CUDA", _with_operator(kernel, space, rest), False)
        for key, same in {**sparse.KEYS, **nested.KEYS}.items():
            everything.fallback(on_cpu, key)
            for name in dict.fromkeys([*KERNELS_OF_KEY.need()(same), *KERNELS_OF_KEY.need()(key)]):
                space, _, rest = name.partition("::")
                if space not in libraries:
                    libraries[space] = torch.library.Library(space, "IMPL")
                kernel = _reading(key) if name in READERS else on_cpu
                libraries[space].m.impl(rest, key, _with_operator(kernel, space, rest), False)
        for name in (
            "_use_cudnn_ctc_loss",
            "_use_cudnn_ctc_loss.Tensor",
            "_use_miopen_ctc_loss",
            "_use_miopen_ctc_loss.Tensor",
        ):
            with contextlib.suppress(RuntimeError):  # an operator that this torch lacks
                libraries["aten"].m.impl(name, "CUDA", lambda *arguments: False, False)
        libraries["aten"].m.impl(
            "record_stream", "CUDA", lambda tensor, stream: None, False
        )  # no memory is reused early
        libraries["aten"].m.impl("_pin_memory", "CPU", _pinning(devices), False)
        recurrent.register(libraries["aten"])
        products.register(libraries["aten"])
        attention.register(libraries["aten"])
    _libraries.extend(libraries.values())


def _redispatch(operator: Any, *arguments: Any, **named: Any) -> Any:
    return operator.redispatch(ON_CPU, *arguments, **named)


def _reading(key: str) -> Callable[..., Any]:
    """Runs the kernel of the CPU on a sparse or nested tensor of the device."""
    kernels = nested.KERNELS if key in nested.KEYS else sparse.kernels_of(key)

    def read(operator: Any, *arguments: Any, **named: Any) -> Any:
        return operator.redispatch(kernels, *arguments, **named)

    return read


def _pinning(devices: EmulatedDevices) -> Callable[..., Any]:
    """A kernel that copies to memory reported as pinned (``isPinnedPtr`` among the hooks)."""

    def pin_memory(tensor: torch.Tensor, device: Any = None) -> torch.Tensor:
        copied = torch.ops.aten.clone.default(tensor)
        devices.pinned.add(copied.untyped_storage().data_ptr())
        return copied

    return pin_memory


def _with_operator(run: Callable[..., Any], space: str, name: str) -> Callable[..., Any]:
    """The kernel of one operator, which is looked up at its first call: there are thousands, and few are used."""
    operator: Any = None

    def kernel(*arguments: Any, **named: Any) -> Any:
        nonlocal operator
        if operator is None:
            base, _, overload = name.partition(".")
            operator = getattr(getattr(getattr(torch.ops, space), base), overload or "default")
        return run(operator, *arguments, **named)

    return kernel


class CpuDispatch:
    """Runs operators of the emulated device on the CPU."""

    def __init__(
        self,
        devices: EmulatedDevices,
        generators: GeneratorDevices | None,
        notes: StandInNotes,
        values: ValuePolicy | None,
    ) -> None:
        self._values = values
        self._devices = devices
        self._notes: StandInNotes | None = notes  # until the first use is noted
        self._generators = generators

    def call(self, operator: Any, *arguments: Any, **named: Any) -> Any:
        """Run ``operator``. Raises what the CPU kernel raises."""
        if self._notes is not None:
            self._notes.device_used()
            self._notes = None
        if self._values is None:
            return self._compute(operator, arguments, named)
        return self._values.run(operator, arguments, named, lambda: self._compute(operator, arguments, named))

    def _compute(self, operator: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        call = OperatorCall(self._devices.current)
        taken = [call.to_cpu(value) for value in arguments]
        taken_names = {name: call.to_cpu(value) for name, value in named.items()}
        if call.generators and self._generators:
            with self._generators.as_cpu(call.generators):
                return call.from_cpu(operator(*taken, **taken_names))
        try:
            return call.from_cpu(operator(*taken, **taken_names))
        except RuntimeError as problem:
            if "resiz" not in str(problem):
                raise
        # an alias does not own its memory and cannot grow: give the tensors that are written to their own
        call.give_own_memory(written_tensors(operator, arguments, named))
        taken = [call.to_cpu(value) for value in arguments]
        taken_names = {name: call.to_cpu(value) for name, value in named.items()}
        result = operator(*taken, **taken_names)
        call.write_back()
        return call.from_cpu(result)


def written_tensors(operator: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> list[torch.Tensor]:
    """The tensors on the emulated device that ``operator`` writes to."""
    found: list[torch.Tensor] = []
    for place, argument in enumerate(operator_schema(operator).arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = arguments[place] if place < len(arguments) else named.get(argument.name)
        found.extend(one for one in (value if isinstance(value, (list, tuple)) else [value]) if _is_on_device(one))
    return found


def _is_on_device(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "cuda"


class OperatorCall:
    """One call of an operator: its tensors and their CPU aliases."""

    def __init__(self, index: int) -> None:
        self._index = index
        self._aliases: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # id of a tensor → the tensor and its alias
        self._to_cpu = False  # the caller asks for a result on the CPU
        self.generators: list[torch.Generator] = []
        self._owning: list[torch.Tensor] = []
        self._storages: dict[int, torch.Tensor] = {}  # address of a storage → a tensor on the device over it

    def to_cpu(self, value: Any) -> Any:
        """``value`` as the CPU kernel takes it."""
        if isinstance(value, torch.Tensor):
            return self._alias(value) if value.device.type == "cuda" else value
        if isinstance(value, torch.device):
            if value.type != "cuda":
                self._to_cpu = value.type == "cpu"
                return value
            self._index = self._index if value.index is None else value.index
            return torch.device("cpu")
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.to_cpu, value))
        if isinstance(value, torch.Generator) and value.device.type == "cuda":
            self.generators.append(value)
        return value

    def _alias(self, tensor: torch.Tensor) -> torch.Tensor:
        known = self._aliases.get(id(tensor))
        if known is not None:
            return known[1]
        has_memory = tensor.layout is torch.strided
        if not has_memory:
            made = sparse.with_parts(tensor, torch.device("cpu"), memory.cpu_alias)
        elif tensor.is_nested:
            made = nested.over(memory.flat(memory.cpu_storage(tensor), tensor.dtype), tensor)
        else:
            made = memory.cpu_alias(tensor)
        self._index = tensor.device.index
        self._aliases[id(tensor)] = tensor, made
        if has_memory and (address := made.untyped_storage().data_ptr()):
            self._storages[address] = tensor
        return made

    def give_own_memory(self, tensors: list[torch.Tensor]) -> None:
        """Give ``tensors`` copies in place of aliases, which can be resized."""
        for tensor in tensors:
            self._owning.append(tensor)
            self._aliases[id(tensor)] = tensor, torch.ops.aten.clone.default(memory.cpu_alias(tensor))

    def write_back(self) -> None:
        """Replace the data of those tensors by that of their copies."""
        for tensor in self._owning:
            tensor.data = memory.to_device(self._aliases[id(tensor)][1], self._index)

    def from_cpu(self, result: Any) -> Any:
        """The ``result`` of the CPU kernel as the caller expects it."""
        if isinstance(result, torch.Tensor):
            return self._tensor_from_cpu(result)
        if isinstance(result, (list, tuple)):
            return type(result)(map(self.from_cpu, result))
        return result

    def _tensor_from_cpu(self, result: torch.Tensor) -> torch.Tensor:
        if self._to_cpu:
            return result
        for tensor, alias in self._aliases.values():
            if alias is result:
                if tensor.layout is not torch.strided:
                    sparse.write_back(tensor, sparse.with_parts(result, tensor.device, self._tensor_from_cpu))
                return tensor
        if result.device.type != "cpu":
            return result
        if result.layout is not torch.strided:
            return sparse.with_parts(result, torch.device("cuda", self._index), self._tensor_from_cpu)
        shared = self._storages.get(result.untyped_storage().data_ptr())
        if shared is not None and shared.dtype != result.dtype:
            shared = None
        if result.is_nested:
            own = (
                memory.to_device(memory.flat(result.untyped_storage(), result.dtype), self._index)
                if shared is None
                else shared
            )
            return nested.over(memory.flat(own.untyped_storage(), result.dtype), result)
        if shared is None:
            return memory.to_device(result, self._index)
        if shared.is_nested:
            shared = memory.flat(shared.untyped_storage(), shared.dtype)
        return memory.reinterpret(
            shared, result.shape, result.stride(), result.storage_offset() - shared.storage_offset()
        )
