"""The triage table: what torch raises, by class and text, and where it belongs.

The texts are those of torch 2.13, and of torch 2.11 with triton 3.6 on a GPU.
"""

from __future__ import annotations

import pytest

from compile_lens.analysis.compile_errors import find_compile_errors
from compile_lens.analysis.device_errors import device_error
from compile_lens.analysis.error_stages import EXPORT_CALL, PACKAGE_CALL, named_errors, triage
from compile_lens.analysis.error_words import sentence, suggestions
from compile_lens.analysis.finding import Finding
from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.run_context import Raised, RunContext, Stopped
from compile_lens.analysis.run_errors import find_raised, find_stopped
from compile_lens.analysis.sources import Sources
from compile_lens.syntax.tree import parse
from compile_lens.trace.report import Compilation, CompileFailure, CompileReport, FailedCall, StackFrame

IN_AOT = '  File "/x/site-packages/torch/_functorch/_aot_autograd/graph_capture.py", line 340, in aot_dispatch_autograd_graph\n'
IN_LOWERING = '  File "/x/site-packages/torch/_inductor/graph.py", line 1690, in run_node\n'
IN_CODEGEN = IN_LOWERING + '  File "/x/site-packages/torch/_inductor/codegen/cpp.py", line 4021, in codegen_node\n'
UNBACKED = """Could not guard on data-dependent expression Eq(u0, 4) (unhinted: Eq(u0, 4)).  (Size-like symbols: none)

To fix the error, insert one of the following checks before this call:
  1. torch._check(n == 4)
  2. torch._check(n != 4)
"""
VIOLATED = """Constraints violated (rows)! For more information, run with TORCH_LOGS="+dynamic".
  - You marked rows as dynamic but your code specialized it to be a constant (4). If you're using mark_dynamic, remove it.
Suggested fixes:
  rows = 4
"""


@pytest.mark.parametrize(
    ("type_name", "message", "traceback", "call", "code", "stage"),
    [
        ("Unsupported", "Data-dependent branching", "", "", "fullgraph-break", "dynamo"),
        ("UserError", UNBACKED, "", "", "data-dependent-error", "dynamo"),
        ("GuardOnDataDependentSymNode", UNBACKED, "", EXPORT_CALL, "data-dependent-error", "export"),
        ("ConstraintViolationError", VIOLATED, "", "", "constraint-violation", "dynamo"),
        ("UserError", VIOLATED, "", EXPORT_CALL, "constraint-violation", "export"),
        ("UserError", "Detected mismatch between the structure of `inputs`", "", EXPORT_CALL, "export-error", "export"),
        ("RuntimeError", "a and b must have same reduction dim", "", EXPORT_CALL, "export-error", "export"),
        ("TorchRuntimeError", "RuntimeError when making fake tensor call", "", "", "fake-tensor-error", "fake tensors"),
        (
            "UncapturedHigherOrderOpError",
            "This higher order operator doesn't",
            "",
            "",
            "higher-order-op-error",
            "dynamo",
        ),
        ("KeyError", "'x'", "", "", "dynamo-internal-error", "dynamo"),
        ("InternalTorchDynamoError", "KeyError: x", "", "", "dynamo-internal-error", "dynamo"),
        ("BackendCompilerFailed", "backend='mine' raised:\nValueError: no", "", "", "backend-error", "backend"),
        ("BackendCompilerFailed", "backend='inductor' raised:\nRuntimeError: no", IN_AOT, "", "aot-error", "aot"),
        ("InductorError", "LoweringException: TypeError: no", IN_LOWERING, "", "lowering-error", "inductor lowering"),
        ("InductorError", "AssertionError: ", IN_LOWERING, "", "lowering-error", "inductor lowering"),
        ("InductorError", "AssertionError: ", IN_CODEGEN, "", "inductor-error", "inductor codegen"),
        ("InductorError", "CppCompileError: C++ compile error", IN_CODEGEN, "", "cpp-compile-error", "c++"),
        ("InductorError", "InvalidCxxCompiler: No working C++ compiler found", "", "", "cpp-compile-error", "c++"),
        ("CppCompileError", "C++ compile error", "", PACKAGE_CALL, "cpp-compile-error", "c++"),
        ("AssertionError", "no constants", "", PACKAGE_CALL, "aoti-error", "aoti packaging"),
        ("InductorError", "TritonMissing: Cannot find a working triton", "", "", "triton-compile-error", "triton"),
        (
            "InductorError",
            "RuntimeError: No valid triton configs. OutOfResources: out of resource: shared memory, Required: 2097152",
            "",
            "",
            "triton-compile-error",
            "triton",
        ),
        (
            "InductorError",
            "CompilationError: at 2:8:\n    i = tl.arange(0, 3)",
            "",
            "",
            "triton-compile-error",
            "triton",
        ),
        ("CompilationError", "at 3:11:\n    x = tl.load(", "", "", "triton-compile-error", "triton"),
    ],
)
def test_triage(type_name: str, message: str, traceback: str, call: str, code: str, stage: str) -> None:
    found = triage(type_name, message, traceback, call)
    assert (found.code, found.stage) == (code, stage)


def test_classes_at_the_head_of_a_message() -> None:
    assert named_errors("backend='b' raised:\ntorch._x.LoweringException: NotImplementedError: why: not") == (
        "LoweringException",
        "NotImplementedError",
    )
    assert named_errors("something else: an Error: x") == ()


