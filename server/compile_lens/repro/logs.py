"""Which logs to run with for a finding: by its kind, its code and the stage that failed, as an environment line to copy."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compile_lens.analysis.finding import Kind


@dataclass(frozen=True, slots=True)
class LogRun:
    """One way to run a program again and see more. ``environment`` is set for it; ``shows`` says what is then there to read."""

    title: str
    environment: tuple[tuple[str, str], ...]
    shows: str

    def line(self, command: Sequence[str]) -> str:
        """A line for a POSIX shell."""
        return " ".join([*(f"{name}={shlex.quote(value)}" for name, value in self.environment), shlex.join(command)])


# TORCH_LOGS by the stage of a compile error (analysis/error_stages.py)
_BY_STAGE: dict[str, tuple[str, str]] = {
    "dynamo": ("+dynamo", "each instruction as Dynamo traces it, up to the one that fails"),
    "fake tensors": ("+dynamo,graph_code", "the operators with the shapes and dtypes that go into them"),
    "aot": ("+aot,aot_graphs,aot_joint_graph", "the graphs that AOTAutograd makes, and what it does to them"),
    "backend": ("graph_code,aot_graphs", "the graph that the backend was given"),
    "inductor lowering": ("+inductor,post_grad_graphs,ir_pre_fusion", "each node as it is lowered"),
    "inductor codegen": ("schedule,fusion,output_code", "what is fused, and the code that is made of it"),
    "c++": ("output_code", "the C++ that the compiler refuses, with the path of its file"),
    "triton": ("output_code,kernel_code", "the kernels that Triton refuses"),
    "export": ("+export,+dynamic,graph_code", "what export traces, and the sizes that it learns"),
    "aoti packaging": ("+inductor,output_code", "the code that goes into the package"),
}
_BY_CODE: dict[str, tuple[str, str]] = {
    "data-dependent-error": ("+dynamic", "each unbacked size, and the guard that could not be answered"),
    "constraint-violation": ("+dynamic,guards", "each size, and what fixes it"),
}
_CRASHES = frozenset({"inductor codegen", "c++", "triton", "backend"})


def log_runs(kind: Kind, code: str = "", stage: str = "", trace_folder: str = "torch-trace") -> tuple[LogRun, ...]:
    """Ways to run again for a finding, the most fitting first."""
    logs, shows = _BY_CODE.get(code) or _BY_STAGE.get(stage) or (kind.row.logs, kind.row.shows)
    runs = [
        LogRun("Run with logs", (("TORCH_LOGS", logs),), shows),
        LogRun(
            "Run with a trace",
            (("TORCH_TRACE", trace_folder),),
            f"every graph, guard and kernel, as files for `compile-lens trace {trace_folder}` and tlparse",
        ),
    ]
    if kind.row.has_debug_output:
        runs.append(
            LogRun(
                "Keep what the compiler makes",
                (("TORCH_COMPILE_DEBUG", "1"),),
                "a folder torch_compile_debug with graphs, IR before and after fusion, and generated code",
            )
        )
    if kind.row.may_crash or stage in _CRASHES:
        runs += [
            LogRun(
                "Fail where it fails",
                (
                    ("CUDA_LAUNCH_BLOCKING", "1"),
                    ("TORCHINDUCTOR_COMPILE_THREADS", "1"),
                    ("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1"),
                    ("PYTHONFAULTHANDLER", "1"),
                ),
                "the error at the call that causes it, in one process, with nothing from a cache",
            ),
            LogRun(
                "Stop at the first NaN",
                (("TORCHINDUCTOR_NAN_ASSERTS", "1"),),
                "an assertion at the first kernel with a NaN or infinity among its inputs or outputs",
            ),
        ]
    return tuple(runs)


def document(title: str, runs: Sequence[LogRun], command: Sequence[str]) -> str:
    """The ways as Markdown, each with its line to copy."""
    parts = [f"# {title}"]
    parts += [f"## {run.title}\n\nShows {run.shows}.\n\n```sh\n{run.line(command)}\n```" for run in runs]
    return "\n\n".join(parts) + "\n"


def known_stages() -> tuple[str, ...]:
    """The stages that have logs of their own."""
    return tuple(_BY_STAGE)


def command_of(python: str, file: Path, arguments: Sequence[str] = ()) -> list[str]:
    """How a file is run."""
    return [python, str(file), *arguments]
