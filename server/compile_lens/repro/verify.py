"""Running a repro that was just written, in new processes: whether the problem is there, and where it is not."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

from compile_lens.repro.contract import BACKEND_VARIABLE, KEEP_CACHE_VARIABLE, Criterion, ExitCode
from compile_lens.workers.script import Ended, run_script

TIMEOUT_S = 300.0
# compiled objects are used again, which saves the C++ compiler's half minute; what torch decides is decided anew
CACHES = {KEEP_CACHE_VARIABLE: "1", "TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}


@dataclass(frozen=True, slots=True)
class Verification:
    """``compiled`` is the run with the repro's own backend; ``eager``, with backend ``eager`` (Dynamo alone), if that was asked."""

    compiled: Ended
    criterion: Criterion
    eager: Ended | None = None

    @property
    def reproduces(self) -> bool:
        """Whether the problem is there."""
        return is_bad(self.compiled, self.criterion)

    @property
    def cannot_judge(self) -> bool:
        """Whether the run says nothing: eager fails, or something else is wrong."""
        return not self.reproduces and self.compiled.code != ExitCode.GOOD

    def words(self) -> str:
        """What happened, for the header: begins with ``yes`` if the problem is there, else with ``no``."""
        ended = self.compiled
        how = f"exit code {ended.code}" if ended.code >= 0 else f"ended by {signal_name(-ended.code)}"
        if ended.timed_out:
            return f"no, it was ended after {ended.seconds:.0f} s"
        first = f"{'yes' if self.reproduces else 'no'}, {how} in {ended.seconds:.1f} s: {ended.last_line}"
        if self.eager is None:
            return first
        return f"{first}\nwith {BACKEND_VARIABLE}=eager exit code {self.eager.code}: {self.eager.last_line}"


def is_bad(ended: Ended, criterion: Criterion) -> bool:
    """Whether a run of a repro shows the problem."""
    if criterion is Criterion.CRASHES:
        return ended.code < 0 and not ended.timed_out
    return ended.code == ExitCode.BAD and not ended.timed_out


def signal_name(number: int) -> str:
    """``SIGSEGV``."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


async def verify(
    python: str, file: Path, criterion: Criterion, with_eager: bool, timeout_s: float = TIMEOUT_S
) -> Verification:
    """Run ``file`` as it is, and with ``with_eager`` with Dynamo alone if the problem is there. Raises OSError."""
    compiled = await run_script(python, file, timeout_s, CACHES)
    eager = None
    if with_eager and is_bad(compiled, criterion):
        eager = await run_script(python, file, timeout_s, {**CACHES, BACKEND_VARIABLE: "eager"})
    return Verification(compiled, criterion, eager)
