"""What a program computes with its compile regions, in a form that another run of almost the same program can be compared with.

Each outermost call of a region gives one note: its results, and the tensors that it changed in place. A note at the end has the
parameters, buffers and gradients of the modules that were compiled; ``gradients`` notes those of all others. Large tensors give some of
their numbers and a digest of all.
"""

from __future__ import annotations

import base64
import hashlib
import random
import sys
import threading
from array import array
from collections.abc import Callable
from typing import Any

from ..instrument.region_calls import user_target, with_hooks
from ..instrument.trace_sink import write_note
from ..runtime.degraded import degraded_if_it_fails
from ..torch_internals.core import PYTREE
from ..torch_internals.inductor import FALLBACK_RANDOM

NOTE = "compile_lens_results"
SEED = 0
# numbers of one tensor, of all tensors of a run, values of one call, and calls
MAX_NUMBERS = 2048
MAX_ALL_NUMBERS = 200_000
MAX_VALUES = 64
MAX_CALLS = 256
MAX_TEXT = 200
PLAIN = (bool, int, float, complex, str, type(None))


class RegionResults:
    """The watcher of the regions of a run whose results are asked for."""

    def __init__(self, is_eager: bool) -> None:
        self._numbers_left = MAX_ALL_NUMBERS
        self._calls = 0
        self._open = threading.local()
        self._modules: dict[int, Any] = {}
        self._leaves: dict[int, Any] = {}
        self._begin(is_eager)

    def _begin(self, is_eager: bool) -> None:
        """Draw the same random numbers in each run, also in graphs that are lowered; ``is_eager``: compile nothing."""
        import torch

        FALLBACK_RANDOM.set(True)

        random.seed(SEED)
        torch.manual_seed(SEED)
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            numpy.random.seed(SEED)
        if is_eager:
            torch.compiler.set_stance("force_eager")

    def region_begins(self, region: int) -> None:
        """Nothing is known of it yet."""

    def wrap(self, region: int, compiled: Callable[..., Any], fn: Callable[..., Any]) -> Callable[..., Any]:
        """``fn`` with a hook that notes what its outermost calls give."""
        return with_hooks(fn, lambda args, kwargs: self._before(fn, args, kwargs), self._after, self._failed)

    def _before(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        depth = getattr(self._open, "depth", 0)
        self._open.depth = depth + 1
        if depth or self._calls >= MAX_CALLS:
            return None
        # arguments of the user's, whose attributes may raise anything
        with degraded_if_it_fails("the results of a region"):
            import torch

            target = user_target(fn)
            if isinstance(target, torch.nn.Module):
                self._modules.setdefault(id(target), target)
            given = [value for value in _leaves((args, kwargs)) if isinstance(value, torch.Tensor)]
            for value in given:
                if value.requires_grad and value.is_leaf and len(self._leaves) < MAX_VALUES:
                    self._leaves.setdefault(id(value), value)
            return _name(target), [(value, _version(value)) for value in given]
        return None

    def _failed(self, state: Any) -> None:
        self._open.depth -= 1

    def _after(self, state: Any, result: Any) -> None:
        self._open.depth -= 1
        if state is None:
            return
        name, given = state
        self._calls += 1
        with degraded_if_it_fails("the results of a region"):  # results of the user's, of any class
            changed = [value for value, version in given if _version(value) != version]
            write_note(
                NOTE, {"call": name, "values": self._described(_leaves(result)), "changed": self._described(changed)}
            )

    def at_end(self) -> None:
        """What training has left: parameters, buffers and gradients."""
        with degraded_if_it_fails("the parameters after the program"):  # modules of the user's may raise anything
            tensors = [
                tensor
                for module in self._modules.values()
                for owned in (*module.parameters(), *module.buffers())
                for tensor in (owned, owned.grad)
                if tensor is not None
            ]
            gradients = [leaf.grad for leaf in self._leaves.values() if leaf.grad is not None]
            write_note(NOTE, {"call": "", "values": self._described(tensors), "changed": self._described(gradients)})

    def _described(self, values: list[Any]) -> list[dict[str, Any]]:
        return [self._description(value) for value in values[:MAX_VALUES]]

    def _description(self, value: Any) -> dict[str, Any]:
        import torch

        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if type(value).__module__ == "numpy" and hasattr(value, "dtype"):
            return {**self._tensor(torch.as_tensor(value)), "kind": "ndarray"}
        if isinstance(value, PLAIN):
            return {"kind": type(value).__name__, "text": repr(value)[:MAX_TEXT]}
        return {"kind": type(value).__qualname__}

    def _tensor(self, value: Any) -> dict[str, Any]:
        import torch

        said = {"kind": "tensor", "dtype": str(value.dtype), "shape": list(value.shape), "grad": value.requires_grad}
        if value.device.type == "meta":
            return said
        dense = flattened(value)
        raw = dense.view(torch.uint8) if dense.numel() else dense
        said["digest"] = hashlib.sha256(bytes(raw.tolist()) if raw.numel() <= MAX_NUMBERS else _bytes(raw)).hexdigest()[
            :16
        ]
        step = max(1, -(-dense.numel() // MAX_NUMBERS))
        numbers = dense[::step].double().tolist()
        if len(numbers) <= self._numbers_left:
            self._numbers_left -= len(numbers)
            said["numbers"] = base64.b64encode(array("d", numbers).tobytes()).decode("ascii")
            said["all"] = step == 1
        return said


def flattened(value: Any) -> Any:
    """The values of a tensor of any layout, as a flat real tensor on the CPU without autograd history."""
    import torch

    dense = value.detach()
    if dense.layout != torch.strided:
        dense = dense.to_dense()
    if dense.is_quantized:
        dense = dense.dequantize()
    dense = dense.cpu().resolve_conj().resolve_neg()
    if dense.is_complex():
        dense = torch.view_as_real(dense)
    return dense.reshape(-1).contiguous()


def _bytes(raw: Any) -> bytes:
    """The bytes of a tensor of bytes, also where NumPy is not installed."""
    try:
        return bytes(raw.numpy().tobytes())
    except RuntimeError:
        return bytes(raw.tolist())


def _leaves(value: Any) -> list[Any]:
    flatten = PYTREE.get()
    return list(flatten.tree_leaves(value)) if flatten is not None else [value]


def _version(value: Any) -> int:
    """How often a tensor was changed; an inference tensor does not count."""
    return -1 if value.is_inference() else int(value._version)


def _name(target: Any) -> str:
    return str(getattr(target, "__qualname__", type(target).__qualname__))
