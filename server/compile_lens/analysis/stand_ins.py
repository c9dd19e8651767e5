"""Reports what replaced a GPU or other processes, and where a program may behave differently on its real machine."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.finding import Finding, Kind, Severity
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.trace.stand_ins import MissingResource, StandIn

CPU_FOR_GPU = "cpu-for-gpu"
ANSWER = "gpu-answer"
TRITON = "triton-kernel"
PROCESSES = "one-process"
NO_TERMINAL = "no-terminal"
NONE = "no-stand-in"
USES = ("device", "available")
NO_KERNELS = "no-kernels"
SAME = (
    "Tensors report `cuda:0` but are in CPU memory, and `torch.cuda` reports one NVIDIA H100. Graph breaks, guards and recompiles are"
    " those of the GPU program. Kernels, CUDA graphs and times are not."
)
STOPPED = " GPU kernels cannot be compiled on this machine, so compilation stopped after AOTAutograd."
NO_GPU, LEFT_FREE = "no GPU is available", "this run leaves your GPU free"
ALLOW_GPU = "To run on the GPU, set `compileLens.sandbox.gpu`; in a terminal, omit `--no-gpu`."
IN_COPIES = (
    "Calls are searched for in copies of the process, and in the sandbox only the process itself can use the GPU. To run on it, give the"
    " inputs (`get_inputs()`), or pass `--no-sandbox --entry synthesized`."
)
SWITCH = 'To turn this off, set `compileLens.run.standIn` to "off" or pass `--stand-in off`.'
ASSUMED = {
    "properties": (
        "The GPU properties read here are assumed: those of an NVIDIA H100 (capability 9.0, 80 GB).",
        "On another GPU the program may take a different branch.",
    ),
    "memory": (
        "The GPU memory read here is assumed: all of it is free.",
        "Decisions that depend on it may differ on a GPU.",
    ),
    "time": (
        "The GPU time read here is assumed: one millisecond between any two events.",
        "Decisions that depend on it may differ on a GPU.",
    ),
}
# nobody can type: what the program gets instead, and how Python ends one that has no terminal
UNATTENDED = {
    "debugger": (
        "The program stops in a debugger here. The run continued, as with the command `continue`.",
        "In a terminal, the program waits here. Without one, Python ends it with `BdbQuit`.",
    ),
    "prompt": (
        "The program waits for input here. The run continued, as with an empty line.",
        "In a terminal, the program waits here. Without one, Python raises `EOFError`.",
    ),
}
OTHER_RANKS = "Collectives return this process's own data. Effects of the data or shapes of other ranks are not shown."
LAUNCHER = "They are `RANK=0`, `WORLD_SIZE=1`, `LOCAL_RANK=0` and the like, as with `torchrun --nproc-per-node 1`."
NOT_WRITTEN = (
    "Its outputs were left unchanged, so values computed from them are wrong. Dynamo traces the call as on a GPU."
)


def find_stand_ins(context: RunContext) -> Iterator[Finding]:
    """One finding for the device itself, where it was first used; one for each line that may behave differently on a GPU."""
    report, sources = context.report, context.sources
    uses = [one for what in USES for one in report.stand_ins if one.what == what]
    stopped = any(one.what == NO_KERNELS for one in report.stand_ins)
    if uses:
        explanation = SAME + (STOPPED if stopped else "")
        how = ALLOW_GPU if context.without_gpu else IN_COPIES
        why, hints = (LEFT_FREE, (how, SWITCH)) if context.leaves_gpu_free else (NO_GPU, (SWITCH,))
        message = f"Ran on an emulated CUDA device (`cuda:0`); {why}."
        yield stand_in_finding(CPU_FOR_GPU, Severity.INFORMATION, message, explanation, uses[0], sources, hints)
    for one in report.stand_ins:
        if one.what in ASSUMED:
            yield stand_in_finding(ANSWER, Severity.HINT, *ASSUMED[one.what], one, sources)
        elif one.what == "triton":
            yield _triton(one, sources)
        elif one.what == "processes":
            yield stand_in_finding(PROCESSES, Severity.INFORMATION, one.text, OTHER_RANKS, one, sources)
        elif one.what == "launcher":
            message = f"`{one.text}` is not set, so the variables of `torchrun` were set as for a single process."
            yield stand_in_finding(PROCESSES, Severity.INFORMATION, message, LAUNCHER, one, sources)
        elif one.what in UNATTENDED:
            yield stand_in_finding(NO_TERMINAL, Severity.INFORMATION, *UNATTENDED[one.what], one, sources)
        elif one.what == "unsupported":
            message = f"The GPU that this program uses cannot be emulated: {one.text}."
            yield stand_in_finding(NONE, Severity.WARNING, message, "The program ran without a GPU.", one, sources)


def _triton(one: StandIn, sources: Sources) -> Finding:
    name, _, problem = one.text.partition("\n")
    if not problem:
        message = f"The Triton kernel `{name}` ran in Triton's interpreter."
        explanation = "It was not compiled: errors of the Triton compiler and the kernel's speed are unknown."
        return stand_in_finding(TRITON, Severity.HINT, message, explanation, one, sources)
    message = f"The Triton kernel `{name}` did not run: {problem}"
    return stand_in_finding(TRITON, Severity.WARNING, message, NOT_WRITTEN, one, sources)


def stand_in_finding(
    code: str,
    severity: Severity,
    message: str,
    explanation: str,
    one: StandIn | MissingResource,
    sources: Sources,
    hints: tuple[str, ...] = (),
) -> Finding:
    """The finding of what stood in for something that is missing, where the program asked for it."""
    return Finding(
        code=code,
        kind=Kind.STAND_IN,
        severity=severity,
        message=message,
        place=sources.own_place(one.stack),
        explanation=explanation,
        hints=hints,
        call_path=call_path(one.stack, sources),
        detail=one.why if isinstance(one, MissingResource) else "",
    )
