"""Captures the graphs of a repro with their inputs, in a step of its own; writes JSON and a file of saved inputs."""

from __future__ import annotations

import dataclasses
import json
import sys
import types
from typing import Any

from ..runtime.program_text import read, remember
from ..torch_internals.dynamo import REPRO_INPUT_READER
from .minify_program import GraphValue, parse_body

MAX_GRAPHS = 20


def capture(file: str, answer: str) -> int:
    """Compile the target of the repro in ``file`` with a backend that only records its graphs; write them to ``answer``."""
    import torch

    source = read(file)
    remember(file, source)
    module = types.ModuleType("repro")
    module.__file__ = file
    sys.modules["repro"] = module
    exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)
    target, calls, options = _entry(module)
    found: list[dict[str, Any]] = []
    saved: list[dict[str, Any]] = []

    def record(graph_module: Any, _: Any) -> Any:
        if len(found) == MAX_GRAPHS:
            return graph_module.forward
        number = len(found)
        found.append({})
        saved.append({})

        def run(*arguments: Any) -> Any:
            if not found[number]:
                found[number], saved[number] = _describe(graph_module, arguments)
            return graph_module.forward(*arguments)

        return run

    torch.compiler.reset()
    compiled = torch.compile(target, backend=record, **options)
    for arguments, keywords in calls:
        compiled(*arguments, **keywords)
    torch.save(saved, f"{answer}.pt")
    with open(answer, "w", encoding="utf-8") as written:
        json.dump([graph for graph in found if graph], written)
    return 0


def _entry(module: Any) -> tuple[Any, Any, dict[str, Any]]:
    """The target, its calls and the options that affect Dynamo, of a repro by Compile Lens or by torch's minifier."""
    if hasattr(module, "make_target"):
        options = {k: v for k, v in getattr(module, "COMPILE_OPTIONS", {}).items() if k in ("dynamic", "fullgraph")}
        return module.make_target(), module.make_calls(), options
    reader: Any = REPRO_INPUT_READER.need()(save_dir=None)
    module.load_args(reader)
    return module.mod, [(tuple(reader.args), {})], {}


def _describe(graph_module: Any, arguments: tuple[Any, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    import torch

    values: dict[str, GraphValue] = {}
    saved: dict[str, Any] = {}
    inputs: list[str] = []
    given = iter(arguments)
    for node in graph_module.graph.nodes:
        if node.op == "placeholder":
            argument = next(given)
            inputs.append(node.name)
            values[node.name] = _value(argument)
            if isinstance(argument, torch.Tensor):
                saved[node.name] = argument.detach().clone()
        elif node.op == "get_attr":
            held = graph_module
            for part in str(node.target).split("."):
                held = getattr(held, part)
            if not isinstance(held, torch.Tensor):
                return {"unsupported": f"the graph contains {type(held).__name__} '{node.target}'"}, {}
            inputs.append(node.name)
            values[node.name] = _value(held)
            saved[node.name] = held.detach().clone()
        elif node.op == "call_module":
            return {"unsupported": f"the graph calls the module '{node.target}'"}, {}
        else:
            meta = node.meta.get("example_value", node.meta.get("val"))
            if isinstance(meta, (torch.Tensor, int, float, torch.SymInt)) and not isinstance(meta, bool):
                values[node.name] = _value(meta)
    code = graph_module.graph.python_code("self").src
    body, outputs = parse_body(code, inputs)
    # an attribute of the graph becomes an input instead of a statement
    body = [statement for statement in body if not set(statement.defines) & set(inputs)]
    for value in values.values():
        value.fill = "randn"
    return {
        "inputs": inputs,
        "body": [dataclasses.asdict(statement) for statement in body],
        "outputs": outputs,
        "values": {name: dataclasses.asdict(value) for name, value in values.items()},
    }, saved


def _value(value: Any) -> GraphValue:
    import torch

    if not isinstance(value, torch.Tensor):
        return GraphValue(number=int(value) if isinstance(value, torch.SymInt) else value)
    low, high = 0, 1
    is_real = type(value) in (torch.Tensor, torch.nn.Parameter)
    if (
        is_real
        and value.numel()
        and not value.is_floating_point()
        and not value.is_complex()
        and value.dtype != torch.bool
    ):
        low, high = int(value.min()), int(value.max())
    return GraphValue(
        [int(size) for size in value.shape],
        [int(step) for step in value.stride()] if value.layout == torch.strided else [],
        str(value.dtype).removeprefix("torch."),
        str(value.device),
        bool(value.requires_grad and value.is_leaf),
        None,
        "randn",
        low,
        high,
    )
