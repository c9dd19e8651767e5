"""Moves a graph that Dynamo captured on the CPU to the GPU of a preview."""

from __future__ import annotations

from typing import Any

import torch

from ..torch_internals.core import FACTORIES, TRACING_CONTEXT

GPU = torch.device("cuda", 0)


def is_all_on_cpu(graph_module: Any, inputs: Any) -> bool:
    """Whether every tensor of the graph is on the CPU, and there is one."""
    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    tensors += [
        node.meta["example_value"]
        for node in graph_module.graph.nodes
        if isinstance(node.meta.get("example_value"), torch.Tensor)
    ]
    return bool(tensors) and all(tensor.device.type == "cpu" for tensor in tensors)


def move_to_gpu(graph_module: Any, inputs: Any) -> list[Any]:
    """Change the graph to one on the GPU; inputs for it. What Dynamo keeps at its nodes stays there."""
    constructors = FACTORIES.need()()
    for node in graph_module.graph.nodes:
        node.args = torch.fx.node.map_aggregate(node.args, _device)
        node.kwargs = torch.fx.node.map_aggregate(node.kwargs, _device)
        if node.op == "call_function" and node.target in constructors and node.kwargs.get("device") is None:
            node.kwargs = {**node.kwargs, "device": GPU}
        if isinstance(node.meta.get("example_value"), torch.Tensor):
            node.meta["example_value"] = _tensor(node.meta["example_value"])
        if node.op == "get_attr":
            _move_attribute(graph_module, node.target)
    graph_module.recompile()
    return [_tensor(value) if isinstance(value, torch.Tensor) else value for value in inputs]


def _device(value: Any) -> Any:
    if isinstance(value, torch.device) and value.type == "cpu":
        return GPU
    return "cuda" if value == "cpu" and isinstance(value, str) else value


def _tensor(tensor: torch.Tensor) -> torch.Tensor:
    mode = getattr(tensor, "fake_mode", None)
    if mode is not None:
        with mode:
            moved = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=GPU)
    else:
        moved = tensor.detach().to(GPU)
    moved = torch.nn.Parameter(moved, False) if isinstance(tensor, torch.nn.Parameter) else moved
    moved.requires_grad_(tensor.requires_grad)
    # which sizes are dynamic, and where they come from, Dynamo keeps by tensor
    context = TRACING_CONTEXT.need().try_get()
    if context is not None and tensor in context.tensor_to_context:
        context.tensor_to_context[moved] = context.tensor_to_context[tensor]
    return moved


def _move_attribute(module: Any, path: str) -> None:
    owner_path, _, name = path.rpartition(".")
    owner = module.get_submodule(owner_path)
    value = getattr(owner, name)
    if isinstance(value, torch.Tensor):
        setattr(owner, name, _tensor(value))
