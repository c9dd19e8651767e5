"""What the finders know of one run: its report, its sources, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from compile_lens.analysis.region_index import RegionIndex
from compile_lens.analysis.sources import Sources
from compile_lens.trace.cache_key_text import Component
from compile_lens.trace.report import CompileReport, StackFrame

ARGUMENTS = "arguments"


class MissingRequirement(Struct, frozen=True):
    """What a program looked for and did not find.

    ``what`` is ``arguments``, or words such as ``a dataset``; ``name`` is its name, or the message of the argument parser.
    """

    what: str
    name: str

    @property
    def words(self) -> str:
        """``a dataset `imdb` ``."""
        return f"{self.what} `{self.name}`" if self.name else self.what


class Raised(Struct, frozen=True):
    """An uncaught exception of the program: ``module`` and ``type`` name its class, ``stack`` is the traceback.

    ``missing`` is what the program looked for and did not find. ``of_device``: code for GPUs raised it.
    """

    type: str
    module: str
    message: str
    stack: tuple[StackFrame, ...]
    formatted: str = ""
    missing: MissingRequirement | None = None
    of_device: bool = False


class RaisedBeside(Struct, frozen=True):
    """An exception that did not end the run: of the ``import`` of the analyzed file, of a ``statement`` that was skipped, of a
    ``thread``, or of what was registered with ``atexit`` (``where``). ``owner`` names the thread or the function."""

    where: str
    raised: Raised
    owner: str = ""


class Stopped(Struct, frozen=True):
    """A program that was ended from outside. ``how`` is ``timeout``, ``signalled``, ``exited``, ``budget`` or ``lost``.

    ``code`` is the signal or the exit code; ``crash_stack`` is what faulthandler wrote, innermost first.
    ``reason`` names the resource that ran out, for ``budget``.
    """

    how: str
    code: int = 0
    seconds: float = 0.0
    crash_stack: str = ""
    reason: str = ""


# what the sandbox blocks: parts of codes, which findings have, and fixes write into files
BLOCKED = frozenset({"write", "read", "network", "process", "gpu"})


class RefusedCall(Struct, frozen=True):
    """A call that the sandbox blocked. ``what`` is one of ``BLOCKED``; ``does`` is a verb for ``target``.

    ``stack`` is the call's, outermost first.
    """

    what: str
    does: str
    target: str
    stack: tuple[StackFrame, ...]


class RunContext(Struct, frozen=True):
    """One run, frozen: finders are pure functions of it, safe in any thread.

    ``completed``: the program ran to its end, so that nothing more will happen.
    ``calls_made_up``: the file was called with arguments that we chose.
    ``recorded``: the trace comes from elsewhere, so that its compile times are the program's own.
    ``refused`` are the calls that the sandbox blocked, if the run was ``sandboxed``; ``without_gpu``: it also hid the GPUs.
    ``without_network``: it has a loopback interface of its own at most.
    ``leaves_gpu_free``: there is one that it hid, or did not use since calls were searched for in the sandbox.
    ``without_caches``: the caches of graphs were turned off for this run.
    ``earlier_cache_keys`` are those of an earlier run of the same text, by graph (``cache_misses.cache_keys``).
    """

    report: CompileReport
    sources: Sources
    index: RegionIndex
    raised: Raised | None = None
    stopped: Stopped | None = None
    raised_aside: tuple[RaisedBeside, ...] = ()
    refused: tuple[RefusedCall, ...] = ()
    completed: bool = False
    calls_made_up: bool = False
    recorded: bool = False
    sandboxed: bool = False
    without_gpu: bool = False
    without_network: bool = False
    leaves_gpu_free: bool = False
    without_caches: bool = False
    earlier_cache_keys: Mapping[str, Mapping[str, Component]] = field(default_factory=dict)
