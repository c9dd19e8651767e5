"""Defines the messages between server and agent: commands, events, and the form of a frame.

Both sides load this file, ``entry_plans`` and ``search_protocol``, which need the standard library alone, and Python 3.10. Names of fields
are those in JSON, which recorded runs have, too (tests/data). What the other side would misread raises ``PROTOCOL_VERSION``.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

from . import entry_protocol as entry_protocol  # its events are events of a run
from .entry_plans import EntryPlan
from .message import AgentEvent as AgentEvent
from .message import Message, from_json, to_json
from .preview_protocol import GpuPreviewRequest
from .search_protocol import BisectRequest, MinifyRequest

PROTOCOL_VERSION = 2

# A frame is a magic, one byte of kind, four bytes of length (big endian), the payload. The magic lets the host find the next frame after
# bytes that a program wrote to a descriptor that is not its own.
MAGIC = b"\x89CLw"
EVENT, TRACE, CHUNK = b"E", b"T", b"C"
LENGTH = struct.Struct(">I")
# whatever the standby reads during a run ends that run
CANCEL_LINE = b'{"cancel": true}\n'
# a standby tries the emulated CUDA device for so long before the first run that needs it (agent/substitutes/cuda/trial.py)
TRIAL_LIMIT_S = 60.0


class Depth(str, Enum):
    """How far a run compiles. ``dynamo`` stops after Dynamo; ``aot`` after AOTAutograd; ``inductor`` is as written."""

    DYNAMO = "dynamo"
    AOT = "aot"
    INDUCTOR = "inductor"


class Substitution(str, Enum):
    """Whether something stands in for what a program asks for and is not there: a GPU, other processes, weights."""

    AUTO = "auto"
    OFF = "off"


class SandboxKind(str, Enum):
    """What confines a run, the strongest first."""

    OVERLAY = "overlay"
    LANDLOCK = "landlock"
    PYTHON = "python"


# -- commands, from the server


# what a run has for shared memory, in its scratch folder
SHARED_IN_SCRATCH = "shared-memory"
# how the device files of GPUs begin
GPU_DEVICES = ("nvidia", "dri", "kfd", "dxg", "accel")
# variables that let a program ask a process outside the sandbox to act for it
SERVICE_VARIABLES = (
    "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
    "VSCODE_IPC_HOOK_CLI", "VSCODE_GIT_IPC_HANDLE", "GIT_ASKPASS", "SSH_ASKPASS", "NVIM", "NVIM_LISTEN_ADDRESS", "TMUX",
)  # fmt: skip


@dataclass(frozen=True)
class SandboxSpec(Message):
    """What a run may do and use. ``scratch`` is the folder that the agent makes for it; ``caches`` are private ones that stay.
    ``allow_write`` has no links in it.

    ``strongest`` is the most that is tried. ``gpu``: it may use the GPUs of this machine, which has some; ``hides_gpus``: its variables say
    that there is none. The numbers are of all its processes together, 0 for no limit. ``brought``: compilers and their files that the
    variables name, and repositories brought.
    """

    strongest: SandboxKind
    scratch: str
    caches: tuple[str, ...]
    allow_write: tuple[str, ...]
    network: bool
    gpu: bool
    niceness: int
    memory_bytes: int
    disk_bytes: int
    cpu_s: int
    processes: int
    hides_gpus: bool = True
    brought: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaptureRequest(Message):
    """A run also writes down the calls of its compile regions, for a repro.

    ``exact_folder``: tensors are saved there with their values; None describes them, to be made anew from a seed.
    """

    exact_folder: str | None = None


@dataclass(frozen=True)
class VariationRequest(Message):
    """A run also calls its compile regions again with other inputs. ``names`` are those of what they wrap; none means all.

    ``usual``: only in the ways in which most users call a model, with other sizes, too, unless it ``has_sizes``: then it is a program that
    shows which it has. ``seconds`` is the limit for all of the run, 0 for that of the run.
    """

    names: tuple[str, ...] = ()
    usual: bool = False
    has_sizes: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Packages(Message):
    """Modules of installed packages that a run has imported, in order, and the user's own files that it had besides."""

    modules: tuple[str, ...]
    own_files: tuple[str, ...]


