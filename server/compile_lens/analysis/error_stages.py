"""The triage table of compile errors: from what torch raised to a code, the stage that failed, and what to check first.

The classes are those of torch/_dynamo/exc.py, torch/_inductor/exc.py, torch/fx/experimental/symbolic_shapes.py and
triton/compiler/errors.py (torch 2.13). An error that wraps another has the other's name at the head of its message.
"""

from __future__ import annotations

import re

from msgspec import Struct

from compile_lens.late_pattern import pattern

# "LoweringException: NotImplementedError: …": classes, from the outermost to the innermost
NAMED = pattern(r"(?P<name>(?:\w+\.)*[A-Z]\w+): ?")
BACKEND = pattern(r"backend='(?P<backend>[^']*)' raised:\n")
TRACEBACK_FILE = pattern(r'^[ \t]*File "(?P<file>[^"]+)", line \d+', re.MULTILINE)
UNEVALUATED = "Could not guard on data-dependent expression"

EXPORT_CALL = "torch.export.export"
PACKAGE_CALL = "torch._inductor.aoti_compile_and_package"


class Triage(Struct, frozen=True):
    """Where an error belongs. ``stage`` is the part of the compiler in a user's words; ``hints`` are one action each."""

    code: str
    stage: str
    hints: tuple[str, ...] = ()


FULLGRAPH = Triage(
    "fullgraph-break",
    "dynamo",
    ("Remove `fullgraph=True` to accept a graph break here.",),
)
# the same, where the setting that forbids it is another one
ERROR_ON_BREAK = Triage(
    FULLGRAPH.code,
    FULLGRAPH.stage,
    ("Remove `error_on_graph_break(True)` to accept a graph break here.",),
)
HIGHER_ORDER = Triage(
    "higher-order-op-error",
    "dynamo",
    ("The function passed to this operator must be traced as a whole: no graph break, side effect or aliasing.",),
)
INTERNAL = Triage(
    "dynamo-internal-error",
    "dynamo",
    (
        "Put `torch.compiler.disable` on the function at this line: the rest still compiles.",
        "The error is in torch: try a newer version, else report it with the traceback in the details.",
    ),
)
FAKE = Triage(
    "fake-tensor-error",
    "fake tensors",
    (
        'Run the function in eager first (`torch.compiler.set_stance("force_eager")`): it usually fails the same way.',
        "Check the shapes, dtypes and devices of the operator's inputs at this line.",
    ),
)
NO_FAKE = Triage(
    "fake-tensor-error",
    "fake tensors",
    (
        'Register a fake kernel for the operator: `@torch.library.register_fake("namespace::name")`,'
        " or `.register_fake` of a `custom_op`.",
    ),
)
DATA_DEPENDENT = Triage(
    "data-dependent-error",
    "dynamo",
    (
        "State what always holds for the value before this line, with `torch._check(…)`.",
        "To choose between two results, use `torch.where` or `torch.cond`.",
    ),
)
CONSTRAINT = Triage("constraint-violation", "dynamo")
AOT = Triage(
    "aot-error",
    "aot",
    (
        'Compile with `backend="aot_eager"`: the error stays if it comes from AOTAutograd.',
        "Check custom operators: their backward, what they mutate, and outputs that alias inputs.",
    ),
)
BACKEND_ERROR = Triage(
    "backend-error",
    "backend",
    ('Compile with `backend="eager"`: if that works, the error is in the backend.',),
)
UNKNOWN_BACKEND = Triage(
    "backend-error",
    "backend",
    ("List the known backends with `torch.compiler.list_backends(exclude_tags=None)`.",),
)
INDUCTOR = Triage(
    "inductor-error",
    "inductor codegen",
    (
        'Compile with `backend="aot_eager_decomp_partition"`: if that works, the error is in Inductor.',
        "Try a newer torch, else report it with the traceback in the details.",
    ),
)
LOWERING = Triage(
    "lowering-error",
    "inductor lowering",
    (
        "Check the operator at this line, and the dtype and device of its inputs: Inductor cannot lower it.",
        'Compile with `backend="aot_eager_decomp_partition"` to check the rest.'
        " Or put `torch.compiler.disable` around this line: it then runs in eager.",
    ),
)
CPP = Triage(
    "cpp-compile-error",
    "c++",
    (
        "See the first `error:` line of the C++ compiler's output in the details.",
        "Compile a small function: if that fails too, the C++ compiler is at fault (the one named by `CXX`).",
    ),
)
NO_CPP = Triage(
    "cpp-compile-error",
    "c++",
    ("Install a C++ compiler, or name one in the environment variable `CXX`.",),
)
TRITON = Triage(
    "triton-compile-error",
    "triton",
    (
        "If the kernel is yours, see the line that Triton names in the details.",
        "If Inductor generated it, print its source with `TORCH_LOGS=output_code`, and check that the version of triton is the one"
        " that this torch was built for.",
    ),
)
TRITON_MISSING = Triage(
    "triton-compile-error",
    "triton",
    ("Install the version of triton that this torch was built for; torch's wheels for Linux include it.",),
)
TRITON_DEVICE = Triage(
    "triton-compile-error",
    "triton",
    ('Use a device of compute capability 7.0 or later, or compile with `backend="aot_eager"`, which needs no Triton.',),
)
TRITON_RESOURCES = Triage(
    "triton-compile-error",
    "triton",
    ("The kernel needs more shared memory or registers than the device has: use smaller blocks or fewer stages.",),
)
EXPORT = Triage(
    "export-error",
    "export",
    ("Call `torch.export.draft_export` with the same arguments: it lists all problems at once.",),
)
PACKAGE = Triage(
    "aoti-error",
    "aoti packaging",
    ("Run the exported program first (`exported.module()(*args)`): if that works, the error is in AOTInductor.",),
)

