"""Runs a new repro in fresh processes to see whether it reproduces the problem, and with which backends."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from compile_lens.repro.contract import BACKEND_VARIABLE, KEEP_CACHE_VARIABLE, Criterion, ExitCode
from compile_lens.repro.script_runs import ScriptRuns
from compile_lens.workers.cache_health import find_cache_problem
from compile_lens.workers.caches import cache_root
from compile_lens.workers.host import HostError
from compile_lens.workers.script import Ended

TIMEOUT_S = 300.0
# how `main` of a repro begins its verdict
BAD_LINE = "BAD with backend "
# reuse compiled objects, which saves half a minute of the C++ compiler, but not what torch decided
CACHES = {KEEP_CACHE_VARIABLE: "1", "TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}


@dataclass(frozen=True, slots=True)
class Verification:
    """``compiled`` is the run with the repro's own backend; ``eager`` the one with backend ``eager`` (Dynamo only), if any."""

    compiled: Ended
    criterion: Criterion
    eager: Ended | None = None

    @property
    def reproduces(self) -> bool:
        """Whether the problem occurred."""
        return is_bad(self.compiled, self.criterion)

    @property
    def cannot_judge(self) -> bool:
        """Whether the run is inconclusive: eager fails, or another problem occurs."""
        return not self.reproduces and self.compiled.code != ExitCode.GOOD

    def summary(self) -> str:
        """The result for the header: begins with ``yes`` if the problem occurred, otherwise with ``no``."""
        ended = self.compiled
        how = f"exit code {ended.code}" if ended.code >= 0 else f"ended by {signal_name(-ended.code)}"
        if ended.timed_out:
            return f"no, it was stopped after {ended.seconds:.0f} s"
        first = f"{'yes' if self.reproduces else 'no'}, {how} in {ended.seconds:.1f} s: {ended.last_line}"
        if self.eager is None:
            return first
        return f"{first}\nwith {BACKEND_VARIABLE}=eager exit code {self.eager.code}: {self.eager.last_line}"


def is_bad(ended: Ended, criterion: Criterion) -> bool:
    """Whether a run of a repro shows the problem."""
    if criterion is Criterion.CRASHES:
        return ended.code < 0 and not ended.timed_out
    # an exception that ends the script has the same exit code: only a verdict counts
    return ended.code == ExitCode.BAD and not ended.timed_out and BAD_LINE in ended.output


def signal_name(number: int) -> str:
    """``SIGSEGV``."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


async def verify(
    scripts: ScriptRuns, file: Path, criterion: Criterion, with_eager: bool, timeout_s: float = TIMEOUT_S
) -> Verification:
    """Run ``file``, and if the problem occurs and ``with_eager`` is set, again with Dynamo only.

    Raises OSError, and HostError if the caches cannot be used: a script whose compiler cannot write says nothing of the problem.
    """
    compiled = await scripts.run(file, timeout_s, CACHES)
    eager = None
    if with_eager and is_bad(compiled, criterion):
        eager = await scripts.run(file, timeout_s, {**CACHES, BACKEND_VARIABLE: "eager"})
    problem = find_cache_problem(cache_root(os.environ))
    if problem is not None:
        raise HostError(str(problem))
    return Verification(compiled, criterion, eager)
