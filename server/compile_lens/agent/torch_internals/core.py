"""Private names of torch's core: ``torch._C``, the dispatcher, operators, logging and FX."""

from __future__ import annotations

from typing import Any

from .lookup import Internal

_EMULATION = "the emulated CUDA device"
_OPERATORS = "the table of operators"

CONJUGATE_VIEW = Internal("torch:_conj", _EMULATION)
NEGATIVE_VIEW = Internal("torch:_neg_view", _EMULATION)
STORAGE_AT_ADDRESS = Internal("torch._C:_construct_storage_from_data_pointer", _EMULATION)
KERNELS_OF_KEY = Internal("torch._C:_dispatch_get_registrations_for_dispatch_key", _EMULATION)
HAS_KERNEL = Internal("torch._C:_dispatch_has_kernel", _OPERATORS)
HAS_KERNEL_FOR_KEY = Internal("torch._C:_dispatch_has_kernel_for_dispatch_key", _OPERATORS)
REINTERPRET_TENSOR = Internal("torch._C:_dynamo.guards._reinterpret_tensor", _EMULATION)
TENSOR_FROM_DLPACK = Internal("torch._C:_from_dlpack", _EMULATION)
OPERATOR_SCHEMAS = Internal("torch._C:_jit_get_all_schemas", _OPERATORS)
CORE_DECOMPOSITIONS = Internal("torch._decomp:core_aten_decompositions", _OPERATORS)
DECOMPOSITIONS = Internal("torch._decomp:decomposition_table", _OPERATORS)
TRACE_LOG = Internal("torch._logging._internal:trace_log", "the structured trace")
OPERATORS = Internal("torch._ops", _OPERATORS)
HIGHER_ORDER_OPERATORS = Internal("torch._ops:_higher_order_ops", _OPERATORS)
FAKE_IMPLEMENTATIONS = Internal(
    "torch._subclasses.fake_impls:op_implementations_dict", "fake implementations of operators"
)
PASS_OBSERVER_EXIT = Internal(
    "torch.fx.passes.graph_transform_observer:GraphTransformObserver.__exit__", "what a pass changed"
)
INCOMPATIBLE_KEYS = Internal("torch.nn.modules.module:_IncompatibleKeys", "substitutes for missing checkpoints")
TRITON_QUERIES = Internal("torch.utils._triton", "Triton on the emulated CUDA device")


def operator_schema(operator: Any) -> Any:
    """The schema of an ``OpOverload``, an attribute that each instance sets."""
    return operator._schema


def stored_options(module: object) -> dict[str, Any] | None:
    """The options of one of torch's config modules by name, with their defaults and types; None where it stores them elsewhere."""
    return getattr(module, "_config", None)


def is_fallback(lowering: object) -> bool:
    """Whether a lowering of Inductor calls the operator's own kernel."""
    return bool(getattr(lowering, "_is_fallback_handler", False))
