"""Moves a graph that Dynamo captured on the CPU to the GPU of a preview."""

from __future__ import annotations

import copy
from typing import Any

import torch


def is_all_on_cpu(graph_module: Any, inputs: Any) -> bool:
    """Whether every tensor of the graph is on the CPU, and there is one."""
    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    tensors += [
        node.meta["example_value"]
        for node in graph_module.graph.nodes
        if isinstance(node.meta.get("example_value"), torch.Tensor)
    ]
    return bool(tensors) and all(tensor.device.type == "cpu" for tensor in tensors)


def on_gpu(graph_module: Any, inputs: Any) -> tuple[Any, list[Any]]:
    """A copy of the graph, and inputs for it, on the GPU."""
    moved = torch.fx.GraphModule(graph_module, copy.deepcopy(graph_module.graph))
    moved.meta.update(graph_module.meta)
    for name, value in vars(graph_module).items():
        if name not in vars(moved):
            vars(moved)[name] = value
    for node in moved.graph.nodes:
        node.args = torch.fx.node.map_aggregate(node.args, _device)
        node.kwargs = torch.fx.node.map_aggregate(node.kwargs, _device)
        if isinstance(node.meta.get("example_value"), torch.Tensor):
            node.meta["example_value"] = _tensor(node.meta["example_value"])
        if node.op == "get_attr":
            _move_attribute(moved, node.target)
    moved.recompile()
    return moved, [_tensor(value) if isinstance(value, torch.Tensor) else value for value in inputs]


def _device(value: Any) -> Any:
    if isinstance(value, torch.device) and value.type == "cpu":
        return torch.device("cuda", 0)
    return "cuda" if value == "cpu" and isinstance(value, str) else value


def _tensor(tensor: torch.Tensor) -> torch.Tensor:
    mode = getattr(tensor, "fake_mode", None)
    if mode is None:
        return tensor.to("cuda")
    with mode:
        moved = torch.empty_strided(
            tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cuda", requires_grad=tensor.requires_grad
        )
    return torch.nn.Parameter(moved, tensor.requires_grad) if isinstance(tensor, torch.nn.Parameter) else moved


def _move_attribute(module: Any, path: str) -> None:
    owner_path, _, name = path.rpartition(".")
    owner = module.get_submodule(owner_path)
    value = getattr(owner, name)
    if isinstance(value, torch.Tensor):
        setattr(
            owner,
            name,
            torch.nn.Parameter(value.to("cuda")) if isinstance(value, torch.nn.Parameter) else value.to("cuda"),
        )