# the first of an error's classes that is in here decides
BY_CLASS = {
    "ConstraintViolationError": CONSTRAINT,
    "GuardOnDataDependentSymNode": DATA_DEPENDENT,
    "PendingUnbackedSymbolNotFound": DATA_DEPENDENT,
    "DataDependentOutputException": DATA_DEPENDENT,
    "DynamicOutputShapeException": DATA_DEPENDENT,
    "TritonMissing": TRITON_MISSING,
    "GPUTooOldForTriton": TRITON_DEVICE,
    "OutOfResources": TRITON_RESOURCES,
    "PTXASError": TRITON,
    "CompilationError": TRITON,
    "CompileTimeAssertionFailure": TRITON,
    "UnsupportedLanguageConstruct": TRITON,
    "NoTritonConfigsError": TRITON_RESOURCES,
    "CppCompileError": CPP,
    "CUDACompileError": CPP,
    "InvalidCxxCompiler": NO_CPP,
    "LoweringException": LOWERING,
    "MissingOperatorWithDecomp": LOWERING,
    "MissingOperatorWithoutDecomp": LOWERING,
    "SubgraphLoweringException": LOWERING,
    "CppWrapperCodegenError": INDUCTOR,
    "TorchRuntimeError": FAKE,
    "UncapturedHigherOrderOpError": HIGHER_ORDER,
    "InvalidBackend": UNKNOWN_BACKEND,
}


def triage(type_name: str, message: str, traceback: str, call: str = "", is_fullgraph: bool = True) -> Triage:
    """The row of the table for one error. ``call`` is the function that compiled, if that was not ``torch.compile``."""
    found = _by_text(type_name, message) or _by_class(type_name, message)
    if found is FAKE and "no fake impl registered" in message:
        found = NO_FAKE
    if call == EXPORT_CALL:
        return _for_export(found, message)
    if found is not None:
        return found
    if call == PACKAGE_CALL:
        return PACKAGE
    if type_name in ("Unsupported", "UserError"):
        return FULLGRAPH if is_fullgraph else ERROR_ON_BREAK
    if type_name == "IndexError":
        return FAKE  # of an operator's dimension or index: the only kind that Dynamo lets through (torch/_dynamo/convert_frame.py)
    if type_name == "InductorError":
        return LOWERING if _stopped_in(traceback) == "graph.py" else INDUCTOR
    if type_name == "BackendCompilerFailed":
        return AOT if "_functorch" in traceback.replace("\\", "/") else BACKEND_ERROR
    return INTERNAL


def _by_text(type_name: str, message: str) -> Triage | None:
    if message.lstrip().startswith("Constraints violated"):
        return CONSTRAINT
    if UNEVALUATED in message:
        return DATA_DEPENDENT
    # torch/_inductor/runtime/triton_heuristics.py, around the error of the last configuration that it tried
    if "No valid triton configs." in message:
        return TRITON_RESOURCES if "OutOfResources" in message else TRITON
    return None


def _by_class(type_name: str, message: str) -> Triage | None:
    return next((BY_CLASS[name] for name in (type_name, *named_errors(message)) if name in BY_CLASS), None)


def _for_export(found: Triage | None, message: str) -> Triage:
    if found in (CONSTRAINT, DATA_DEPENDENT) and found is not None:
        return Triage(found.code, EXPORT.stage, found.hints + EXPORT.hints)
    if "no fake impl registered" in message or "no fake kernel" in message.lower():
        return Triage(EXPORT.code, EXPORT.stage, NO_FAKE.hints)
    return EXPORT


def named_errors(message: str) -> tuple[str, ...]:
    """The classes at the head of ``message``, outermost first, without their modules."""
    wrapped = BACKEND.match(message)
    at = wrapped.end() if wrapped else 0
    names: list[str] = []
    while (match := NAMED.match(message, at)) is not None:
        names.append(match["name"].rpartition(".")[2])
        at = match.end()
    return tuple(names)


def _stopped_in(traceback: str) -> str:
    """The file of Inductor's deepest frame."""
    files = [match["file"].replace("\\", "/") for match in TRACEBACK_FILE.finditer(traceback)]
    own = [file for file in files if "/torch/_inductor/" in file]
    return own[-1].rpartition("/")[2] if own else ""
