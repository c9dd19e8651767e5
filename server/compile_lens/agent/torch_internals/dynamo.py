"""Private names of Dynamo."""

from __future__ import annotations

from .lookup import Internal

SKIP_CODE = Internal("torch._dynamo.eval_frame:skip_code", "keeping Dynamo out of functions of Compile Lens")
REPRO_INPUT_READER = Internal("torch._dynamo.debug_utils:InputReader", "graphs of a repro that torch's minifier wrote")
CUDA_INTERFACE = Internal("torch._dynamo.device_interface:CudaInterface", "streams of the emulated CUDA device")
TORCH_OBJECT_RULES = Internal("torch._dynamo.trace_rules:get_torch_obj_rule_map", "the emulated CUDA device")
