"""One call of a compiled graph, beside the same call in eager and in fp64."""

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
# of one call, the values that are told one by one
MOST_VALUES = 8
MOST_WORDS = 4000
WORST_FIRST = ("wrong", "rounding", "bitwise")


def write(compile_id: str, told: dict[str, Any]) -> None:
    """Write what was found of one graph: its status, and the reason or the values that differ."""
    write_note(NOTE, {"compile_id": compile_id, **told})


class Graph:
    """One graph: as eager runs it, as it was compiled and, made when it is first needed, as fp64 runs it."""

    def __init__(self, compile_id: str, eager: Any) -> None:
        self.compile_id = compile_id
        self.eager = eager
        self.compiled: Any = None
        self.calls = 0
        self.given_up = False
        self.inputs = [node for node in eager.graph.nodes if node.op == "placeholder"]
        self.sources = [_source(node) for node in self.inputs]
        (output,) = (node for node in eager.graph.nodes if node.op == "output")
        self.outputs = _as_list(output.args[0])
        self._wide: Any = None
        self._has_wide = True

    def wide(self) -> Any:
        """The graph in fp64, or None if it has none."""
        if self._wide is None and self._has_wide:
            try:
                self._wide = fp64_graph(self.eager)
            except Exception:
                self._has_wide = False
        return self._wide if self._has_wide else None

    def without_wide(self) -> None:
        """It does not run in fp64."""
        self._has_wide = False


@dataclass(frozen=True, slots=True)
class Judged:
    """One value: what it is (``output``, ``input`` after the call, ``gradient``), its node, and how it compares.

    ``source`` is where an input comes from, as Dynamo names it (``L['x']``).
    """

    what: str
    index: int
    node: Any
    source: str
    status: str
    difference: dict[str, Any] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        """It as JSON, with the lines of the program that its node comes from, and where an input comes from."""
        node = self.node if hasattr(self.node, "meta") else None
        return {
            "what": self.what,
            "index": self.index,
            "name": str(self.node),
            "source": self.source,
            "origin": str(node.meta.get("stack_trace") or "")[-MOST_WORDS:] if node is not None else "",
            **self.difference,
        }


