"""Private names of ``torch._inductor``."""

from __future__ import annotations

from .lookup import Internal

_BISECTION = "bisection"
_PATTERN = "the patterns of a pass that is at fault"
_WARMUP = "a shared warm-up of bisection steps"
_KEPT = "stages of graphs from torch's cache"
AOTI_COMPILE_AND_PACKAGE = Internal(
    "torch._inductor:aoti_compile_and_package", lost="the place of calls of AOTInductor that fail"
)
ASYNC_COMPILE = Internal("torch._inductor.async_compile:AsyncCompile", "GPU previews")
WAIT_FOR_KERNELS = Internal("torch._inductor.async_compile:AsyncCompile.wait", "what Triton makes of kernels")
ASYNC_COMPILE_TRITON = Internal("torch._inductor.async_compile:AsyncCompile.triton", "GPU previews")
CPP_WRAPPER = Internal(
    "torch._inductor.codecache:CppWrapperCodeCache.load_pybinding", "GPU previews of programs with a C++ wrapper"
)
KEY_OF_TORCH = Internal("torch._inductor.codecache:torch_key", "a warm-up of torch's cache of graphs")
KEY_OF_TRITON = Internal("torch._inductor.codecache:triton_key", "a warm-up of torch's cache of graphs", since=(2, 13))
KERNEL_MODULES = Internal("torch._inductor.codecache:PyCodeCache", "what is known of a previewed kernel")
GRAPH_KEY = Internal("torch._inductor.codecache:compiled_fx_graph_hash", _KEPT)
SAVE_GRAPH = Internal("torch._inductor.codecache:FxGraphCache._save_graph", _KEPT)
TAKE_GRAPH = Internal("torch._inductor.codecache:FxGraphCache.cache_hit_post_compile", _KEPT, since=(2, 8))
GENERATE_CODE = Internal("torch._inductor.compile_fx:fx_codegen_and_compile", _KEPT)
PRE_GRAD_GRAPH = Internal("torch._inductor.debug:_pre_grad_graph_id", _KEPT, since=(2, 7))
PRE_GRAD_STACKS = Internal("torch._inductor.debug:_inductor_pre_grad_node_stack_trace", _KEPT, since=(2, 9))
JOINT_PASSES = Internal("torch._inductor.compile_fx:_recursive_joint_graph_passes", "what passes changed")
POST_GRAD_PASSES = Internal("torch._inductor.compile_fx:_recursive_post_grad_passes", "what passes changed")
PRE_GRAD_PASSES = Internal("torch._inductor.compile_fx:_recursive_pre_grad_passes", "what passes changed")
CONFIG = Internal("torch._inductor.config", lost="options of Inductor")
CONFIG_ENTRIES = Internal("torch._inductor.config:_config", lost="options of Inductor")
FALLBACK_RANDOM = Internal(
    "torch._inductor.config:fallback_random", lost="the comparison of graphs that draw random numbers"
)
FORGET_METRICS = Internal("torch._inductor.metrics:reset", "counts of kernels that begin at 0")
KNOWN_PADDING = Internal(
    "torch._inductor.fx_passes.pad_mm:get_cached_should_pad", "which products a GPU preview does not pad"
)
KEEP_PADDING = Internal(
    "torch._inductor.fx_passes.pad_mm:set_cached_should_pad", "which products a GPU preview does not pad"
)
PADDING_TIMER = Internal(
    "torch._inductor.fx_passes.pad_mm:get_do_bench", "which products a GPU preview does not pad", since=(2, 7)
)
SET_PTXAS_PATH = Internal(
    "torch._inductor.runtime.compile_tasks:_set_triton_ptxas_path", "the assembly of previewed kernels"
)
ADD_CHOICE_FILTER = Internal(
    "torch._inductor.select_algorithm:add_preprocessing_fn", "GPU previews of max-autotune", since=(2, 9)
)
TRITON_TEMPLATE = Internal("torch._inductor.select_algorithm:TritonTemplateCaller", "GPU previews of max-autotune")
VIRTUALIZED = Internal("torch._inductor.virtualized:V", lost="the lines that performance hints refer to")
HEADER_FOLDER = Internal("torch._inductor.codecache:_HEADER_DIR", "private precompiled headers", since=(2, 8))
HEADER_LOCKS = Internal("torch._inductor.codecache:_HEADER_LOCK_DIR", "private precompiled headers", since=(2, 8))
HEADER_PRECOMPILER = Internal(
    "torch._inductor.codecache:_precompile_header", "precompiled headers shared by steps", since=(2, 8)
)
BISECTOR_MODULE = Internal("torch._inductor.compiler_bisector", _BISECTION)
BISECTOR_DISABLE_SUBSYSTEM = Internal(
    "torch._inductor.compiler_bisector:CompilerBisector.disable_subsystem", "what the verdict applies to"
)
BISECTOR_ENABLED = Internal("torch._inductor.compiler_bisector:CompilerBisector.bisection_enabled", _BISECTION)
BISECTOR_GET_DIR = Internal("torch._inductor.compiler_bisector:CompilerBisector.get_dir", _BISECTION)
BISECTOR_STATE_FOLDER = Internal(
    "torch._inductor.compiler_bisector:CompilerBisector.in_process_cache", _BISECTION, since=(2, 7)
)
BISECTOR_ENVIRONMENT = Internal("torch._inductor.compiler_bisector:get_env_val", _BISECTION)
COMPILER_OPTIONS = Internal("torch._inductor.cpp_builder:CppTorchOptions", _WARMUP)
COMPILER_VERSION = Internal("torch._inductor.cpp_builder:get_compiler_version_info", _WARMUP)
RUN_COMPILER = Internal("torch._inductor.cpp_builder:run_compile_cmd", "compiler output that is complete or absent")
INVALID_VECTOR_ISA = Internal("torch._inductor.cpu_vec_isa:invalid_vec_isa", _WARMUP)
PICK_VECTOR_ISA = Internal("torch._inductor.cpu_vec_isa:pick_vec_isa", _WARMUP)
SUPPORTED_VECTOR_ISAS = Internal("torch._inductor.cpu_vec_isa:supported_vec_isa_list", _WARMUP)
VALID_VECTOR_ISAS = Internal("torch._inductor.cpu_vec_isa:valid_vec_isa_list", _WARMUP)
VECTOR_ISA_TRIAL = Internal("torch._inductor.cpu_vec_isa:VecISA.check_build", _WARMUP)
VECTOR_ISA_FINGERPRINT = Internal(
    "torch._inductor.cpu_vec_isa:_get_isa_dry_compile_fingerprint", "what is known of vector units from earlier runs"
)
LOG_IR_POST_FUSION = Internal("torch._inductor.debug:log_ir_post_fusion", "the IR after fusion", since=(2, 7))
LOG_IR_PRE_FUSION = Internal("torch._inductor.debug:log_ir_pre_fusion", "the IR before fusion", since=(2, 7))
DECOMPOSITION_MODULE = Internal("torch._inductor.decomposition", "where a decomposition is written")
IR_MODULE = Internal("torch._inductor.ir", "where a lowering is written")
LOWERING_MODULE = Internal("torch._inductor.lowering", "where a lowering is written")
GRAPH_PATTERN_APPLY = Internal("torch._inductor.pattern_matcher:GraphPatternEntry.apply", _PATTERN)
LOWERING_PATTERN_APPLY = Internal("torch._inductor.pattern_matcher:LoweringPatternEntry.apply", _PATTERN)
REPLACEMENT_PATTERN_APPLY = Internal("torch._inductor.pattern_matcher:ReplacementPatternEntry.apply", _PATTERN)
SERIALIZED_PATTERNS = Internal("torch._inductor.fx_passes.serialized_patterns", _WARMUP)
TRITON_KEY = Internal("torch._inductor.runtime.triton_compat:triton_key", _WARMUP, since=(2, 9))
# imported when Inductor first compiles for a GPU
GPU_MODULES = (
    Internal("torch._inductor.choices", _WARMUP),
    Internal("torch._inductor.codegen.cuda_combined_scheduling", _WARMUP),
    Internal("torch._inductor.codegen.triton", _WARMUP),
    Internal("torch._inductor.fx_passes.fuse_attention", _WARMUP),
    Internal("torch._inductor.fx_passes.pad_mm", _WARMUP),
    Internal("torch._inductor.runtime.triton_heuristics", _WARMUP),
)
# the standby's warm-up, and the doctor
COMPILE_TO_MODULE = Internal("torch._inductor.graph:GraphLowering.compile_to_module", "checks of fixes after Dynamo")
COMPILE_FX = Internal("torch._inductor.compile_fx", "a warm-up of Inductor")
CPP_COMPILER = Internal("torch._inductor.cpp_builder:get_cpp_compiler", "the check of the C++ compiler by the doctor")
DEFAULT_CACHE = Internal(
    "torch._inductor.runtime.cache_dir_utils:default_cache_dir", "the check for an unfinished bisection by the doctor"
)
TRITON_CACHE_FOLDER = Internal(
    "torch._inductor.runtime.runtime_utils:triton_cache_dir",
    "what Triton makes of kernels that are launched without it",
)
TRITON_CACHE_KEY = Internal(
    "torch._inductor.runtime.runtime_utils:triton_hash_to_path_key",
    "what Triton makes of kernels that are launched without it",
)
