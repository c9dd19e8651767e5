"""One call of a compiled graph, compared with the same call in eager and in fp64."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..instrument.trace_sink import write_note
from .numbers import WRONG, difference, identical, verdict
from .reference import NotComparable, RandomState, copied, fp64_graph, recording_draws, replaying_draws, rounds_low

NOTE = "compile_lens_comparison"
# values of one call that are listed one by one
MAX_VALUES = 8
MAX_TEXT = 4000
WORST_FIRST = ("wrong", "rounding", "bitwise")


def write_comparison(compile_id: str, result: dict[str, Any]) -> None:
    """Write the result for one graph: its status, and the values that differ or the reason that it was not compared."""
    write_note(NOTE, {"compile_id": compile_id, **result})


class ComparedGraph:
    """One graph: as eager runs it, as it was compiled and, built when first needed, as fp64 runs it."""

    def __init__(self, compile_id: str, eager: Any) -> None:
        self.compile_id = compile_id
        self.eager = eager
        self.compiled: Any = None
        self.calls = 0
        self.has_failed = False
        self.inputs = [node for node in eager.graph.nodes if node.op == "placeholder"]
        self.sources = [_source(node) for node in self.inputs]
        (output,) = (node for node in eager.graph.nodes if node.op == "output")
        self.outputs = _as_list(output.args[0])
        self._fp64: Any = None
        self._runs_in_fp64 = True

    def fp64(self) -> Any:
        """The graph in fp64, or None if it cannot run so."""
        if self._fp64 is None and self._runs_in_fp64:
            try:
                self._fp64 = fp64_graph(self.eager)
            except Exception:  # copies constants of the user's; the result says that it has no reference
                self._runs_in_fp64 = False
        return self._fp64 if self._runs_in_fp64 else None

    def discard_fp64(self) -> None:
        """Compare without a reference from now on."""
        self._runs_in_fp64 = False


@dataclass(frozen=True, slots=True)
class ValueComparison:
    """One value: what it is (``output``, ``input`` after the call, ``gradient``), its node, and how it compares.

    ``source`` is where an input comes from, as Dynamo names it (``L['x']``).
    """

    what: str
    index: int
    node: Any
    source: str
    status: str
    difference: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The value as JSON, with the lines of the program that its node comes from, and where an input comes from."""
        node = self.node if hasattr(self.node, "meta") else None
        return {
            "what": self.what,
            "index": self.index,
            "name": str(self.node),
            "source": self.source,
            "origin": str(node.meta.get("stack_trace") or "")[-MAX_TEXT:] if node is not None else "",
            **self.difference,
        }


