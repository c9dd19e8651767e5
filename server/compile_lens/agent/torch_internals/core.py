"""Private names of torch outside its compiler packages: the C extension, guards, logging, fake tensors, utilities."""

from __future__ import annotations

from .lookup import Internal

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
TRACE_STRUCTURED = Internal("torch._logging:trace_structured", lost="notes in the trace", required=True)
TORCH_LOGS_FORMATTER = Internal(
    "torch._logging._internal:TorchLogsFormatter", lost="the structured trace", required=True
)
LOG_STATE = Internal("torch._logging._internal:log_state", lost="the output of logs that the program enables")
TRACE_LOG = Internal("torch._logging._internal:trace_log", lost="the structured trace", required=True)
INTERN_TABLE = Internal("torch._logging.structured:INTERN_TABLE", lost="the structured trace", required=True)
FAKE_TENSOR_MODE = Internal("torch._subclasses.fake_tensor:FakeTensorMode", lost="synthesized inputs")
PYTREE = Internal("torch.utils._pytree", lost="nested arguments and results of calls")
TORCH_DISPATCH_MODE = Internal(
    "torch.utils._python_dispatch:TorchDispatchMode", lost="the comparison of graphs that draw random numbers"
)
PYTHON_PRINTER = Internal("torch.utils._sympy.printers:PythonPrinter", lost="synthesized inputs of matching sizes")
