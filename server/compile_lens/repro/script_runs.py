"""How a script is run that was written from a run: with the access of that run."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from compile_lens.agent.runtime.protocol import SandboxFailed
from compile_lens.documents.source_file import FileProblem, read_source
from compile_lens.repro.contract import BACKEND_VARIABLE, ExitCode
from compile_lens.workers.access import Access, no_sandbox
from compile_lens.workers.gpu_devices import has_gpu_device
from compile_lens.workers.host import Host, HostError
from compile_lens.workers.job import Depth, End, EndKind, Job, OwnInterpreter, Substitution
from compile_lens.workers.script import LEFT_OUT, Ended, run_script
from compile_lens.workers.wire import Frame

USES_GPU = re.compile(r"\b(?:cuda|xpu|triton)\b")
NOT_TO_THE_END = "The sandbox ended the script, which exceeded its limits: run it yourself to see what it does."


@dataclass(frozen=True)
class ScriptRuns:
    """Runs scripts that were written from the run of ``job``: what they call and import is what that run has said.

    A script from a run in the sandbox runs there, with the GPU if it uses one; others run as the user's shell would.
    """

    host: Host
    job: Job

    async def run(self, file: Path, timeout_s: float, variables: Mapping[str, str]) -> Ended:
        """Run ``file`` with ``variables``. Raises OSError and HostError."""
        if self.job.access is Access.FULL:
            return await run_script(self.host.python, file, timeout_s, variables)
        refused: list[str] = []

        def take(frame: Frame) -> None:
            if isinstance(frame, SandboxFailed):
                refused.append(frame.message)

        started = time.monotonic()
        end = await self.host.run(self._job_of(file, timeout_s, variables), take)
        if refused:
            raise HostError(no_sandbox(refused[0]))
        return _ended(end, time.monotonic() - started)

    def _job_of(self, file: Path, timeout_s: float, variables: Mapping[str, str]) -> Job:
        backend = {name: value for name, value in variables.items() if name == BACKEND_VARIABLE}
        given = self.job.sandbox
        return Job(
            str(file.absolute()),
            Depth.INDUCTOR,
            cwd=str(file.absolute().parent),
            workspace=self.job.workspace or str(Path(self.job.file).parent),
            timeout_s=timeout_s,
            env=backend,
            stand_in=Substitution.OFF,
            missing_weights=Substitution.OFF,
            missing_data=Substitution.OFF,
            missing_modules=Substitution.OFF,
            own_interpreter=OwnInterpreter(LEFT_OUT, dict(variables)),
            access=self.job.access,
            sandbox=replace(given, gpu=given.gpu or (has_gpu_device() and _uses_gpu(file))),
            budget=replace(self.job.budget, idle_s=0.0),
        )


def _uses_gpu(file: Path) -> bool:
    try:
        return USES_GPU.search(read_source(file)) is not None
    except FileProblem:
        return False


def _ended(end: End, seconds: float) -> Ended:
    if end.kind in (EndKind.FINISHED, EndKind.EXITED):
        return Ended(end.code, end.output, seconds)
    if end.kind is EndKind.SIGNALLED:
        return Ended(-end.code, end.output, seconds)
    if end.kind is EndKind.TIMEOUT:
        return Ended(0, end.output, seconds, timed_out=True)
    return Ended(ExitCode.CANNOT_JUDGE, f"{end.output}\n{NOT_TO_THE_END}", seconds)
