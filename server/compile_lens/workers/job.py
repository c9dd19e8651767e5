"""What a worker is asked to run, and how it ended: plain data for the host and its callers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from compile_lens.agent.runtime.entry_plans import EntryPlan
from compile_lens.agent.runtime.preview_protocol import GpuPreviewRequest
from compile_lens.agent.runtime.protocol import (
    CaptureRequest,
    Depth,
    OwnInterpreter,
    ResultNotes,
    RunEnded,
    Substitution,
    VariationRequest,
)
from compile_lens.agent.runtime.search_protocol import BisectRequest, MinifyRequest
from compile_lens.workers.access import Access, ResourceLimits, SandboxOptions

# parts of a job that the agent reads, too
__all__ = [
    "BisectRequest",
    "CaptureRequest",
    "Depth",
    "End",
    "EndKind",
    "GpuPreviewRequest",
    "Job",
    "MinifyRequest",
    "OwnInterpreter",
    "ResultNotes",
    "Substitution",
    "VariationRequest",
]


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a file. ``text`` is unsaved text from the editor, or None to read the file. ``timeout_s`` is wall clock.

    ``compare``: what compiled graphs compute is compared with eager. ``results``: what regions compute is noted, from the same random
    seed in each run.
    ``torch_options`` are options of the compiler by their full names, as text (``torch._inductor.config.max_autotune``: ``True``).
    ``entry`` names how it is run, for people; ``plan`` is what the agent is told of that, None for a script.
    ``search`` is what a search driver of the agent does with the file instead (agent/search).
    ``own_interpreter``: it runs as a shell would start it, and nothing of it is watched.
    ``preview``: it is compiled for that GPU, which need not be there, and compiled code is not run.
    ``up_to``: ``text`` is the file up to that line alone, as it was asked for; 0 for all of it.
    ``launch`` names the configuration of the workspace's launch.json that its arguments, environment and folder are from.
    ``emulation_failed`` says why no GPU is emulated though ``stand_in`` allows it: an earlier run of the same program crashed in it.
    ``stand_in`` is for GPUs and other processes, ``missing_weights`` for weights, ``missing_data`` for data sets and arrays;
    ``missing_modules`` for modules that are not installed (stubs); the latter three are off with full access.
    ``workspace`` is the folder that the user opened, or the project's, '' for none: its files may be spoken of, too,
    and its sandboxed runs share caches (the file's own folder, if there is none).
    ``sandbox`` and ``budget`` hold where the access is ``sandboxed``.
    """

    file: str
    depth: Depth = Depth.DYNAMO
    text: str | None = None
    argv: tuple[str, ...] = ()
    cwd: str | None = None
    workspace: str = ""
    timeout_s: float = 60.0
    entry: str = "script"
    plan: EntryPlan | None = None
    env: dict[str, str] = field(default_factory=dict)
    compare: bool = False
    torch_options: dict[str, str] = field(default_factory=dict)
    stages: bool = False
    stand_in: Substitution = Substitution.AUTO
    emulation_failed: str = ""
    missing_weights: Substitution = Substitution.AUTO
    missing_data: Substitution = Substitution.AUTO
    missing_modules: Substitution = Substitution.AUTO
    search: BisectRequest | MinifyRequest | None = None
    capture: CaptureRequest | None = None
    vary: VariationRequest | None = None
    preview: GpuPreviewRequest | None = None
    results: ResultNotes = ResultNotes.OFF
    own_interpreter: OwnInterpreter | None = None
    up_to: int = 0
    launch: str = ""
    access: Access = Access.SANDBOXED
    sandbox: SandboxOptions = field(default_factory=SandboxOptions)
    budget: ResourceLimits = field(default_factory=ResourceLimits)


class EndKind(str, Enum):
    """Why a run's process is gone."""

    FINISHED = "finished"  # the program came to its end, or raised
    EXITED = "exited"  # the process ended itself without coming back (os._exit)
    SIGNALLED = "signalled"  # a signal ended it (segmentation fault, out of memory)
    TIMEOUT = "timeout"
    IDLE = "idle"  # nothing was compiled any more
    BUDGET = "budget"  # it used up what it may
    CANCELLED = "cancelled"
    LOST = "lost"  # the worker itself is gone


@dataclass(frozen=True, slots=True)
class End:
    """How a run ended. ``code`` is the exit code or the signal number; ``crash_stack`` is faulthandler's text, if any.

    ``reason`` is what was used up: ``memory``, ``cpu``, ``processes``, ``disk`` or ``output``, or ``machine``, the memory of all programs.
    ``ran_s``: how long it ran without what it waited for processors that other programs had; 0 where that is not known.
    ``left``: about how many names in shared memory are still to be deleted.
    """

    kind: EndKind
    code: int = 0
    crash_stack: str = ""
    output: str = ""
    output_bytes: int = 0
    reason: str = ""
    ran_s: float = 0.0
    left: int = 0

    @classmethod
    def told(cls, ended: RunEnded, came_back: bool) -> End:
        """What the agent says of it. A program that finished and never ``came_back`` from its last line has exited."""
        # closed: the host itself is being ended
        kind = EndKind.CANCELLED if ended.kind == "closed" else EndKind(ended.kind)
        if kind is EndKind.FINISHED and not came_back:
            kind = EndKind.EXITED
        return cls(kind, ended.code, ended.crash_stack, reason=ended.reason, ran_s=ended.ran_s, left=ended.left)
