"""Sets how far a run compiles: replaces Inductor after Dynamo (``dynamo``) or after AOTAutograd (``aot``).

``torch.compile`` keeps its own object for the default backend, with its name, mode and options. Only what that object *does* with
a graph is replaced, so Dynamo sees the same backend, validates the same options, and breaks and recompiles at the same places.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

from ..torch_internals.attributes import copy_tags
from ..torch_internals.core import OPERATIONS_WITH_FLOATS, TORCH_COMPILE_INDUCTOR_CALL
from ..torch_internals.dynamo import AOT_EAGER_DECOMP_PARTITION, COMPILER_FNS, LIST_BACKENDS

# what Python writes, the operation that it becomes, and whether the float may be on either side
ARITHMETIC = {
    operator.mul: ("mul", True),
    operator.imul: ("mul", False),
    operator.add: ("add", True),
    operator.iadd: ("add", False),
    operator.sub: ("sub", False),
    operator.isub: ("sub", False),
    operator.truediv: ("div", False),
    operator.itruediv: ("div", False),
}


def _run_graph_eagerly(graph_module: Any, example_inputs: Any, **_: Any) -> Any:
    floats = _dynamic_floats(graph_module)
    if floats and not all(map(_stays_dynamic, floats)):
        return _stop_after_aot(graph_module, example_inputs)
    return graph_module.forward


def _dynamic_floats(graph_module: Any) -> list[Any]:
    """The nodes whose value is a Python float that is an input. AOTAutograd decides whether it stays one, or each value recompiles
    (torch/fx/passes/_tensorify_python_scalars.py)."""
    torch = sys.modules["torch"]
    return [node for node in graph_module.graph.nodes if isinstance(node.meta.get("example_value"), torch.SymFloat)]


def _stays_dynamic(node: Any) -> bool:
    """Whether AOTAutograd is known to keep a float: arithmetic with a tensor alone reads it, which becomes arithmetic of tensors,
    forward and backward. It takes ten times as long as Dynamo to say so itself."""
    torch = sys.modules["torch"]
    handled = OPERATIONS_WITH_FLOATS.look_up() or {}
    for user in node.users:
        name, either_side = ARITHMETIC.get(user.target, ("", False)) if user.op == "call_function" else ("", False)
        if not name or getattr(torch.ops.aten, name).Tensor not in handled or len(user.args) != 2:
            return False
        left, right = user.args
        tensor = left if right is node else right
        if tensor is node or not (right is node or either_side) or not _is_plain_float_tensor(tensor):
            return False
    return bool(node.op == "call_method" and node.target == "item")


def _is_plain_float_tensor(node: Any) -> bool:
    value: Any = getattr(node, "meta", {}).get("example_value")
    return type(value).__name__ == "FakeTensor" and value.dtype.is_floating_point


def _stop_after_aot(graph_module: Any, example_inputs: Any, **_: Any) -> Any:
    # Inductor's decompositions and partitioner, then eager (torch/_dynamo/backends/debugging.py)
    return AOT_EAGER_DECOMP_PARTITION.need()(graph_module, example_inputs)


def apply(depth: str) -> None:
    """Apply ``depth``: ``dynamo``, ``aot`` or ``inductor`` (nothing is replaced)."""
    if depth == "inductor":
        return
    replace_inductor(_run_graph_eagerly if depth == "dynamo" else _stop_after_aot)


def replace_inductor(backend: Callable[..., Any]) -> None:
    """Call ``backend`` with each graph, its inputs and the options of the call of ``torch.compile`` (``config_patches``)."""

    def compile_graph(self: Any, model_: Any, inputs_: Any) -> Any:
        return backend(model_, inputs_, config_patches=self.config)

    TORCH_COMPILE_INDUCTOR_CALL.set(compile_graph)
    _replace_registered("inductor", backend)


def _replace_registered(name: str, backend: Any) -> None:
    """Replace backend ``name`` for callers that look it up by name (``torch._dynamo.optimize("inductor")``, DDP)."""
    list_backends, compilers = LIST_BACKENDS.get(), COMPILER_FNS.get()
    if list_backends is None or compilers is None:
        return
    list_backends()  # imports torch's own backends, each of which may register only once
    copy_tags(backend, compilers.get(name))
    compilers[name] = backend