@dataclass(frozen=True)
class OwnInterpreter(Message):
    """A script runs as a shell would start it: in an interpreter of its own, with ``variables``, and without those whose names begin
    with one of ``without``.

    Where Python alone restricts a program, which another interpreter would not do, it runs in the process of the run.
    """

    without: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


class ResultNotes(str, Enum):
    """Whether a run notes what its regions compute."""

    OFF = "off"
    COMPILED = "compiled"
    EAGER = "eager"
    # compiled as far as Inductor writes code, which is not compiled in turn
    LOWERED = "lowered"


@dataclass(frozen=True)
class RunCommand(Message):
    """Run ``file`` (``text`` in its place, if that is given), or search with it where ``bisect`` or ``minify`` is set.

    ``plan`` says how it is run, None for a script. ``results``: what regions compute is noted, as compiled, in eager (nothing is
    compiled then), or lowered, whatever the depth. ``magic`` begins each frame of the run, in hexadecimal.
    ``preview``: the program is compiled as for a GPU that is not there, and compiled code is not run.
    ``trials`` is the folder where trials of the emulated CUDA device are remembered. ``emulation_failed``: nothing is emulated, and why.
    ``packages`` are those of the run before: it may start in a process that has imported them.
    ``as_written``: arguments that nobody passed are not made up, and nothing runs after a statement that failed, whatever the plan.
    """

    file: str
    cwd: str
    depth: Depth = Depth.DYNAMO
    text: str | None = None
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    plan: EntryPlan | None = None
    timeout_s: float = 60.0
    compare: bool = False
    torch_options: Mapping[str, str] = field(default_factory=dict)
    stages: bool = False
    stand_in: Substitution = Substitution.AUTO
    trials: str = ""
    emulation_failed: str = ""
    missing_weights: Substitution = Substitution.AUTO
    missing_data: Substitution = Substitution.AUTO
    missing_modules: Substitution = Substitution.AUTO
    as_written: bool = False
    capture: CaptureRequest | None = None
    vary: VariationRequest | None = None
    results: ResultNotes = ResultNotes.OFF
    bisect: BisectRequest | None = None
    minify: MinifyRequest | None = None
    preview: GpuPreviewRequest | None = None
    own_interpreter: OwnInterpreter | None = None
    sandbox: SandboxSpec | None = None
    packages: Packages | None = None
    magic: str = MAGIC.hex()

    @property
    def search(self) -> BisectRequest | MinifyRequest | None:
        """The search that is asked for instead of a run."""
        return self.bisect or self.minify


@dataclass(frozen=True)
class LoadCommand(Message):
    """While no run goes on: import ``load`` in a copy of the standby, with the variables ``env`` of the runs that are to start there.

    ``network``: those runs have one. ``compiles``: they may compile down to kernels, so the copy does so once before.
    """

    load: Packages
    env: Mapping[str, str]
    network: bool
    compiles: bool = False


# -- events, from the agent


@dataclass(frozen=True)
class StackLine(Message):
    """One frame of a stack; the columns are there from Python 3.11 on."""

    file: str
    line: int
    name: str
    text: str
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


@dataclass(frozen=True)
class Hello(AgentEvent):
    """torch is imported. ``forks``: the agent can do many runs; otherwise one.

    ``library_roots`` are the folders of installed code in that interpreter, torch's own included (it may be a checkout).
    ``import_paths`` are those that it imports from besides, editable installs among them.
    """

    name: ClassVar[str] = "hello"
    pid: int
    torch: str
    python: str
    forks: bool
    seconds: float
    library_roots: tuple[str, ...]
    version: int = 0
    import_paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class NoTorch(AgentEvent):
    """torch cannot be used: it is ``missing``, or ``message`` says what it raised."""

    name: ClassVar[str] = "no-torch"
    missing: bool
    message: str


@dataclass(frozen=True)
class RunStarted(AgentEvent):
    """The process of a run exists."""

    name: ClassVar[str] = "started"
    pid: int