def test_sentences_and_suggestions_are_torchs_where_it_has_any() -> None:
    found = triage("UserError", UNBACKED, "")
    assert sentence("UserError", UNBACKED, found) == (
        "torch.compile failed: whether `Eq(u0, 4)` holds depends on tensor values."
    )
    assert [hint for hint in suggestions(UNBACKED) if "torch._check(n == 4)" in hint]
    found = triage("UserError", VIOLATED, "", EXPORT_CALL)
    assert sentence("UserError", VIOLATED, found, EXPORT_CALL) == (
        "torch.export failed: You marked rows as dynamic but your code specialized it to be a constant (4)."
    )
    assert suggestions(VIOLATED) == ("Use `rows = 4` in the dynamic shapes (suggested by torch).",)
    compiler = "CppCompileError: C++ compile error\n\nCommand:\ng++ x.cpp\n\nOutput:\nx.cpp:15:33: error: ‘y’ was not declared\n"
    found = triage("InductorError", compiler, "")
    assert sentence("InductorError", compiler, found) == (
        "torch.compile failed: the C++ compiler reports: ‘y’ was not declared."
    )


def test_device_errors_name_what_makes_them_deterministic() -> None:
    what, hints = device_error(
        "CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be …"
    ) or ("", ())
    assert what == "CUDA: an illegal memory access was encountered"
    assert "CUDA_LAUNCH_BLOCKING=1" in hints[0]
    assert device_error("an error of CUDA") is None


def context(raised: Raised | None = None, stopped: Stopped | None = None) -> RunContext:
    tree = parse("import torch\nf(x)\n")
    sources = Sources("/own.py", lambda file: tree if file == "/own.py" else None)
    report = CompileReport()
    return RunContext(report, sources, RegionIndex(report, "/own.py", tree), raised, stopped)


def test_a_crash_is_named_and_its_hints_make_it_repeatable() -> None:
    stack = 'Fatal Python error: Segmentation fault\n\nCurrent thread (most recent call first):\n  File "/own.py", line 2 in <module>\n'
    crash = next(find_stopped(context(stopped=Stopped("signalled", 11, crash_stack=stack))))
    assert (crash.code, crash.place.line) == ("crash", 2)
    assert "segmentation fault (SIGSEGV)" in crash.message
    assert any("OMP_NUM_THREADS=1" in hint for hint in crash.hints)
    killed = next(find_stopped(context(stopped=Stopped("signalled", 9))))
    assert (killed.code, killed.hints) == ("run-error", ())


def test_what_only_the_compiler_raises_is_a_compile_error_without_a_frame() -> None:
    def raised(module: str, type_name: str) -> Finding:
        stack = (StackFrame("/own.py", 2, "<module>", "f(x)"),)
        error = Raised(type_name, module, "LoweringException: NotImplementedError: no", stack)
        return next(find_raised(context(error), ()))

    assert raised("torch._inductor.exc", "InductorError").code == "lowering-error"
    assert raised("builtins", "RuntimeError").code == "run-error"


def test_distutils_is_told_as_what_it_is() -> None:
    stack = (StackFrame("/own.py", 1, "<module>", "from distutils.util import strtobool"),)
    error = Raised("ModuleNotFoundError", "builtins", "No module named 'distutils'", stack)
    finding = next(find_raised(context(error), ()))
    assert finding.message == "Python has no `distutils` since 3.12."
    assert finding.hints == ("Install `setuptools`, which has a copy of it.",)


def test_a_strict_export_up_to_torch_2_8_names_its_frame_and_fails_once() -> None:
    stack = (StackFrame(file="/own.py", line=9, name="<module>", text="export(model, inputs, strict=True)"),)
    inside = (StackFrame(file="torch/export/__init__.py", line=319, name="export", text=""),)
    failure = CompileFailure("Unsupported", "Call to `print`", "/own.py", 4, stack, "")

    def codes(call_stack: tuple[StackFrame, ...]) -> list[str]:
        report = CompileReport(
            compilations=(Compilation("0/0", "forward", "/own.py", 3, call_stack=call_stack, failure=failure),),
            failed_calls=(FailedCall(EXPORT_CALL, "Unsupported", "Call to `print`", stack + inside, ""),),
        )
        tree = parse("pass\n" * 9)
        sources = Sources("/own.py", lambda file: tree if file == "/own.py" else None)
        return [f.code for f in find_compile_errors(RunContext(report, sources, RegionIndex(report, "/own.py", tree)))]

    assert codes(stack) == ["export-error"]
    elsewhere = (StackFrame(file="/own.py", line=7, name="<module>", text="model(x)"),)
    assert codes(elsewhere) == ["fullgraph-break", "export-error"]


@pytest.mark.parametrize(
    ("type_name", "message"),
    [
        (
            "CppCompileError",
            "C++ compile error\n\nOutput:\na.h: fatal error: cannot write PCH file: No space left on device",
        ),
        ("InductorError", "OSError: [Errno 28] No space left on device: '/caches/inductor/ab/cab.py'"),
    ],
)
def test_a_disk_that_fills_while_code_is_compiled_is_named(type_name: str, message: str) -> None:
    found = triage(type_name, message, IN_CODEGEN)
    told = sentence(type_name, message, found)
    assert told == "torch.compile failed: the disk for compiled code is full (No space left on device)."
