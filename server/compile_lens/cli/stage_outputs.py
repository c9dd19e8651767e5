"""``--html``, ``--timeline``, ``--diff`` and ``--device`` of ``stages`` and ``kernels``: what becomes of stages besides a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TypeVar

import click

from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.stage_targets import RunOptions, StageTarget, chosen_graphs, open_target
from compile_lens.cli.terminal import echo_json, remark
from compile_lens.cli.text_output import display_path
from compile_lens.diff.stage_comparison import compare_stages
from compile_lens.formats import stage_comparison, stages_page, timeline_text
from compile_lens.formats.stages_page import StagesPage
from compile_lens.knowledge.devices import Device, UnknownDeviceError, find_device
from compile_lens.pipeline.revisions import RevisionError, revision
from compile_lens.pipeline.torch_options import DYNAMIC, read_option
from compile_lens.stages.compiled_for import devices_of
from compile_lens.stages.model import StageKind
from compile_lens.stages.perfetto import to_perfetto
from compile_lens.stages.timeline import Timeline, read_timeline
from compile_lens.state.atomic_file import write_named
from compile_lens.wording import counted
from compile_lens.workers.interpreter import InterpreterError, find_interpreter

F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class StageOutputs:
    """What the options ask for. ``device`` is for estimates, None for the one that the kernels were compiled for. ``torch_options``
    are set for the run of the file, and not for that of the other."""

    html: Path | None
    timeline: Path | None
    diff: str | None
    device: Device | None
    torch_options: Mapping[str, str]


def output_options(command: F) -> F:
    """The options, which become the argument ``outputs``."""

    @wraps(command)
    def with_outputs(
        *args: object,
        html: Path | None,
        timeline: Path | None,
        diff: str | None,
        device: str | None,
        dynamic: bool,
        torch_options: tuple[str, ...],
        **kwargs: object,
    ) -> object:
        set_for_run = {**(DYNAMIC if dynamic else {}), **dict(map(_option, torch_options))}
        outputs = StageOutputs(html, timeline, diff, _device(device), set_for_run)
        return command(*args, outputs=outputs, **kwargs)

    decorated: Callable[..., object] = with_outputs
    path = click.Path(dir_okay=False, path_type=Path)
    for option in (
        click.option(
            "--device",
            metavar="GPU",
            help="Estimate the kernels' times for this GPU (h100, a100, rtx4090, …, or a JSON file with its figures).  "
            "[default: the GPU that they were compiled for]",
        ),
        click.option(
            "--timeline",
            type=path,
            metavar="FILE.json",
            help="Print where compile time went, and write a file that ui.perfetto.dev opens.",
        ),
        click.option(
            "--dynamic",
            is_flag=True,
            help="Run the file with dynamic shapes, as `torch.compile(dynamic=True)` compiles. OTHER of --diff is run without.",
        ),
        click.option(
            "--option",
            "torch_options",
            multiple=True,
            metavar="NAME=VALUE",
            help="Run the file with this option of torch._inductor.config (max_autotune=1), or of another module by its full name. "
            "OTHER of --diff is run without. Repeatable.",
        ),
        click.option(
            "--diff",
            metavar="OTHER",
            help="Show what differs from OTHER, stage by stage: a file, a trace, or a file in a git revision (REV:FILE).",
        ),
        click.option(
            "--html",
            type=path,
            metavar="FILE.html",
            help="Write one page with source, stages, kernels, graph and timeline. With --diff, a page of what differs.",
        ),
    ):
        decorated = option(decorated)
    return decorated  # type: ignore[return-value]


def _device(name: str | None) -> Device | None:
    try:
        return find_device(name) if name is not None else None
    except UnknownDeviceError as problem:
        raise click.BadParameter(str(problem), param_hint="--device") from None


def _option(text: str) -> tuple[str, str]:
    try:
        return read_option(text)
    except ValueError as problem:
        raise click.BadParameter(str(problem), param_hint="--option") from None


def write_outputs(
    outputs: StageOutputs,
    path: Path,
    targets: Sequence[StageTarget],
    region: str | None,
    kind: StageKind | None,
    options: RunOptions,
    as_json: bool,
    brief: bool = False,
) -> int | None:
    """Do what ``outputs`` asks for. Returns the exit code, None if it asks for nothing. Raises click.ClickException.

    ``brief``: a comparison in a terminal is of the kernels, without lines of code.
    """
    if outputs.diff is None and outputs.html is None and outputs.timeline is None:
        return None
    for target in targets:
        for line in (*([target.failure] if target.failure else []), *target.notes):
            remark(f"{line}")
    if any(target.failure for target in targets):
        return 2
    if outputs.diff is not None:
        return _compare(outputs, path, targets, region, kind, options, as_json, brief)
    timelines = [(target.name, _timeline(target)) for target in targets]
    if outputs.timeline is not None:
        _write(outputs.timeline, to_perfetto(timelines))
        for _, timeline in timelines:
            SafeConsole().print(timeline_text.to_text(timeline), soft_wrap=True)
    if outputs.html is not None:
        asked = replace(outputs, device=outputs.device or options.gpu)
        _write(outputs.html, _page(asked, path, targets, region, timelines))
    return 0


def _page(
    outputs: StageOutputs,
    path: Path,
    targets: Sequence[StageTarget],
    region: str | None,
    timelines: Sequence[tuple[str, Timeline]],
) -> str:
    if len(targets) > 1:
        remark(f"The page shows the first of {counted(len(targets), 'run')}.")
    target = targets[0]
    graphs = chosen_graphs(target, region)
    alike = devices_of(graphs)
    device = outputs.device or (alike[0] if alike else None)
    notes = [f"torch {target.stages.torch}"] if target.stages.torch else []
    if outputs.device is None and len(alike) > 1:
        names = ", ".join(one.title for one in alike)
        notes.append(
            f"Times are estimated for {alike[0].title}. {names} look the same to the compiler; `--device` names another."
        )
    if device is not None:
        notes.append(f"Figures of {device.title}: {device.source}")
    return stages_page.to_html(
        StagesPage(
            title=f"Stages of {display_path(str(path))}",
            stages=target.stages,
            lines_of=target.lines_of,
            graphs=graphs,
            notes=(*notes, *target.notes),
            device=device,
            timeline=timelines[0][1],
        )
    )


def _timeline(target: StageTarget) -> Timeline:
    trace = target.stages.trace
    return read_timeline(trace) if trace is not None else Timeline((), (), {})


def _compare(
    outputs: StageOutputs,
    path: Path,
    targets: Sequence[StageTarget],
    region: str | None,
    kind: StageKind | None,
    options: RunOptions,
    as_json: bool,
    brief: bool,
) -> int:
    other = outputs.diff or ""
    before = _other(other, options)
    failed = [target.failure for target in before if target.failure]
    if failed:
        raise click.ClickException(f"{other}: {failed[0]}")
    sides = [
        (name, replace(found[0].stages, graphs=tuple(chosen_graphs(found[0], region))))
        for name, found in ((other, before), (str(path), targets))
    ]
    comparison = compare_stages(sides[0], sides[1], (kind,) if kind is not None else ())
    if outputs.html is not None:
        _write(outputs.html, stage_comparison.to_html(comparison))
    if as_json:
        echo_json(stage_comparison.to_json(comparison))
    else:
        SafeConsole().print(stage_comparison.to_text(comparison, brief), soft_wrap=True)
    return 0


def _other(operand: str, options: RunOptions) -> Sequence[StageTarget]:
    """What ``--diff`` names: a path, or a file in a git revision. Raises click.ClickException."""
    path = Path(operand)
    if path.exists():
        return open_target(path, options)
    name, colon, file = operand.partition(":")
    if not colon or not name or not file:
        raise click.ClickException(f"{operand}: no such file. A file in a git revision is REV:FILE.")
    near = Path(file).absolute()
    try:
        with revision(name, next(folder for folder in near.parents if folder.is_dir())) as found:
            old = found.path_of(str(near))
            if not old.is_file():
                raise click.ClickException(f"{file} does not exist in {name}.")
            # the environment of the working tree is not in the revision
            return open_target(old, replace(options, python=find_interpreter(near, (), options.python)))
    except (RevisionError, InterpreterError) as problem:
        raise click.ClickException(str(problem)) from None


def _write(file: Path, text: str) -> None:
    try:
        write_named(file, text)
    except OSError as error:
        raise click.ClickException(f"{display_path(str(file))} cannot be written: {error.strerror}.") from None
    remark(f"wrote {display_path(str(file))}.")