@dataclass(frozen=True)
class RunEnded(AgentEvent):
    """The process of a run is gone, and all that it started. ``code`` is its exit code or signal; ``reason`` names a limit.

    ``ran_s``: how long it ran, without the time for which it waited while other programs had the processors; 0 where that is not known.
    ``left``: about how many names that it has left in shared memory are still to be deleted.
    """

    name: ClassVar[str] = "end"
    kind: str
    code: int
    crash_stack: str
    reason: str = ""
    ran_s: float = 0.0
    left: int = 0


@dataclass(frozen=True)
class CompilerActivity(AgentEvent):
    """The compiler begins (``now``) or stops to work."""

    name: ClassVar[str] = "compiling"
    now: bool


@dataclass(frozen=True)
class MissingRequirementReport(Message):
    """What a program needs and does not find: ``what`` in words, and its ``name``."""

    what: str
    name: str


@dataclass(frozen=True)
class ProgramRaised(AgentEvent):
    """The program ended with an exception. ``of_device``: code for GPUs, torch's or what emulates one, raised it."""

    name: ClassVar[str] = "raised"
    type: str
    module: str
    message: str
    stack: tuple[StackLine, ...]
    formatted: str
    missing: MissingRequirementReport | None = None
    of_device: bool = False


@dataclass(frozen=True)
class RaisedAside(AgentEvent):
    """An exception that did not end the run. ``where`` is ``import``, ``statement`` (both of the analyzed file), ``thread`` or ``atexit``;
    ``mended`` where the statement ran without a part, ``moved`` where what failed ran with what means the same as a removed name,
    ``lacking`` where nothing does.

    ``owner`` is the name of the thread, or of the function that was registered with ``atexit``.
    """

    name: ClassVar[str] = "raised-aside"
    where: str
    raised: ProgramRaised
    owner: str = ""


@dataclass(frozen=True)
class ProgramDone(AgentEvent):
    """The program came to its end."""

    name: ClassVar[str] = "done"


@dataclass(frozen=True)
class FileUnreadable(AgentEvent):
    """The file is no text that Python could run."""

    name: ClassVar[str] = "unreadable"
    message: str


@dataclass(frozen=True)
class SandboxFailed(AgentEvent):
    """The sandbox could not be entered, so nothing was run."""

    name: ClassVar[str] = "unsafe"
    message: str


@dataclass(frozen=True)
class SandboxEntered(AgentEvent):
    """The kind of sandbox that is in force, why it is not a stronger one, and what it does not hold."""

    name: ClassVar[str] = "sandbox"
    kind: str
    reason: str
    open_ends: tuple[str, ...]


@dataclass(frozen=True)
class CallRefused(AgentEvent):
    """The sandbox refused a call."""

    name: ClassVar[str] = "refused"
    what: str
    does: str
    target: str
    stack: tuple[StackLine, ...]


@dataclass(frozen=True)
class FilesDiscarded(AgentEvent):
    """What the program wrote is gone with its sandbox: a few of the names, and how many there were."""

    name: ClassVar[str] = "not_kept"
    names: tuple[str, ...]
    count: int


@dataclass(frozen=True)
class PackagesImported(AgentEvent):
    """What a run has imported from installed packages; the next one of the same program may find it imported."""

    name: ClassVar[str] = "packages"
    packages: Packages


@dataclass(frozen=True)
class AbilityLost(AgentEvent):
    """Something does not work on this machine or with this torch (agent/runtime/degraded.py)."""

    name: ClassVar[str] = "degraded"
    what: str
    why: str


OF_STANDBY = (Hello, NoTorch, RunStarted, RunEnded)
# what says that the program came back, rather than that its process ended itself
OF_END = (ProgramDone, ProgramRaised, FileUnreadable, SandboxFailed)


# -- lines and payloads


def command_line(command: RunCommand | LoadCommand) -> bytes:
    """What the standby reads."""
    return to_json(command).encode() + b"\n"


def command_from(line: bytes) -> RunCommand | LoadCommand | None:
    """The command in a line from the server; None where it is none: a cancel whose run has just ended."""
    return from_json(RunCommand, line) or from_json(LoadCommand, line)


def event_payload(event: AgentEvent) -> bytes:
    """What a frame of the kind ``EVENT`` holds."""
    return to_json(event).encode()


def event_from(payload: bytes) -> AgentEvent | None:
    """The event in a frame; None for whatever a program may have made of it."""
    return from_json(AgentEvent, payload)
