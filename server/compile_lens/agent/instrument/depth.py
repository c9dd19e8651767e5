"""How far a run compiles: stands in for Inductor after Dynamo (``dynamo``) or after AOTAutograd (``aot``).

``torch.compile`` keeps its own object for the default backend, with its name, mode and options; only what that object *does* with
a graph is replaced. So Dynamo sees the same backend, validates the same options and breaks and recompiles at the same places.
"""

from __future__ import annotations

from typing import Any


def _run_graph_eagerly(graph_module: Any, example_inputs: Any, **_: Any) -> Any:
    return graph_module.forward


def _stop_after_aot(graph_module: Any, example_inputs: Any, **_: Any) -> Any:
    # the decompositions of Inductor and its partitioner, then eager (torch/_dynamo/backends/debugging.py)
    from torch._dynamo.backends.debugging import aot_eager_decomp_partition

    return aot_eager_decomp_partition(graph_module, example_inputs)


def apply(depth: str) -> None:
    """Apply ``depth``: ``dynamo``, ``aot`` or ``inductor`` (nothing is replaced)."""
    if depth == "inductor":
        return
    stand_in = _run_graph_eagerly if depth == "dynamo" else _stop_after_aot
    import torch

    def compile_graph(self: Any, model_: Any, inputs_: Any) -> Any:
        return stand_in(model_, inputs_)

    wrapper: Any = torch._TorchCompileInductorWrapper
    wrapper.__call__ = compile_graph
    _replace_registered("inductor", stand_in)


def _replace_registered(name: str, stand_in: Any) -> None:
    """Replace backend ``name`` for those who look it up by its name (``torch._dynamo.optimize("inductor")``, DDP)."""
    from torch._dynamo.backends import registry

    registry.list_backends()  # loads torch's own, which may register once only
    compilers: dict[str, Any] = registry._COMPILER_FNS
    stand_in._tags = getattr(compilers.get(name), "_tags", ())
    compilers[name] = stand_in
