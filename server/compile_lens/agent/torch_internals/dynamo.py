"""Private names of Dynamo."""

from __future__ import annotations

from .lookup import Internal

SKIP_CODE = Internal("torch._dynamo.eval_frame:skip_code", "keeping Dynamo out of functions of Compile Lens")
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
DYNAMO_COUNTERS = Internal("torch._dynamo.utils:counters", "counters of Dynamo that start at 0")
