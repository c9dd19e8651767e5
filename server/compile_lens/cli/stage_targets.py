"""What ``stages`` and ``kernels`` are about: a file that is run for it, or what another run left."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import click

from compile_lens.analysis.filters import Filters
from compile_lens.analysis.outcome import Outcome, Status
from compile_lens.cli.analyzing import close_hosts
from compile_lens.cli.options import json_option, python_option, sandbox_options_beside_gpu, timeout_option
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.documents.source_file import FileProblem
from compile_lens.entries.entry import AUTOMATIC
from compile_lens.entries.entry_spec import BadEntry
from compile_lens.knowledge.devices import Device, UnknownDeviceError, find_device
from compile_lens.pipeline.file_analysis import EntrySelection, FileRequest, Hosts
from compile_lens.pipeline.gpu_preview import preview_job
from compile_lens.pipeline.job_factory import Confinement, make_job
from compile_lens.pipeline.stage_run import SourceLines, StageRun, is_source, lines_of, open_recorded_stages, run_stages
from compile_lens.pipeline.workspace import workspace_root
from compile_lens.stages.collection import OpenedStages
from compile_lens.stages.gpu_preview import GpuPreview
from compile_lens.stages.model import Graph
from compile_lens.trace.files import TraceError
from compile_lens.workers.interpreter import InterpreterError

F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class StageTarget:
    """One file that was run, or one trace. ``failure`` says why there are no stages; ``notes`` are about the run.

    ``lines_of`` reads the files that they are about.
    """

    name: str
    stages: OpenedStages
    failure: str = ""
    notes: tuple[str, ...] = ()
    lines_of: SourceLines = lines_of


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a file is run."""

    python: str | None
    timeout: float
    entry: str
    confinement: Confinement
    arguments: tuple[str, ...]
    gpu: Device | None = None
    with_assembly: bool = False
    torch_options: Mapping[str, str] = field(default_factory=dict)


def target_options(json_holds: str) -> Callable[[F], F]:
    """The options of both commands."""

    def decorate(command: F) -> F:
        for option in (
            json_option(json_holds),
            sandbox_options_beside_gpu,
            click.option(
                "--entry",
                default=AUTOMATIC,
                show_default=True,
                metavar="ENTRY",
                help="How to run the file, as in `check`.",
            ),
            timeout_option("Time limit of the run.", 300.0),
            python_option,
            click.option(
                "--gpu",
                metavar="NAME|FILE.json",
                callback=_device,
                help="Compile as for this GPU, which need not be there: h100, b200, rtx4090, … (docs/gpu-preview.md).",
            ),
            click.option(
                "--region",
                metavar="NAME",
                help="Show the graphs of this function, region, frame (0/1) or graph (0_1/forward) only.",
            ),
        ):
            command = option(command)
        return command

    return decorate


def _device(context: click.Context, option: click.Parameter, value: str | None) -> Device | None:
    try:
        return find_device(value) if value is not None else None
    except UnknownDeviceError as problem:
        raise click.BadParameter(str(problem), param=option) from None


def open_target(path: Path, options: RunOptions) -> list[StageTarget]:
    """The stages at ``path``. Raises click.ClickException with one sentence."""
    try:
        if is_source(path):
            return [_target_of(run) for run in _run(path, options)]
        if options.gpu is not None:
            raise click.ClickException("--gpu needs a Python file: a trace was compiled for the device that it ran on.")
        return [StageTarget(name, stages) for name, stages in open_recorded_stages(path)]
    except (TraceError, FileProblem, BadEntry, InterpreterError) as problem:
        raise click.ClickException(str(problem)) from None


def _target_of(run: StageRun) -> StageTarget:
    outcome = run.outcome
    failure = outcome.failure if outcome.status is Status.FAILED else ""
    return StageTarget(
        outcome.file,
        run.stages,
        failure,
        (*_ending(outcome), *outcome.notes, *_of_preview(run.stages.preview)),
        run.lines_of,
    )


def _of_preview(preview: GpuPreview | None) -> Iterable[str]:
    """What is not as on the GPU of a preview."""
    if preview is not None:
        yield from filter(None, [preview.triton_problem])
        yield from dict.fromkeys(map(str, preview.decisions))


def _ending(outcome: Outcome) -> Iterable[str]:
    """What ended the program before its end, which may be why a graph is missing."""
    if outcome.status not in {Status.OK, Status.FAILED}:
        yield from (f.message for f in outcome.findings if f.kind.value == "run-error")


def _run(path: Path, options: RunOptions) -> list[StageRun]:
    file = os.path.abspath(path)  # noqa: PTH100 - resolve() would follow a link
    job = make_job(
        file,
        os.getcwd(),  # noqa: PTH109
        workspace_root(Path(file)),
        arguments=options.arguments,
        timeout_s=options.timeout,
        confinement=options.confinement,
    )
    if options.gpu is not None:
        job = preview_job(job, options.gpu, options.with_assembly)
    job = replace(job, torch_options=dict(options.torch_options))
    request = FileRequest(options.python, EntrySelection(options.entry, ()), Filters())
    hosts = Hosts()

    async def run() -> list[StageRun]:
        try:
            return await run_stages(request, job, hosts.of(0))
        finally:
            await close_hosts(hosts)

    console = SafeConsole(stderr=True)
    if not console.is_terminal:
        return asyncio.run(run())
    with console.status("Compiling"):
        return asyncio.run(run())


def chosen_graphs(target: StageTarget, region: str | None) -> list[Graph]:
    """The graphs that ``--region`` names; all without it. Raises click.ClickException if there is none of that name."""
    graphs = [graph for graph in target.stages.graphs if region is None or _is_named(graph, region)]
    if region is not None and not graphs and target.stages.graphs:
        known = ", ".join(dict.fromkeys(graph.function for graph in target.stages.graphs if graph.function))
        raise click.ClickException(
            f"{target.name} has no graph of {region}. It has graphs of {known or 'no function'}."
        )
    return graphs


def _is_named(graph: Graph, name: str) -> bool:
    region = graph.region.name if graph.region is not None else ""
    names = {graph.id, graph.id.partition("/")[0], graph.compile_id, graph.function, region}
    return name in names or any(known.endswith(f".{name}") for known in (graph.function, region))
