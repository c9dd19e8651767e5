"""What stood in for a GPU, or for other processes, and where a program may do otherwise on the machine that it is meant for."""

from __future__ import annotations

from collections.abc import Iterator

from compile_lens.analysis.call_path import call_path
from compile_lens.analysis.finding import Finding, Kind, Severity
from compile_lens.analysis.run_context import RunContext
from compile_lens.analysis.sources import Sources
from compile_lens.trace.report import StandIn

CPU_FOR_GPU = "cpu-for-gpu"
ANSWER = "gpu-answer"
TRITON = "triton-kernel"
PROCESSES = "one-process"
NONE = "no-stand-in"
USES = ("device", "available")
NO_KERNELS = "no-kernels"
SAME = (
    "The tensors say `cuda:0` and hold their values in the CPU's memory, and `torch.cuda` answers as with one NVIDIA H100, so Dynamo"
    " met the same Python: graph breaks, guards and recompiles are those of the GPU program. Kernels, CUDA graphs and times are not."
)
STOPPED = " Kernels for a GPU cannot be compiled here, so the run stopped after AOTAutograd."
SWITCH = 'To run without, set `compileLens.run.standIn` to "off", or give `--stand-in off`.'
ASKED = {
    "properties": (
        "The properties of the GPU are assumed here: those of an NVIDIA H100 (capability 9.0, 80 GB).",
        "On another GPU the program may take another way from here on.",
    ),
    "memory": (
        "The figures of the GPU's memory are assumed here: all of it is free, and nothing is used.",
        "What the program decides by them may differ on a GPU.",
    ),
    "time": (
        "A time on the GPU is assumed here: one millisecond between any two events.",
        "What the program decides by it may differ on a GPU.",
    ),
}
OTHER_RANKS = "Collectives give back what this process holds. What depends on the data or the shapes of other ranks does not show."
NOT_WRITTEN = "What it writes stayed as it was, so values behind it are none that a GPU would give. Dynamo traces its call as on a GPU."


def find_stand_ins(context: RunContext) -> Iterator[Finding]:
    """One finding for the device itself, where it was first used; one for each line that may do otherwise on a GPU."""
    report, sources = context.report, context.sources
    uses = [one for what in USES for one in report.stand_ins if one.what == what]
    stopped = any(one.what == NO_KERNELS for one in report.stand_ins)
    if uses:
        explanation = SAME + (STOPPED if stopped else "")
        message = "This ran on the CPU in place of `cuda:0`: there is no GPU that it may use."
        yield _finding(CPU_FOR_GPU, Severity.INFORMATION, message, explanation, uses[0], sources, (SWITCH,))
    for one in report.stand_ins:
        if one.what in ASKED:
            yield _finding(ANSWER, Severity.HINT, *ASKED[one.what], one, sources)
        elif one.what == "triton":
            yield _triton(one, sources)
        elif one.what == "processes":
            yield _finding(PROCESSES, Severity.INFORMATION, one.text, OTHER_RANKS, one, sources)
        elif one.what == "unsupported":
            message = f"Nothing stands in for the GPU that this program asks for: {one.text}."
            yield _finding(NONE, Severity.WARNING, message, "The program ran as it does on this machine.", one, sources)


def _triton(one: StandIn, sources: Sources) -> Finding:
    name, _, problem = one.text.partition("\n")
    if not problem:
        message = f"The Triton kernel `{name}` ran in Triton's interpreter."
        explanation = "It was not compiled: errors of Triton's compiler, and how fast it is, do not show."
        return _finding(TRITON, Severity.HINT, message, explanation, one, sources)
    message = f"The Triton kernel `{name}` did not run: {problem}"
    return _finding(TRITON, Severity.WARNING, message, NOT_WRITTEN, one, sources)


def _finding(
    code: str,
    severity: Severity,
    message: str,
    explanation: str,
    one: StandIn,
    sources: Sources,
    hints: tuple[str, ...] = (),
) -> Finding:
    return Finding(
        code=code,
        kind=Kind.STAND_IN,
        severity=severity,
        message=message,
        place=sources.own_place(one.stack),
        explanation=explanation,
        hints=hints,
        call_path=call_path(one.stack, sources),
    )
