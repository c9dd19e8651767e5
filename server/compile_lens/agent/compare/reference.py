"""Copies of a graph that eager and fp64 run, of its inputs, and of the random state of its call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..torch_internals.attributes import is_mutable, storage_identity
from ..torch_internals.core import PYTREE, TORCH_DISPATCH_MODE

LOW = {"half", "bfloat16", "float"}
LOW_PRECISION = re.compile(r"bfloat16|float16|half|autocast")


class NotComparable(Exception):
    """A graph cannot be compared; its text says why, as a clause."""


def eager_graph(graph_module: Any) -> Any:
    """A copy of the graph, made before a backend changes it. It shares parameters and constants with the original."""
    import copy

    import torch

    return torch.fx.GraphModule(graph_module, copy.deepcopy(graph_module.graph))


def fp64_graph(graph_module: Any) -> Any:
    """A copy in which every floating-point value is fp64: constants, conversions and new tensors. Autocast is off.

    It goes further than ``cast_dtype_args_to_fp64`` (torch/_dynamo/debug_utils.py, torch 2.13), which leaves
    ``x.to(torch.bfloat16)``: with a reference that rounds where eager rounds, rounding that Inductor avoids would count as an error.
    """
    import copy

    import torch

    module = copy.deepcopy(graph_module)
    for found in module.modules():
        if isinstance(found, torch.fx.GraphModule):
            _widen(found)
    return module.to(torch.float64)


def _widen(module: Any) -> None:
    import torch

    def wide(value: Any) -> Any:
        return torch.float64 if isinstance(value, torch.dtype) and value.is_floating_point else value

    for node in module.graph.nodes:
        if node.op == "call_method" and node.target in LOW:
            node.target = "double"
        named = getattr(node.target, "__name__", "")
        if node.op == "call_function" and named == "_enter_autocast":
            device = node.args[0] if node.args else "cpu"
            node.args, node.kwargs = (device, None, False, None), {}
        elif node.op in ("call_function", "call_method") and node.target != "view":
            node.args = torch.fx.node.map_aggregate(node.args, wide)
            node.kwargs = torch.fx.node.map_aggregate(node.kwargs, wide)
    module.recompile()


def copied(arguments: Sequence[Any], dtype: Any = None) -> list[Any]:
    """Copies without autograd history that share memory with each other as the originals do. ``dtype`` converts floating-point ones.

    Raises NotComparable.
    """
    import torch

    memory: dict[int, Any] = {}
    copies: dict[int, Any] = {}
    for argument in arguments:
        if not isinstance(argument, torch.Tensor) or id(argument) in copies:
            continue
        _check(argument)
        wanted = dtype if dtype is not None and argument.is_floating_point() else argument.dtype
        with torch.no_grad():
            plain = argument.detach()
            key = storage_identity(plain)
            if key not in memory:
                memory[key] = (plain.dtype, _whole(plain).to(wanted, copy=True))
            stored, whole = memory[key]
            if stored != plain.dtype:
                raise NotComparable("two inputs view the same memory with different dtypes")
            made = whole.as_strided(plain.size(), plain.stride(), plain.storage_offset())
        copies[id(argument)] = made
    return [copies.get(id(argument), argument) for argument in arguments]


def _check(tensor: Any) -> None:
    import torch

    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        raise NotComparable(f"an input is a `{type(tensor).__name__}`, a tensor subclass, which cannot be copied")
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_conj() or tensor.is_neg():
        raise NotComparable("an input is sparse, quantized or a lazy view, which cannot be copied")
    if tensor.device.type not in ("cpu", "cuda"):
        raise NotComparable(f"an input is on device `{tensor.device.type}`; only `cpu` and `cuda` are supported")


def _whole(tensor: Any) -> Any:
    """All of the storage that a tensor views, as a flat tensor of its dtype."""
    import torch

    storage = tensor.untyped_storage()
    flat = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    return flat.set_(storage, 0, (storage.nbytes() // tensor.element_size(),), (1,))


def rounds_low(graph_module: Any, inputs: Sequence[Any]) -> bool:
    """Whether something in the graph may be in half precision, where rounding alone shows in the third digit."""
    import torch

    low = (torch.float16, torch.bfloat16)
    given = any(isinstance(value, torch.Tensor) and value.dtype in low for value in inputs)
    return given or bool(LOW_PRECISION.search(graph_module.code))


def recording_draws() -> Any:
    """A mode that keeps what random operators draw, in its ``drawn``."""
    return _draws(None)


def replaying_draws(drawn: list[Any]) -> Any:
    """A mode in which random operators return what was drawn before, so that an fp64 reference has the same noise."""
    return _draws(list(drawn))


def _draws(given: list[Any] | None) -> Any:
    import torch

    dispatch_mode: Any = TORCH_DISPATCH_MODE.need()
    pytree = PYTREE.need()

    class Draws(dispatch_mode):
        drawn: list[Any] = []  # noqa: RUF012 - each mode has a class of its own

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if torch.Tag.nondeterministic_seeded not in func.tags:
                return func(*args, **(kwargs or {}))
            if given is None:
                result = func(*args, **(kwargs or {}))
                self.drawn.append((str(func), pytree.tree_map_only(torch.Tensor, torch.clone, result)))
                return result
            name, value = given.pop(0) if given else ("", None)
            if name != str(func):
                raise NotComparable(f"`{func}` draws different random numbers in fp64")
            return _replayed(func, args, value)

    return Draws()


def _replayed(func: Any, args: Any, value: Any) -> Any:
    import torch

    if func is torch.ops.aten.native_dropout.default:
        mask = value[1]
        return args[0] * mask / (1 - args[1]), mask
    if not isinstance(value, torch.Tensor):
        raise NotComparable(f"what `{func}` draws cannot be repeated in fp64")
    if is_mutable(func):
        return args[0].copy_(value)
    return value.to(torch.float64) if value.is_floating_point() else value


class RandomState:
    """The state of the random number generators of the CPU and, once CUDA runs, of the current GPU."""

    def __init__(self) -> None:
        import torch

        self._cpu = torch.random.get_rng_state()
        self._gpu = torch.cuda.get_rng_state() if torch.cuda.is_initialized() else None

    def restore(self) -> None:
        """Set the generators to this state."""
        import torch

        torch.random.set_rng_state(self._cpu)
        if self._gpu is not None:
            torch.cuda.set_rng_state(self._gpu)

    def __eq__(self, other: object) -> bool:
        import torch

        if not isinstance(other, RandomState):
            return NotImplemented
        same_gpu = self._gpu is None or other._gpu is None or torch.equal(self._gpu, other._gpu)
        return torch.equal(self._cpu, other._cpu) and same_gpu

    __hash__ = None  # type: ignore[assignment]
