"""Small programs that show whether the emulated CUDA device gives Dynamo the graphs that it should give, with this torch on this machine.

Each runs on the CPU, before the device is emulated, and on ``cuda`` afterwards. Breaks, the operators of each graph with the shapes
and types of their results, and the values must be the same. Where the CPU has no counterpart (a stream, a Triton kernel), the expected
result is part of the program.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from ...torch_internals.dynamo import COUNTERS, GRAPH_BREAK

Values = list[Any]
GENERATORS = "random generators"
STREAMS = "streams"
TRITON = "user-written Triton kernels"


@dataclass(frozen=True)
class Canary:
    """One program. ``ability`` is what fails with it, in words; without the ``needed`` ones, nothing is emulated at all.

    ``has_counterpart``: it also runs on the CPU, and gives the same graphs there.
    """

    ability: str
    program: Callable[[str, Callable[..., Any]], Values]
    needed: bool = True
    has_counterpart: bool = True


@dataclass(frozen=True)
class Observation:
    """What a program gave: its graphs, the number of graph breaks, and the values that it computed."""

    graphs: list[str]
    breaks: int
    values: Values


def observe(canary: Canary, device: str) -> Observation:
    """Run ``canary`` on ``device``. Raises whatever it raises."""
    torch.compiler.reset()
    torch.manual_seed(0)
    COUNTERS.need().clear()
    graphs: list[str] = []

    def record(module: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        graphs.append("\n".join(_line(node) for node in module.graph.nodes))
        return lambda *given: module.forward(*given)

    values = canary.program(device, lambda function: torch.compile(function, backend=record))
    return Observation(graphs, sum(COUNTERS.need()["graph_break"].values()), [_on_cpu(value) for value in values])


def _line(node: torch.fx.Node) -> str:
    """An operator and what it gives, without its device."""
    value = node.meta.get("example_value")
    given = f"{value.dtype} {tuple(value.shape)} {value.stride()}" if isinstance(value, torch.Tensor) else ""
    target = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", repr(node.target))
    return f"{node.op} {target} {given}"


def _on_cpu(value: Any) -> Any:
    return value.detach().float().cpu() if isinstance(value, torch.Tensor) else value


def difference(expected: Observation, found: Observation) -> str:
    """How the second differs from the first, as a clause; '' where it does not."""
    if expected.breaks != found.breaks:
        return f"{found.breaks} graph breaks instead of {expected.breaks}"
    if expected.graphs != found.graphs:
        return "its graphs differ from those of the CPU"
    for before, after in zip(expected.values, found.values, strict=True):
        same = (
            torch.allclose(before, after, rtol=1e-2, atol=1e-3) if isinstance(before, torch.Tensor) else before == after
        )
        if not same:
            return "its values differ from those of the CPU"
    return ""


# -- the programs


def _pointwise(device: str, compiled: Callable[..., Any]) -> Values:
    @compiled
    def scaled(x: torch.Tensor, n: int) -> torch.Tensor:
        return (x.sin() * n).relu() + x.mean()

    return [scaled(torch.linspace(-1, 1, 6, device=device), 2), scaled(torch.linspace(-1, 1, 9, device=device), 2)]


def _module(device: str, compiled: Callable[..., Any]) -> Values:
    graph_break = GRAPH_BREAK.need()

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convolution = torch.nn.Conv1d(2, 4, 3)
            self.normalization = torch.nn.LayerNorm(6)
            self.linear = torch.nn.Linear(6, 3)

        def forward(self, x: torch.Tensor) -> Any:
            x = self.normalization(self.convolution(x))
            graph_break()
            return self.linear(x).softmax(-1)

    block = Block().to(device)
    x = torch.linspace(-1, 1, 32).reshape(2, 2, 8).to(device).requires_grad_()
    loss = compiled(block)(x).square().sum()
    loss.backward()
    return [loss, x.grad, *(parameter.grad for parameter in block.parameters())]


def _autocast(device: str, compiled: Callable[..., Any]) -> Values:
    linear = torch.nn.Linear(4, 4).to(device)

    @compiled
    def step(x: torch.Tensor) -> torch.Tensor:
        with torch.autocast(device, dtype=torch.bfloat16):
            return linear(x)

    with torch.autocast(device, dtype=torch.bfloat16):
        outside = compiled(linear.forward)(torch.ones(2, 4, device=device))
    found = step(torch.ones(2, 4, device=device))
    return [found, str(found.dtype), outside, str(outside.dtype)]


def _optimizer(device: str, compiled: Callable[..., Any]) -> Values:
    linear = torch.nn.Linear(3, 3).to(device)
    optimizer = torch.optim.AdamW(linear.parameters(), foreach=True)
    step = compiled(optimizer.step)
    for _ in range(2):
        linear(torch.ones(2, 3, device=device)).sum().backward()
        step()
        optimizer.zero_grad()
    return list(linear.parameters())


def _generator(device: str, compiled: Callable[..., Any]) -> Values:
    generator = torch.Generator(device).manual_seed(3)
    noise = torch.rand(4, device=device, generator=generator)

    @compiled
    def noisy(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(x * 2, 0.0)

    return [noisy(noise), generator.device.type == device]


def _stream(device: str, compiled: Callable[..., Any]) -> Values:
    @compiled
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    stream, done = torch.cuda.Stream(), torch.cuda.Event()
    with torch.cuda.stream(stream):
        found = doubled(torch.ones(3, device=device))
        done.record()
    torch.cuda.current_stream().wait_event(done)
    torch.cuda.synchronize()
    if found.tolist() != [2.0] * 3:
        raise ValueError(f"a stream returned {found.tolist()}")
    return []


def _triton(device: str, compiled: Callable[..., Any]) -> Values:
    if importlib.util.find_spec("triton") is None:
        return []
    from . import canary_kernel

    @compiled
    def added(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        canary_kernel.add_one[(1,)](x, out, 5, BLOCK=8)
        return out

    found = added(torch.ones(5, device=device))
    if found.tolist() != [2.0] * 5:
        raise ValueError(f"a kernel returned {found.tolist()}")
    return []


CANARIES = (
    Canary("compiled functions", _pointwise),
    Canary("gradients", _module),
    Canary("autocast", _autocast),
    Canary("optimizers", _optimizer),
    Canary(GENERATORS, _generator, needed=False),
    Canary(STREAMS, _stream, needed=False, has_counterpart=False),
    Canary(TRITON, _triton, needed=False, has_counterpart=False),
)
