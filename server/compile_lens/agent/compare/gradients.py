"""What each backward of a run computes, wherever in the program it starts.

A backward gives one note with the gradients of all parameters and other leaves that any backward has reached so far, or those that it
returned. Compiled code reaches leaves in another order than eager does, so each gradient stands for itself: a norm and two projections,
with which it is found again in another run. Gradients of zeros are left out: compiled code has them where eager has None.
"""

from __future__ import annotations

import base64
import threading
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..instrument.trace_sink import write_note
from ..runtime.degraded import degraded
from ..torch_internals.core import RUN_BACKWARD, TRACING_CONTEXT
from .region_results import NOTE, flattened

# backwards of a run, gradients of one, nodes of its graph, and numbers of one gradient that are read
MAX_BACKWARDS = 64
MAX_GRADIENTS = 1000
MAX_NODES = 100_000
MAX_NUMBERS = 65_536
_LOST = "the comparison of gradients outside regions"


def install() -> None:
    """Note every backward from now on."""
    RUN_BACKWARD.wrap(_Backwards().watched)


class _Backwards:
    """The backwards of a run. ``_leaves`` are weak references to what they have reached, by identity."""

    def __init__(self) -> None:
        self._number = 0
        self._leaves: dict[int, weakref.ref[Any]] = {}
        self._open = threading.local()

    def watched(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """``original``, which also notes what it leaves."""

        def run_backward(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            # a backward within another one is part of it, and torch traces backwards of its own while it compiles
            if getattr(self._open, "is_running", False) or _is_tracing() or self._number >= MAX_BACKWARDS:
                return original(outputs, *args, **kwargs)
            self._open.is_running = True
            try:
                self._reach(outputs)
                result = original(outputs, *args, **kwargs)
            finally:
                self._open.is_running = False
            self._note(self._gradients() if kwargs.get("accumulate_grad") else result)
            return result

        return run_backward

    def _reach(self, outputs: Any) -> None:
        try:
            for leaf in _leaves_of(outputs):
                known = self._leaves.get(id(leaf))
                if known is None or known() is not leaf:
                    self._leaves[id(leaf)] = weakref.ref(leaf)
        except Exception as error:  # tensors and functions of the user's, of any class
            degraded(_LOST, error)

    def _gradients(self) -> Iterator[Any]:
        for reference in list(self._leaves.values()):
            leaf = reference()
            if leaf is not None:
                yield leaf.grad

    def _note(self, gradients: Iterable[Any]) -> None:
        self._number += 1
        try:
            said = [each for gradient in gradients if gradient is not None for each in _described(gradient)]
            if len(said) <= MAX_GRADIENTS:
                write_note(NOTE, {"call": "", "backward": True, "values": said, "changed": []})
        except Exception as error:  # tensors of the user's, of any class
            degraded(_LOST, error)


def _is_tracing() -> bool:
    context = TRACING_CONTEXT.get()
    return context is not None and context.try_get() is not None


def _leaves_of(outputs: Any) -> Iterator[Any]:
    """The leaves that a backward from ``outputs`` reaches: tensors, or edges of the graph."""
    yield from (output for output in outputs if getattr(output, "is_leaf", False) and output.requires_grad)
    found = [getattr(output, "node", None) or getattr(output, "grad_fn", None) for output in outputs]
    nodes = [node for node in found if node is not None]
    seen = set(nodes)
    while nodes and len(seen) < MAX_NODES:
        node = nodes.pop()
        if type(node).__name__ == "AccumulateGrad":
            yield node.variable
        fresh = [following for following, _ in node.next_functions if following is not None and following not in seen]
        seen.update(fresh)
        nodes += fresh


def _described(gradient: Any) -> Iterator[dict[str, Any]]:
    """A gradient as a note, unless it is zero: where it points, and how long it is."""
    import torch

    if gradient.device.type == "meta":
        return
    flat = flattened(gradient)
    with torch.no_grad():
        some = flat[:: max(1, -(-flat.numel() // MAX_NUMBERS))].double()
        places = torch.arange(1, some.numel() + 1, dtype=torch.float64, device="cpu")
        scale = max(1, some.numel()) ** 0.5
        numbers = [float(some.norm()), *(float(some @ (places * factor).cos()) / scale for factor in (1.0, 0.37))]
    if numbers[0] == 0:
        return
    yield {
        "kind": "gradient",
        "dtype": str(gradient.dtype),
        "shape": list(gradient.shape),
        "numbers": base64.b64encode(array("d", numbers).tobytes()).decode("ascii"),
    }