class ComparedCall:
    """What one call needs, from before it to the end of its backward: copies of its inputs, its modes, its random state."""

    def __init__(self, graph: ComparedGraph) -> None:
        self.graph = graph
        self.number = graph.calls
        # the gradients that the program's backward starts from, by output
        self.tangents: dict[int, Any] = {}
        self._inputs: list[Any] = []
        # of each input: whether it requires a gradient, and whether it is a leaf
        self._autograd: list[tuple[bool, bool]] = []
        self._random = RandomState()
        self._modes = _Modes()
        # what the random operators of the graph drew in eager
        self._drawn: list[Any] = []
        self._rounds_low = False

    def prepare(self, arguments: Sequence[Any]) -> None:
        """Copy the inputs. Raises NotComparable."""
        import torch

        self._inputs = copied(arguments)
        self._rounds_low = self._modes.has_autocast or rounds_low(self.graph.eager, self._inputs)
        self._autograd = [
            (value.requires_grad, value.is_leaf) if isinstance(value, torch.Tensor) else (False, True)
            for value in arguments
        ]

    def compare(self, arguments: Sequence[Any], result: Any, after: RandomState) -> None:
        """Compare the outputs, and the inputs that changed. ``after`` is the random state that the compiled code left.

        Raises NotComparable.
        """
        import torch

        inputs = copied(self._inputs)
        with recording_draws() as draws:
            expected = self._run(self.graph.eager, inputs)
        self._drawn = draws.drawn
        drawn = RandomState()
        if drawn != self._random and drawn != after:
            raise NotComparable("the compiled code draws different random numbers than eager")
        fp64_inputs: list[Any] = []
        exact = self._run_in_fp64(fp64_inputs)
        got = _as_list(result)
        if len(got) != len(expected):
            raise NotComparable(f"the number of outputs differs: {len(got)} compiled, {len(expected)} in eager")
        values = [
            self._compared("output", index, value, got[index], exact[index] if exact else None)
            for index, value in enumerate(expected)
        ]
        for index, (before, mine, theirs) in enumerate(zip(self._inputs, inputs, arguments, strict=True)):
            if isinstance(before, torch.Tensor) and not (identical(before, mine) and identical(before, theirs)):
                reference = fp64_inputs[index] if fp64_inputs else None
                values.append(self._compared("input", index, mine, theirs, reference))
        if any(value.status == WRONG for value in values):
            again = self._run(self.graph.eager, copied(self._inputs))
            if any(verdict(one, other, None) == WRONG for one, other in zip(expected, again, strict=True)):
                raise NotComparable("eager itself is not deterministic")
        self._write(values, "forward", exact is not None)

    def watch_gradients(self, result: Any) -> bool:
        """Record the gradients that a backward starts from. Whether there may be a backward."""
        import torch

        may_have_backward = False
        for index, value in enumerate(_as_list(result)):
            if isinstance(value, torch.Tensor) and value.requires_grad and value.grad_fn is not None:
                value.register_hook(functools.partial(self._keep_tangent, index))
                may_have_backward = True
        return may_have_backward

    def _keep_tangent(self, index: int, gradient: Any) -> None:
        if gradient is not None:
            self.tangents[index] = gradient.detach().clone()

    def compare_gradients(self) -> None:
        """Run forward and backward of all three on copies. Raises NotComparable."""
        import torch

        with recording_draws() as draws:
            expected = self._gradients(self.graph.eager, None)
        got = self._gradients(self.graph.compiled, None)
        exact = None
        if self.graph.fp64() is not None:
            try:
                with replaying_draws(draws.drawn):
                    exact = self._gradients(self.graph.fp64(), torch.float64)
            except Exception:  # operators of any library; the result says that it has no reference
                exact = None
        values = [
            self._compared("gradient", index, value, got[index], exact[index] if exact else None)
            for index, value in enumerate(expected)
            if value is not None or got[index] is not None
        ]
        self._write(values, "backward", exact is not None)

    def _gradients(self, function: Any, dtype: Any) -> list[Any]:
        """The gradient of each input, None where there is none."""
        import torch

        leaves = copied(self._inputs, dtype)
        for leaf, (requires_grad, _) in zip(leaves, self._autograd, strict=True):
            if requires_grad:
                leaf.requires_grad_()
        # the graph may change a non-leaf in place, but not a leaf
        passed = [
            leaf.clone() if requires_grad and not is_leaf else leaf
            for leaf, (requires_grad, is_leaf) in zip(leaves, self._autograd, strict=True)
        ]
        outputs = self._run(function, passed, is_fp64=dtype is not None)
        pairs = [(outputs[index], tangent) for index, tangent in self.tangents.items() if outputs[index].requires_grad]
        found = iter(
            torch.autograd.grad(
                [value for value, _ in pairs],
                [leaf for leaf, (requires_grad, _) in zip(leaves, self._autograd, strict=True) if requires_grad],
                [tangent.to(value.dtype) for value, tangent in pairs],
                allow_unused=True,
            )
        )
        return [next(found) if requires_grad else None for requires_grad, _ in self._autograd]

    def _run(self, function: Any, inputs: Sequence[Any], is_fp64: bool = False) -> list[Any]:
        self._random.restore()
        with self._modes.restored(without_autocast=is_fp64):
            return _as_list(function(*inputs))

    def _run_in_fp64(self, inputs: list[Any]) -> list[Any] | None:
        """The outputs in fp64, with ``inputs`` filled as they are afterwards; None without a reference."""
        import torch

        if self.graph.fp64() is None:
            return None
        try:
            inputs += copied(self._inputs, torch.float64)
            with replaying_draws(self._drawn):
                return self._run(self.graph.fp64(), inputs, is_fp64=True)
        except Exception:  # operators of any library; the result says that it has no reference
            inputs.clear()
            self.graph.discard_fp64()
            return None

    def _compared(self, what: str, index: int, expected: Any, got: Any, reference: Any) -> ValueComparison:
        if getattr(reference, "shape", None) != getattr(expected, "shape", None):
            reference = None
        status = verdict(expected, got, reference, self._rounds_low)
        found = difference(expected, got, reference) if status != "bitwise" else {}
        node = (self.graph.outputs if what == "output" else self.graph.inputs)[index]
        source = "" if what == "output" else self.graph.sources[index]
        return ValueComparison(what, index, node, source, status, found)

    def _write(self, values: list[ValueComparison], direction: str, has_reference: bool) -> None:
        status = min((value.status for value in values), key=WORST_FIRST.index, default="bitwise")
        worst = [value for value in values if value.status == status != "bitwise"]
        write_comparison(
            self.graph.compile_id,
            {
                "status": status,
                "direction": direction,
                "call": self.number,
                "compared": len(values),
                "reference": has_reference,
                "values": [value.as_json() for value in worst[:MAX_VALUES]],
                "worse": len(worst),
            },
        )


class _Modes:
    """The modes of a call: gradients, inference, autocast."""

    def __init__(self) -> None:
        import torch

        self._gradients = torch.is_grad_enabled()
        self._inference = torch.is_inference_mode_enabled()
        devices = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
        self._autocast = [
            (device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in devices
        ]
        self.has_autocast = any(enabled for _, enabled, _ in self._autocast)

    @contextlib.contextmanager
    def restored(self, without_autocast: bool) -> Iterator[None]:
        import torch

        with contextlib.ExitStack() as stack:
            for device, enabled, dtype in self._autocast:
                stack.enter_context(torch.autocast(device, dtype, enabled and not without_autocast))
            stack.enter_context(torch.inference_mode(self._inference))
            stack.enter_context(torch.set_grad_enabled(self._gradients))
            yield


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _source(node: Any) -> str:
    """Where an input comes from, as Dynamo names it: ``L['x']``; '' if it does not say."""
    source = getattr(node.meta.get("grapharg"), "source", None)
    name = getattr(source, "name", "")  # a method, or a property in newer versions of torch
    return str(name() if callable(name) else name)
