"""Turns facts about an interpreter and this machine into checks, each with a remedy where something is wrong."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from compile_lens import __version__
from compile_lens.agent.runtime.environment_facts import (
    CompilerFacts,
    DynamoFacts,
    EnvironmentFacts,
    GpuFacts,
    InternalsFacts,
    PythonFacts,
    SandboxFacts,
    TorchFacts,
    TritonFacts,
    UsersCacheFacts,
)
from compile_lens.shown_text import markdown_text
from compile_lens.workers.cache_health import find_cache_problem
from compile_lens.workers.cache_limit import measure

OLDEST_TORCH = (2, 6)
OLDEST_PYTHON, NEWEST_PYTHON = (3, 10), (3, 14)
LEAST_FREE_BYTES = 2_000_000_000
LONGEST_VALUE = 60
# what each kind of sandbox does (SECURITY.md)
HELD = {
    "overlay": "the kernel gives programs a copy of your files, without secrets and network access",
    "landlock": "the kernel blocks writes outside a scratch folder, secrets and the network",
    "python": "Python blocks writes outside a scratch folder, secrets and the network",
}


class CheckState(str, Enum):
    """How a check came out. ``problem``: analyses cannot run; ``warning``: some cannot, or they tell something else."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: what was found, and what to do about it (empty when there is nothing to do)."""

    name: str
    state: CheckState
    says: str
    remedy: str = ""


def examine(facts: EnvironmentFacts, cache: Path) -> list[Check]:
    """The checks, for what the interpreter said of itself (agent/runtime/environment_report.py) and our caches in ``cache``."""
    checks = [
        Check("Compile Lens", CheckState.OK, f"{__version__}, on Python {platform.python_version()}, {sys.platform}"),
        _python(facts.python),
        _torch(facts.torch),
    ]
    if facts.torch.version:
        checks += [
            _dynamo(facts.dynamo),
            *_internals(facts.torch_internals, facts.torch.version),
            _compiler(facts.compiler),
            _gpu(facts.gpu, facts.triton),
            _bisection(facts.users_cache, facts.environment),
        ]
    checks += [_sandbox(facts.sandbox), _environment(facts.environment), _caches(cache)]
    return checks


def worst(checks: Sequence[Check]) -> CheckState:
    """The gravest state among ``checks``."""
    order = list(CheckState)
    return max((check.state for check in checks), key=order.index, default=CheckState.OK)


def to_markdown(checks: Sequence[Check]) -> str:
    """The checks as a page for an editor."""
    marks = {CheckState.OK: "✓", CheckState.NOTE: "–", CheckState.WARNING: "⚠", CheckState.PROBLEM: "✗"}
    lines = ["# Compile Lens: environment", ""]
    for check in checks:
        lines.append(f"- {marks[check.state]} **{check.name}**: {markdown_text(check.says)}")
        if check.remedy:
            lines.append(f"  \n  → {markdown_text(check.remedy)}")
    return "\n".join(lines) + "\n"


def _version(text: str) -> tuple[int, ...]:
    numbers = []
    for part in text.split("+")[0].split(".")[:2]:
        digits = "".join(character for character in part if character.isdecimal())
        numbers.append(int(digits or 0))
    return tuple(numbers)


def _python(python: PythonFacts) -> Check:
    says = f"{python.version} at {python.executable}"
    if python.free_threaded:
        says += ", free-threaded"
    if _version(python.version) < OLDEST_PYTHON:
        return Check(
            "Python", CheckState.PROBLEM, says, "Python 3.10 or later is required. Choose another interpreter."
        )
    if _version(python.version) > NEWEST_PYTHON:
        return Check(
            "Python",
            CheckState.WARNING,
            says,
            "This Compile Lens supports Python 3.10 to 3.14. A newer one may support this Python.",
        )
    return Check("Python", CheckState.OK, says)


def _torch(torch: TorchFacts) -> Check:
    if not torch.version:
        if torch.missing:
            remedy = "Install torch there, or choose an interpreter that has it (--python, compileLens.python)."
            return Check("torch", CheckState.PROBLEM, "is not installed", remedy)
        return Check("torch", CheckState.PROBLEM, f"cannot be imported: {torch.error}", "Reinstall torch.")
    says = f"{torch.version} in {torch.folder}"
    if _version(torch.version) < OLDEST_TORCH:
        return Check("torch", CheckState.PROBLEM, says, "torch 2.6 or later is required.")
    return Check("torch", CheckState.OK, says)


def _dynamo(dynamo: DynamoFacts) -> Check:
    if dynamo.error:
        return Check(
            "Dynamo",
            CheckState.PROBLEM,
            dynamo.error,
            "torch.compile does not work in this interpreter. Choose another.",
        )
    return Check("Dynamo", CheckState.OK, "supports this Python")


def _internals(internals: InternalsFacts, torch: str) -> list[Check]:
    """One row where all private names are found that this torch should have; else one for each ability that is lost."""
    name = "torch internals"
    if internals.error:
        return [Check(name, CheckState.WARNING, f"could not be checked: {internals.error}")]
    if not internals.missing:
        return [Check(name, CheckState.OK, f"all {internals.declared} found")]
    lost: dict[str, list[str]] = {}
    for path, what in internals.missing.items():
        lost.setdefault(what, []).append(path)
    return [
        Check(
            name,
            CheckState.WARNING,
            f"torch {torch} has no {', '.join(f'`{path}`' for path in paths)}, needed for {what}",
            "A newer Compile Lens may support this torch.",
        )
        for what, paths in lost.items()
    ]


