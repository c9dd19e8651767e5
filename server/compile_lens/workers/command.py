"""Turns a job into the command that the agent receives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from compile_lens.agent.runtime.entry_plans import EntryPlan, ModelOfScript, SynthesizedCalls
from compile_lens.agent.runtime.protocol import MAGIC, RunCommand, SandboxSpec, Substitution
from compile_lens.agent.runtime.search_protocol import BisectRequest, MinifyRequest
from compile_lens.workers.access import Access
from compile_lens.workers.brought_compilers import brought_compilers
from compile_lens.workers.caches import keep_others_out, make_private, private_cache_environment
from compile_lens.workers.gpu_devices import has_device_to_show
from compile_lens.workers.job import Depth, Job
from compile_lens.workers.kept_folders import kept_folders


def command_of(
    job: Job,
    sandbox: SandboxSpec | None = None,
    magic: bytes = MAGIC,
    trials: str = "",
    caches: Mapping[str, str] | None = None,
) -> RunCommand:
    """What an agent is sent to do ``job``. ``sandbox`` is None for none; ``magic`` begins each frame of the run.


    ``trials`` is the folder where it remembers what it tried on this machine; ``caches`` are variables that lead to the run's caches.
    """
    search = job.search
    is_own = job.access is Access.FULL
    return RunCommand(
        file=job.file,
        cwd=job.cwd or str(Path(job.file).parent),
        depth=job.depth,
        text=job.text,
        argv=job.argv,
        env={**(caches or {}), **job.env},
        plan=_plan(job),
        timeout_s=job.timeout_s,
        compare=job.compare,
        torch_options=job.torch_options,
        stages=job.stages,
        stand_in=job.stand_in,
        trials=trials,
        emulation_failed=job.emulation_failed,
        # a run as the user's own does what their shell would
        missing_weights=Substitution.OFF if is_own else job.missing_weights,
        missing_data=Substitution.OFF if is_own else job.missing_data,
        missing_modules=Substitution.OFF if is_own else job.missing_modules,
        as_written=is_own,
        capture=job.capture,
        vary=job.vary,
        results=job.results,
        preview=job.preview,
        bisect=search if isinstance(search, BisectRequest) else None,
        minify=search if isinstance(search, MinifyRequest) else None,
        own_interpreter=job.own_interpreter,
        sandbox=sandbox,
        magic=magic.hex(),
    )


def _plan(job: Job) -> EntryPlan | None:
    if isinstance(job.plan, (ModelOfScript, SynthesizedCalls)) and not job.plan.seconds:
        return replace(job.plan, seconds=job.timeout_s / 2)
    return job.plan


def workspace_of(job: Job) -> str:
    """The folder whose owner may have put anything there: the user's, the project's, or that of the file."""
    return job.workspace or str(Path(job.file).parent)


def caches_of(job: Job, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that lead to the caches of this run, where ``environment`` is the agent's."""
    if job.access is not Access.SANDBOXED:
        return private_cache_environment(environment)
    return private_cache_environment(environment, workspace_of(job))


def sandbox_of(job: Job, scratch: str, environment: Mapping[str, str]) -> SandboxSpec | None:
    """The sandbox of a job; None with full access. Makes the folders of the private caches.

    ``scratch`` is where the agent makes a folder of the run's own.
    """
    if job.access is not Access.SANDBOXED:
        return None
    sandbox, budget = job.sandbox, job.budget
    kept = job.capture.exact_folder if job.capture is not None else None
    keep_others_out(environment)
    caches = [Path(path) for path in caches_of(job, environment).values()]
    for folder in caches:
        make_private(folder)
    return SandboxSpec(
        strongest=sandbox.strongest,
        scratch=scratch,
        caches=tuple(str(folder) for folder in caches),
        allow_write=kept_folders((*sandbox.allow_write, *([kept] if kept is not None else [])), workspace_of(job)),
        network=sandbox.network,
        # what only a driver needs is a way to harm where there is none
        gpu=sandbox.gpu and has_device_to_show(),
        niceness=sandbox.niceness,
        memory_bytes=budget.memory_bytes(),
        disk_bytes=budget.disk_bytes(),
        cpu_s=budget.cpu_seconds(job.timeout_s),
        processes=budget.processes,
        hides_gpus=not sandbox.gpu,
        brought=brought_compilers(environment) if job.depth is Depth.INDUCTOR else (),
    )
