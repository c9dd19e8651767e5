"""Chooses logs for a finding by its kind, its code and the stage that failed, as commands to copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compile_lens.analysis.finding import Kind
from compile_lens.shown_text import code_block, markdown_text, one_line, shell_line


@dataclass(frozen=True, slots=True)
class LogRun:
    """One way to run a program again and see more. ``environment`` holds the variables to set; ``shows`` says what they show."""

    title: str
    environment: tuple[tuple[str, str], ...]
    shows: str

    def line(self, command: Sequence[str]) -> str:
        """A line for a POSIX shell."""
        return " ".join([*(f"{name}={shell_line([value])}" for name, value in self.environment), shell_line(command)])


# TORCH_LOGS by the stage of a compile error (analysis/error_stages.py)
_BY_STAGE: dict[str, tuple[str, str]] = {
    "dynamo": ("+dynamo", "each instruction as Dynamo traces it, up to the one that fails"),
    "fake tensors": ("+dynamo,graph_code", "the operators with the shapes and dtypes of their inputs"),
    "aot": ("+aot,aot_graphs,aot_joint_graph", "the graphs that AOTAutograd captures and transforms"),
    "backend": ("graph_code,aot_graphs", "the graph that the backend receives"),
    "inductor lowering": ("+inductor,post_grad_graphs,ir_pre_fusion", "each node as it is lowered"),
    "inductor codegen": ("schedule,fusion,output_code", "which nodes are fused, and the generated code"),
    "c++": ("output_code", "the C++ code that does not compile, with the path of its file"),
    "triton": ("output_code,kernel_code", "the kernels that Triton does not compile"),
    "export": ("+export,+dynamic,graph_code", "what export traces, and its constraints on sizes"),
    "aoti packaging": ("+inductor,output_code", "the code in the package"),
}
_BY_CODE: dict[str, tuple[str, str]] = {
    "data-dependent-error": ("+dynamic", "each unbacked size, and the guard that could not be evaluated"),
    "constraint-violation": ("+dynamic,guards", "each size, and what specializes it"),
}
_CRASHES = frozenset({"inductor codegen", "c++", "triton", "backend"})


def log_runs(kind: Kind, code: str = "", stage: str = "") -> tuple[LogRun, ...]:
    """Ways to run again for a finding, the most useful first."""
    logs, shows = _BY_CODE.get(code) or _BY_STAGE.get(stage) or (kind.row.logs, kind.row.shows)
    runs = [
        LogRun("Run with logs", (("TORCH_LOGS", logs),), shows),
        LogRun(
            "Run with a trace",
            (("TORCH_TRACE", "torch-trace"),),
            "every graph, guard and kernel, as files for `compile-lens trace torch-trace` and tlparse",
        ),
    ]
    if kind.row.has_debug_output:
        runs.append(
            LogRun(
                "Keep the compiler's output",
                (("TORCH_COMPILE_DEBUG", "1"),),
                "a folder torch_compile_debug with graphs, IR before and after fusion, and generated code",
            )
        )
    if kind.row.may_crash or stage in _CRASHES:
        runs += [
            LogRun(
                "Report the error where it occurs",
                (
                    ("CUDA_LAUNCH_BLOCKING", "1"),
                    ("TORCHINDUCTOR_COMPILE_THREADS", "1"),
                    ("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1"),
                    ("PYTHONFAULTHANDLER", "1"),
                ),
                "the error at the call that causes it, in one process and without caches",
            ),
            LogRun(
                "Stop at the first NaN",
                (("TORCHINDUCTOR_NAN_ASSERTS", "1"),),
                "the first kernel with NaN or infinity in its inputs or outputs",
            ),
        ]
    return tuple(runs)


def document(title: str, runs: Sequence[LogRun], command: Sequence[str]) -> str:
    """The ways as Markdown, each with a command to copy."""
    parts = [f"# {markdown_text(one_line(title))}"]
    parts += [f"## {run.title}\n\nShows {run.shows}.\n\n{code_block(run.line(command), 'sh')}" for run in runs]
    return "\n\n".join(parts) + "\n"


def known_stages() -> tuple[str, ...]:
    """The stages that have logs of their own."""
    return tuple(_BY_STAGE)


def command_of(python: str, file: Path, arguments: Sequence[str] = ()) -> list[str]:
    """The command that runs a file."""
    return [python, str(file), *arguments]
