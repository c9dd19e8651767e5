"""What a user requests of one run, besides the file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from compile_lens.documents.documents import Snapshot
from compile_lens.documents.source_file import FileProblem, read_source
from compile_lens.pipeline.partial_run import end_of_cell_at, up_to_line
from compile_lens.pipeline.stage_recorder import StageRecorder
from compile_lens.pipeline.stage_run import job_with_stages
from compile_lens.pipeline.vary_target import to_vary
from compile_lens.workers.access import Access
from compile_lens.workers.job import Depth, Job, VariationRequest

# factors on the time limit of a run
COMPARE_FACTOR = 10
VARY_FACTOR = 4


@dataclass(frozen=True, slots=True)
class RunRequest:
    """``name``: a class or function to compile as if the file did. ``compare``: compile fully and compare the results with eager.
    ``vary``: call the regions, or only ``name``, again with other inputs. ``up_to``: a line; run up to the end of its cell.
    ``stages``: compile fully, and keep what the compiler does on the way. ``access``: what the run may do.
    """

    name: str | None = None
    compare: bool = False
    vary: bool = False
    up_to: int = 0
    stages: StageRecorder | None = None
    access: Access = Access.SANDBOXED

    @property
    def beside(self) -> str:
        """The class or function whose answer stands beside the results of the file; '' for a run of the file itself."""
        return self.name if self.name is not None and not (self.vary or self.compare) else ""

    def candidate(self, text: str) -> str | None:
        """The class or function to compile as if the file did."""
        if self.name is not None and self.vary:
            return next(iter(to_vary(text, (self.name,)).candidates), None)
        return self.name

    def of(self, job: Job, text: str) -> Job:
        """``job`` with this request applied."""
        if self.compare:
            job = replace(job, depth=Depth.INDUCTOR, timeout_s=job.timeout_s * COMPARE_FACTOR, compare=True)
        if self.stages is not None:
            job = replace(job_with_stages(job), timeout_s=job.timeout_s * COMPARE_FACTOR)
        if self.up_to:
            job = up_to_line(job, text, end_of_cell_at(text, self.up_to))
        if self.vary:
            names = () if self.name is None else (self.name,)
            vary = to_vary(text, names).regions or VariationRequest()
            # the variations run after the program; agent/variations ends a training loop in time
            budget = replace(job.budget, idle_s=0.0)
            job = replace(job, timeout_s=job.timeout_s * VARY_FACTOR, vary=vary, budget=budget)
        return job


PLAIN_RUN = RunRequest()


def text_of(path: str, snapshot: Snapshot | None) -> str:
    """The text that a run of ``path`` is about; '' if it cannot be read."""
    if snapshot is not None:
        return snapshot.text
    try:
        return read_source(Path(path))
    except FileProblem:
        return ""