class ComparedCall:
    """The copies that one call needs, from before it to the end of its backward."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.number = graph.calls
        # the gradients that the program's backward starts from, by output
        self.tangents: dict[int, Any] = {}
        self._inputs: list[Any] = []
        # of each input: whether it requires a gradient, and whether it is a leaf
        self._history: list[tuple[bool, bool]] = []
        self._random = RandomState()
        self._surroundings = _Surroundings()
        # what the random operators of the graph drew in eager
        self._drawn: list[Any] = []
        self._rounds_low = False

    def prepare(self, arguments: Sequence[Any]) -> None:
        """Copy the inputs. Raises NotComparable."""
        import torch

        self._inputs = copied(arguments)
        self._rounds_low = self._surroundings.autocast or rounds_low(self.graph.eager, self._inputs)
        self._history = [
            (value.requires_grad, value.is_leaf) if isinstance(value, torch.Tensor) else (False, True)
            for value in arguments
        ]

    def compare(self, arguments: Sequence[Any], result: Any, after: RandomState) -> None:
        """Compare the outputs, and inputs that were changed. ``after`` is the random state that the compiled code left."""
        import torch

        inputs = copied(self._inputs)
        with recording_draws() as draws:
            expected = self._run(self.graph.eager, inputs)
        self._drawn = draws.drawn
        drawn = RandomState()
        if drawn != self._random and drawn != after:
            raise NotComparable("it draws random numbers, and the compiled code draws others than eager")
        wide_inputs: list[Any] = []
        exact = self._run_wide(wide_inputs)
        got = _as_list(result)
        if len(got) != len(expected):
            raise NotComparable(f"the compiled code returns {len(got)} values, and eager {len(expected)}")
        judged = [
            self._judge("output", index, value, got[index], exact[index] if exact else None)
            for index, value in enumerate(expected)
        ]
        for index, (before, mine, theirs) in enumerate(zip(self._inputs, inputs, arguments, strict=True)):
            if isinstance(before, torch.Tensor) and not (identical(before, mine) and identical(before, theirs)):
                reference = wide_inputs[index] if wide_inputs else None
                judged.append(self._judge("input", index, mine, theirs, reference))
        if any(one.status == WRONG for one in judged):
            again = self._run(self.graph.eager, copied(self._inputs))
            if any(verdict(one, other, None) == WRONG for one, other in zip(expected, again, strict=True)):
                raise NotComparable("eager itself gives other numbers each time")
        self._tell(judged, "forward")

    def follow(self, result: Any) -> bool:
        """Be told of the gradients that a backward starts from; whether there may be one."""
        import torch

        followed = False
        for index, value in enumerate(_as_list(result)):
            if isinstance(value, torch.Tensor) and value.requires_grad and value.grad_fn is not None:
                value.register_hook(functools.partial(self._take_tangent, index))
                followed = True
        return followed

    def _take_tangent(self, index: int, gradient: Any) -> None:
        if gradient is not None:
            self.tangents[index] = gradient.detach().clone()

    def compare_gradients(self) -> None:
        """Run forward and backward of all three on copies. Raises NotComparable."""
        import torch

        with recording_draws() as draws:
            expected = self._gradients(self.graph.eager, None)
        got = self._gradients(self.graph.compiled, None)
        exact = None
        if self.graph.wide() is not None:
            with contextlib.suppress(Exception), replaying_draws(draws.drawn):
                exact = self._gradients(self.graph.wide(), torch.float64)
        judged = [
            self._judge("gradient", index, value, got[index], exact[index] if exact else None)
            for index, value in enumerate(expected)
            if value is not None or got[index] is not None
        ]
        self._tell(judged, "backward")

    def _gradients(self, function: Any, dtype: Any) -> list[Any]:
        """The gradient of each input, None where there is none."""
        import torch

        leaves = copied(self._inputs, dtype)
        for leaf, (requires_grad, _) in zip(leaves, self._history, strict=True):
            if requires_grad:
                leaf.requires_grad_()
        # what is no leaf in the program may be changed in place there, which a leaf may not
        passed = [
            leaf.clone() if requires_grad and not is_leaf else leaf
            for leaf, (requires_grad, is_leaf) in zip(leaves, self._history, strict=True)
        ]
        outputs = self._run(function, passed, is_wide=dtype is not None)
        pairs = [(outputs[index], tangent) for index, tangent in self.tangents.items() if outputs[index].requires_grad]
        found = iter(
            torch.autograd.grad(
                [value for value, _ in pairs],
                [leaf for leaf, (requires_grad, _) in zip(leaves, self._history, strict=True) if requires_grad],
                [tangent.to(value.dtype) for value, tangent in pairs],
                allow_unused=True,
            )
        )
        return [next(found) if requires_grad else None for requires_grad, _ in self._history]

    def _run(self, function: Any, inputs: Sequence[Any], is_wide: bool = False) -> list[Any]:
        self._random.restore()
        with self._surroundings.again(without_autocast=is_wide):
            return _as_list(function(*inputs))

    def _run_wide(self, inputs: list[Any]) -> list[Any] | None:
        """The outputs in fp64, and the inputs as they are afterwards; None without a reference."""
        import torch

        if self.graph.wide() is None:
            return None
        try:
            inputs += copied(self._inputs, torch.float64)
            with replaying_draws(self._drawn):
                return self._run(self.graph.wide(), inputs, is_wide=True)
        except Exception:
            inputs.clear()
            self.graph.without_wide()
            return None

    def _judge(self, what: str, index: int, expected: Any, got: Any, reference: Any) -> Judged:
        if getattr(reference, "shape", None) != getattr(expected, "shape", None):
            reference = None
        status = verdict(expected, got, reference, self._rounds_low)
        found = difference(expected, got, reference) if status != "bitwise" else {}
        node = (self.graph.outputs if what == "output" else self.graph.inputs)[index]
        source = "" if what == "output" else self.graph.sources[index]
        return Judged(what, index, node, source, status, found)

    def _tell(self, judged: list[Judged], direction: str) -> None:
        status = min((one.status for one in judged), key=WORST_FIRST.index, default="bitwise")
        worst = [one for one in judged if one.status == status != "bitwise"]
        write(
            self.graph.compile_id,
            {
                "status": status,
                "direction": direction,
                "call": self.number,
                "compared": len(judged),
                "reference": self.graph.wide() is not None,
                "values": [one.told() for one in worst[:MOST_VALUES]],
                "worse": len(worst),
            },
        )


class _Surroundings:
    """What was switched on around a call: gradients, autocast."""

    def __init__(self) -> None:
        import torch

        self._gradients = torch.is_grad_enabled()
        self._inference = torch.is_inference_mode_enabled()
        devices = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
        self._autocast = [
            (device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in devices
        ]

        self.autocast = any(enabled for _, enabled, _ in self._autocast)

    @contextlib.contextmanager
    def again(self, without_autocast: bool) -> Iterator[None]:
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
    name = getattr(source, "name", "")
    return str(name() if callable(name) else name)
