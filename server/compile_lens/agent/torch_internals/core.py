"""Private names of torch outside its compiler packages: the C extension, guards, logging, fake tensors, utilities."""

from __future__ import annotations

from typing import Any

from .lookup import Internal

_EMULATION = "the emulated CUDA device"
_OPERATORS = "the table of operators"
IMPORT_BACKENDS = Internal(
    "torch:_import_device_backends", lost="extensions of torch in a folder that an editable install links to"
)
TORCH_COMPILE_INDUCTOR_CALL = Internal(
    "torch:_TorchCompileInductorWrapper.__call__", lost="runs that stop before Inductor"
)
CURRENT_GRAPH_TASK_ID = Internal("torch._C:_current_graph_task_id", lost="the comparison of gradients with eager")
SET_EVAL_FRAME = Internal(
    "torch._C._dynamo.eval_frame:set_eval_frame", lost="the arguments of calls of compiled regions"
)
CURRENT_COMPILE_ID = Internal(
    "torch._guards:CompileContext.current_compile_id", lost="the graph that a comparison with eager belongs to"
)
EXTRACT_STACK = Internal("torch._guards:TracingContext.extract_stack", lost="exact columns of graph breaks")
TRACING_CONTEXT = Internal("torch._guards:TracingContext", lost="GPU previews of programs for a CPU")
TRACE_STRUCTURED = Internal("torch._logging:trace_structured", lost="notes in the trace", required=True)
TORCH_LOGS_FORMATTER = Internal(
    "torch._logging._internal:TorchLogsFormatter", lost="the structured trace", required=True
)
LOG_STATE = Internal("torch._logging._internal:log_state", lost="the output of logs that the program enables")
TRACE_LOG = Internal("torch._logging._internal:trace_log", lost="the structured trace", required=True)
INTERN_TABLE = Internal("torch._logging.structured:INTERN_TABLE", lost="the structured trace", required=True)
FAKE_TENSOR_MODE = Internal("torch._subclasses.fake_tensor:FakeTensorMode", lost="synthesized inputs")
FACTORIES = Internal("torch.utils._device:_device_constructors", lost="GPU previews of programs for a CPU")
PYTREE = Internal("torch.utils._pytree", lost="nested arguments and results of calls")
TORCH_DISPATCH_MODE = Internal(
    "torch.utils._python_dispatch:TorchDispatchMode",
    lost="the comparison of graphs that draw random numbers, and which inputs belong on a GPU",
)
PYTHON_PRINTER = Internal("torch.utils._sympy.printers:PythonPrinter", lost="synthesized inputs of matching sizes")
RUN_BACKWARD = Internal("torch.autograd:_engine_run_backward", lost="the comparison of gradients outside regions")
ATTENTION_MATH = Internal("torch:ops.aten._scaled_dot_product_attention_math", _EMULATION)
CONJUGATE_VIEW = Internal("torch:_conj", _EMULATION)
NEGATIVE_VIEW = Internal("torch:_neg_view", _EMULATION)
STORAGE_AT_ADDRESS = Internal("torch._C:_construct_storage_from_data_pointer", _EMULATION)
KERNELS_OF_KEY = Internal("torch._C:_dispatch_get_registrations_for_dispatch_key", _EMULATION)
HAS_KERNEL = Internal("torch._C:_dispatch_has_kernel", _OPERATORS)
HAS_KERNEL_FOR_KEY = Internal("torch._C:_dispatch_has_kernel_for_dispatch_key", _OPERATORS)
REINTERPRET_TENSOR = Internal("torch._C:_dynamo.guards._reinterpret_tensor", _EMULATION)
TENSOR_FROM_DLPACK = Internal("torch._C:_from_dlpack", _EMULATION)
FUNCTION_MODES = Internal(
    "torch.overrides:_get_current_function_mode_stack", "the function modes around a script's calls of its model"
)
IS_TRANSFORMED = Internal(
    "torch._C:_functorch.is_functorch_wrapped_tensor", "calls of functions inside of `torch.func` that are left out"
)
SDP_PRIORITY = Internal("torch._C:_get_sdp_priority_order", "the backends of attention in a GPU preview", since=(2, 7))
OPERATOR_SCHEMAS = Internal("torch._C:_jit_get_all_schemas", _OPERATORS)
CORE_DECOMPOSITIONS = Internal("torch._decomp:core_aten_decompositions", _OPERATORS)
DECOMPOSITIONS = Internal("torch._decomp:decomposition_table", _OPERATORS)
OPERATORS = Internal("torch._ops", _OPERATORS)
HIGHER_ORDER_OPERATORS = Internal("torch._ops:_higher_order_ops", _OPERATORS)
FAKE_IMPLEMENTATIONS = Internal(
    "torch._subclasses.fake_impls:op_implementations_dict", "fake implementations of operators"
)
GRAPH_PROVENANCE = Internal("torch.fx.traceback:get_graph_provenance_json", "stages of graphs from torch's cache")
OPERATIONS_WITH_FLOATS = Internal(
    "torch.fx.passes._tensorify_python_scalars:SUPPORTED_OPS", "fast runs of graphs that read a Python float"
)
PASS_OBSERVER_ENTER = Internal(
    "torch.fx.passes.graph_transform_observer:GraphTransformObserver.__enter__", "what passes changed"
)
PASS_OBSERVER_EXIT = Internal(
    "torch.fx.passes.graph_transform_observer:GraphTransformObserver.__exit__", "what a pass changed"
)
DEL_LIBRARY = Internal("torch.library:_del_library", "exits of runs that take no time")
CALL_OF_MODULE = Internal("torch.nn.modules.module:Module._call_impl", "the calls of a script's models")
INCOMPATIBLE_KEYS = Internal("torch.nn.modules.module:_IncompatibleKeys", "substitutes for missing checkpoints")
CONFIG_MODULE = Internal(
    "torch.utils._config_module:ConfigModule",
    lost="options that a program sets by environment variables before it imports torch",
)
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
