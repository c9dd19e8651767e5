"""Makes the job of a file, for terminal and editor: options, confinement, and what launch.json says."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from compile_lens.pipeline.launch import find_launch
from compile_lens.settings.settings import Settings
from compile_lens.state.consent import Grants
from compile_lens.workers.access import Access, ResourceLimits, SandboxOptions
from compile_lens.workers.job import Depth, Job, Substitution

NOTHING = Grants()


@dataclass(frozen=True, slots=True)
class Confinement:
    """How much of the machine a program gets."""

    access: Access = Access.SANDBOXED
    sandbox: SandboxOptions = field(default_factory=SandboxOptions)
    budget: ResourceLimits = field(default_factory=ResourceLimits)


def make_job(
    file: str,
    folder: str,
    workspace: Path | None = None,
    *,
    text: str | None = None,
    depth: Depth = Depth.DYNAMO,
    arguments: tuple[str, ...] = (),
    timeout_s: float = 60.0,
    compare: bool = False,
    stand_in: Substitution = Substitution.AUTO,
    missing_weights: Substitution = Substitution.AUTO,
    missing_data: Substitution = Substitution.AUTO,
    missing_modules: Substitution = Substitution.AUTO,
    confinement: Confinement = Confinement(),
) -> Job:
    """A run of ``file`` (of ``text`` in its place, if that is given) in ``folder``.

    Without arguments it is started as launch.json of ``workspace`` says, if that names the file.
    """
    job = Job(
        file=file,
        depth=depth,
        text=text,
        argv=arguments,
        cwd=folder,
        workspace=str(workspace) if workspace is not None else "",
        timeout_s=timeout_s,
        compare=compare,
        stand_in=stand_in,
        missing_weights=missing_weights,
        missing_data=missing_data,
        missing_modules=missing_modules,
        access=confinement.access,
        sandbox=confinement.sandbox,
        budget=confinement.budget,
    )
    launch = find_launch(Path(file), workspace, confinement.access) if not arguments else None
    return job if launch is None else launch.of(job)


def job_of_settings(
    settings: Settings,
    file: str,
    text: str | None,
    workspace: Path,
    access: Access,
    uses_gpu: bool = False,
    grants: Grants = NOTHING,
) -> Job:
    """The run that an editor's settings ask for. ``uses_gpu`` and ``grants``: what it may do also where no setting says so."""
    run, sandbox, budget = settings.run, settings.sandbox, settings.budget
    confinement = Confinement(
        access,
        SandboxOptions(
            allow_write=(*sandbox.allow_write, *grants.allow_write),
            network=sandbox.network or grants.network,
            gpu=sandbox.gpu or uses_gpu,
        ),
        ResourceLimits(memory_gib=budget.memory, cpu_s=budget.cpu, disk_gib=budget.disk, idle_s=budget.idle),
    )
    return make_job(
        file,
        str(workspace),
        workspace,
        text=text,
        depth=run.depth,
        arguments=run.arguments,
        timeout_s=run.timeout,
        stand_in=run.stand_in,
        missing_weights=run.missing_weights,
        missing_data=run.missing_data,
        missing_modules=run.missing_modules,
        confinement=confinement,
    )