def _compiler(compiler: CompilerFacts) -> Check:
    install = {
        "linux": "Install g++ (Debian, Ubuntu: apt install g++), or name a compiler in CXX.",
        "darwin": "Install Apple's command line tools: xcode-select --install",
        "win32": "Install the Visual Studio build tools with C++, and start the editor from their prompt.",
    }.get(sys.platform, "Install a C++ compiler, or name one in CXX.")
    until_then = " Until then only the depths dynamo and aot work: CPU kernels cannot be compiled."
    if compiler.error or not compiler.path:
        said = compiler.error or f"{compiler.command} is not on the search path"
        return Check("C++ compiler", CheckState.WARNING, said, install + until_then)
    if compiler.builds is None and compiler.problem:
        return Check(
            "C++ compiler",
            CheckState.WARNING,
            f"{compiler.command} at {compiler.path} was not started: {compiler.problem}",
            "Runs in the sandbox use it, but nothing is compiled ahead of them. Name a compiler elsewhere in CXX or PATH to change that.",
        )
    says = f"{compiler.version or compiler.command} at {compiler.path}"
    if compiler.builds is False:
        return Check(
            "C++ compiler",
            CheckState.WARNING,
            f"{says} cannot compile with OpenMP: {compiler.problem}",
            install + until_then,
        )
    return Check("C++ compiler", CheckState.OK, says)


def _gpu(gpu: GpuFacts, triton: TritonFacts) -> Check:
    if gpu.error:
        return Check(
            "GPU",
            CheckState.WARNING,
            gpu.error,
            "Check the driver with `nvidia-smi`, and the build of torch.",
        )
    if not gpu.usable:
        if gpu.built_for:
            return Check("GPU", CheckState.NOTE, f"none is available, though torch is built for {gpu.built_for}")
        return Check("GPU", CheckState.NOTE, "none: torch is built for the CPU")
    says = f"{', '.join(gpu.names)}; torch is built for {gpu.built_for}"
    if not triton.version:
        return Check(
            "GPU",
            CheckState.WARNING,
            f"{says}; triton is missing",
            "Install triton, which GPU kernels need: pip install triton",
        )
    return Check("GPU", CheckState.OK, f"{says}; triton {triton.version}")


def _bisection(cache: UsersCacheFacts, environment: Mapping[str, str]) -> Check:
    name = "Unfinished bisection"
    if left := sorted(variable for variable in environment if variable.startswith("TORCH_BISECT_")):
        says = f"{', '.join(left)} set in the environment: every torch.compile call uses the backend of a bisection"
        return Check(name, CheckState.WARNING, says, f"Unset {', '.join(left)}.")
    if cache.error:
        return Check(name, CheckState.NOTE, f"could not be checked: {cache.error}")
    if cache.bisect_status is not None:
        folder = Path(cache.folder) / "bisect"
        says = f"{folder} exists: every torch.compile call of yours uses the backend of that bisection"
        return Check(name, CheckState.WARNING, says, f"Delete the folder {folder}, unless a bisection is running.")
    return Check(name, CheckState.OK, f"none in {cache.folder}")


def _sandbox(sandbox: SandboxFacts) -> Check:
    name, trust = "Sandbox", "Analyze only programs that you trust, or set compileLens.run.enabled to never."
    if sandbox.error:
        return Check(name, CheckState.WARNING, f"cannot be set up: {sandbox.error}", trust)
    says = f"{sandbox.kind}: {HELD[sandbox.kind]}"
    if sandbox.open_ends:
        says += f"; not confined: {', '.join(sandbox.open_ends)}"
    if sandbox.reason:
        says += f" ({sandbox.reason})"
    if sandbox.kind == "python":
        return Check(name, CheckState.WARNING, says, trust)
    return Check(name, CheckState.NOTE if sandbox.open_ends else CheckState.OK, says)


def _environment(environment: Mapping[str, str]) -> Check:
    if not environment:
        return Check("Environment", CheckState.OK, "no variable changes how torch compiles")
    shown = ", ".join(f"{name}={_short(value)}" for name, value in environment.items())
    return Check("Environment", CheckState.NOTE, f"these variables change how torch compiles: {shown}")


def _short(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else value[:LONGEST_VALUE] + "…"


def _caches(root: Path) -> Check:
    problem = find_cache_problem(root)
    if problem is not None:
        # with a folder that exists, runs that only trace still work
        state = CheckState.WARNING if root.is_dir() else CheckState.PROBLEM
        return Check("Caches", state, problem.says, problem.remedy)
    says = f"{sum(part.bytes for part in measure(root)) / 1e9:.1f} GB in {root}"
    free = shutil.disk_usage(next(path for path in (root, *root.parents) if path.exists())).free
    if free < LEAST_FREE_BYTES:
        return Check(
            "Caches",
            CheckState.WARNING,
            f"{says}; {free / 1e9:.1f} GB are free on that disk",
            "Free disk space: compile-lens cache clear",
        )
    return Check("Caches", CheckState.OK, says)
