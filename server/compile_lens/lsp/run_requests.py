"""What a user asks of one run, beside which file."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compile_lens.pipeline.partial_run import end_of_cell_at, up_to_line
from compile_lens.pipeline.vary_target import to_vary
from compile_lens.workers.access import Access
from compile_lens.workers.job import Depth, Job, VariationRequest

# as long as a run, at most
COMPARING_TAKES = 10
VARYING_TAKES = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """``name``: a class or function of the file is compiled as if the file said so. ``compare``: compile all the way, and compare what is
    computed with eager. ``vary``: call regions again with other inputs, that of ``name`` alone if there is one. ``up_to``: run the file
    up to the end of the cell that has this line. ``access``: what it may do.
    """

    name: str | None = None
    compare: bool = False
    vary: bool = False
    up_to: int = 0
    access: Access = Access.SANDBOXED

    def candidate(self, text: str) -> str | None:
        """What is to be compiled as if the file did."""
        if self.name is not None and self.vary:
            return next(iter(to_vary(text, (self.name,)).candidates), None)
        return self.name

    def of(self, job: Job, text: str) -> Job:
        """``job``, as it is asked for; each of these takes its time."""
        if self.compare:
            job = replace(job, depth=Depth.INDUCTOR, timeout_s=job.timeout_s * COMPARING_TAKES, compare=True)
        if self.up_to:
            job = up_to_line(job, text, end_of_cell_at(text, self.up_to))
        if self.vary:
            names = () if self.name is None else (self.name,)
            vary = to_vary(text, names).regions or VariationRequest()
            # what is compiled comes after the program; a training loop ends itself in time (agent/variations/watcher.py)
            budget = replace(job.budget, idle_s=0.0)
            job = replace(job, timeout_s=job.timeout_s * VARYING_TAKES, vary=vary, budget=budget)
        return job


NOTHING_MORE = Asked()
