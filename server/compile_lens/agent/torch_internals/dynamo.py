"""Private names of ``torch._dynamo``."""

from __future__ import annotations

from .lookup import Internal

AOT_EAGER_DECOMP_PARTITION = Internal(
    "torch._dynamo.backends.debugging:aot_eager_decomp_partition", lost="runs that stop after AOTAutograd"
)
COMPILER_FNS = Internal("torch._dynamo.backends.registry:_COMPILER_FNS", lost="runs that stop before Inductor")
LIST_BACKENDS = Internal("torch._dynamo.backends.registry:list_backends", lost="runs that stop before Inductor")
_LINKED = "compiler backends of packages in a folder that an editable install links to"
FIND_BACKENDS = Internal("torch._dynamo.backends.registry:_discover_entrypoint_backends", _LINKED)
IMPORT_COMPILERS = Internal("torch._dynamo.backends.registry:_lazy_import", _LINKED)
LINETABLE_WRITER = Internal(
    "torch._dynamo.bytecode_transformation:linetable_311_writer", lost="exact lines behind a graph break"
)
CONFIG = Internal("torch._dynamo.config", lost="options of Dynamo")
CONFIG_ENTRIES = Internal("torch._dynamo.config:_config", lost="options of Dynamo")
REPRO_TOLERANCE = Internal("torch._dynamo.config:repro_tolerance", lost="the tolerance that torch's own minifier uses")
ADD_SKIP_REASON = Internal(
    "torch._dynamo.convert_frame:add_skip_reason", lost="why Dynamo skips a function", since=(2, 13)
)
CATCH_ERRORS = Internal(
    "torch._dynamo.convert_frame:CatchErrorsWrapper.__call__", lost="which compile errors end a call"
)
FORMAT_ERROR = Internal("torch._dynamo.convert_frame:format_error_msg", lost="why Dynamo skips a function")
GRAPH_BREAK_LOG = Internal("torch._dynamo.convert_frame:graph_break_log", lost="graph breaks of skipped frames")
HAS_TENSOR_IN_FRAME = Internal("torch._dynamo.convert_frame:has_tensor_in_frame", lost="why Dynamo skips a function")
# before it existed, its record alone says that a frame starts
LOG_DYNAMO_START = Internal(
    "torch._dynamo.convert_frame:log_dynamo_start", lost="the call stack of each compiled frame", since=(2, 9)
)
DYNAMO_CONTEXT_CALL = Internal(
    "torch._dynamo.eval_frame:_TorchDynamoContext.__call__", lost="the `torch.compile` call of each frame"
)
DISABLED_CALL = Internal("torch._dynamo.eval_frame:_NullDecorator.__call__", lost="which regions are disabled")
CALLBACK_FROM_STANCE = Internal("torch._dynamo.eval_frame:_callback_from_stance", lost="which regions were called")
STANCE = Internal("torch._dynamo.eval_frame:_stance", lost="the stance of calls")
SKIP_FRAME = Internal("torch._dynamo.exc:SkipFrame.__init__", lost="why Dynamo skips a function")
SKIP_CODE = Internal("torch._dynamo.eval_frame:skip_code", lost="keeping Dynamo out of functions of Compile Lens")
PROFILE_GUARDS = Internal(
    "torch._dynamo.guards:profile_guard_manager", lost="runs that do not clear caches to measure guards"
)
CALL_USER_COMPILER = Internal(
    "torch._dynamo.output_graph:OutputGraph.call_user_compiler", lost="the comparison with eager"
)
COMMON_CONSTANT_TYPES = Internal(
    "torch._dynamo.utils:common_constant_types", lost="GPU properties that are read in a compiled function"
)
CONSTANT_SOURCE = Internal("torch._dynamo.source:ConstantSource", lost="synthesized inputs")
UNSUPPORTED_ERROR = Internal("torch._dynamo.exc:Unsupported.__init__", lost="exact columns of graph breaks")
# a function of the module before it was a method
LOG_GRAPH_BREAK = Internal(
    "torch._dynamo.symbolic_convert:InstructionTranslatorBase.log_graph_break",
    lost="exact columns of graph breaks",
    since=(2, 10),
)
INLINING_TRACER = Internal(
    "torch._dynamo.symbolic_convert:InliningInstructionTranslator.__init__",
    lost="which regions are compiled as part of others",
)
TRACER_STEP = Internal(
    "torch._dynamo.symbolic_convert:InstructionTranslatorBase.step", lost="exact columns of graph breaks"
)
LOG_GRAPH_BREAK_FUNCTION = Internal(
    "torch._dynamo.symbolic_convert:log_graph_break", lost="exact columns of graph breaks", until=(2, 9)
)
TRACE_RULES_CHECK = Internal("torch._dynamo.trace_rules:check", lost="why Dynamo skips a function")
COUNTERS = Internal("torch._dynamo.utils:counters", lost="variations without a reset between them")
SAME = Internal("torch._dynamo.utils:same", lost="the comparison with eager")
REPRO_INPUT_READER = Internal("torch._dynamo.debug_utils:InputReader", "graphs of a repro that torch's minifier wrote")
CUDA_INTERFACE = Internal("torch._dynamo.device_interface:CudaInterface", "streams of the emulated CUDA device")
TORCH_OBJECT_RULES = Internal("torch._dynamo.trace_rules:get_torch_obj_rule_map", "the emulated CUDA device")
# the standby's warm-up, and the doctor
DYNAMO = Internal("torch._dynamo", "compilation", required=True)
GRAPH_BREAK = Internal("torch._dynamo:graph_break", "a warm-up that includes graph breaks")
FRAME_COMPILE_COUNTER = Internal("torch._dynamo.convert_frame:FRAME_COMPILE_COUNTER", "frame numbers that start at 0")
FRAME_COUNTER = Internal("torch._dynamo.convert_frame:FRAME_COUNTER", "frame numbers that start at 0")
SUPPORT_CHECK = Internal("torch._dynamo.eval_frame:check_if_dynamo_supported", "the check of Dynamo by the doctor")
COMPILE_TIMES = Internal("torch._dynamo.utils:compilation_time_metrics", "compile times without those of the warm-up")
