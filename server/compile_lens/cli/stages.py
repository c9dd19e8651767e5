"""``compile-lens stages``: prints what torch made of a program, stage by stage."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from compile_lens.cli.pass_table import chosen_passes, no_diff_of, table_of
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.stage_outputs import StageOutputs, output_options, write_outputs
from compile_lens.cli.stage_targets import RunOptions, StageTarget, chosen_graphs, open_target, target_options
from compile_lens.cli.terminal import echo, echo_json, remark
from compile_lens.cli.text_output import display_path
from compile_lens.formats.stages_json import document_of, graph_json, phase_json, run_json, stage_json
from compile_lens.knowledge.devices import Device
from compile_lens.pipeline.job_factory import Confinement
from compile_lens.stages.events import MAKES
from compile_lens.stages.figures import seconds_text
from compile_lens.stages.gpu_preview import ASSEMBLY
from compile_lens.stages.model import Direction, Graph, Stage, StageKind
from compile_lens.stages.passes import pass_stage
from compile_lens.wording import counted

# languages that Pygments, which colors the text, knows by another name
LEXERS = {
    "cpp": "cpp",
    "python": "python",
    "mlir": "text",
    "llvm": "llvm",
    "ptx": "text",
    "plaintext": "text",
    "diff": "diff",
}
NO_GRAPHS = "No graph was compiled."
PIPED_WIDTH = 240


@click.command()
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE|TRACE")
@click.option(
    "--stage",
    "kind",
    type=click.Choice([kind.value for kind in StageKind]),
    help="Print the text of this stage.  [default: list the stages]",
)
@click.option(
    "--pass",
    "pass_name",
    metavar="NAME",
    help="Print what this pass changed (remove_noop_ops, post_grad.stable_sort), or a phase: pre_grad, joint, post_grad.",
)
@click.option("-v", "--verbose", is_flag=True, help="Also list the passes that changed nothing.")
@target_options("the graphs and their stages, with texts if --stage is given (docs/json.md)")
@output_options
@click.pass_context
def stages(
    context: click.Context,
    path: Path,
    kind: str | None,
    pass_name: str | None,
    verbose: bool,
    region: str | None,
    python: str | None,
    timeout: float,
    entry: str,
    confinement: Confinement,
    gpu: Device | None,
    as_json: bool,
    outputs: StageOutputs,
) -> int:
    """Print the stages of each graph that torch compiled: Dynamo's graph, the joint graph, the IR, the generated code, kernels.

    Below them are Inductor's passes over the graph: how long each took, and what it changed. --stage pass prints their diffs.

    FILE is run as `check` runs it, and its kernels are compiled. TRACE is what another run left, on any machine: a trace of TORCH_TRACE,
    the output folder of tlparse, or a torch_compile_debug folder. A trace has no IR; a debug folder has.

    The exit code is 0, 1 if there is no such graph or stage, and 2 if nothing could be opened.
    """
    chosen = None if kind is None else StageKind(kind)
    options = RunOptions(python, timeout, entry, confinement, context.obj or (), gpu, chosen in ASSEMBLY)
    targets = open_target(path, replace(options, torch_options=outputs.torch_options))
    done = write_outputs(outputs, path, targets, region, chosen, options, as_json)
    if done is not None:
        return done
    if as_json:
        echo_json(json.dumps(document_of([_json(target, region, chosen) for target in targets]), indent=2))
        return _exit_code(targets)
    found = False
    for target in targets:
        graphs = chosen_graphs(target, region)
        if pass_name is not None:
            found = _print_passes(graphs, pass_name) or found
        elif chosen is None:
            _list(target, graphs, verbose)
            found = found or bool(graphs)
        else:
            printed = [_print(stage) for graph in graphs for stage in graph.stages if stage.kind is chosen]
            found = found or bool(printed)
    if not found and chosen is not None and pass_name is None and not any(target.failure for target in targets):
        remark(f"No graph has the stage {chosen.value}.")
    for target in targets:
        if target.failure:
            remark(f"{target.failure}")
        for note in target.notes:
            echo(note, err=True)
    return _exit_code(targets) or (0 if found else 1)


def _exit_code(targets: list[StageTarget]) -> int:
    return 2 if any(target.failure for target in targets) else 0


def _json(target: StageTarget, region: str | None, kind: StageKind | None) -> dict[str, object]:
    graphs = [
        {
            **graph_json(graph),
            "seconds": {name: round(seconds, 6) for name, seconds in graph.times.items()},
            "phases": [phase_json(phase, with_text=kind is StageKind.PASS) for phase in graph.phases],
            "stages": [
                stage_json(stage, with_text=kind is not None)
                for stage in graph.stages
                if kind is None or stage.kind is kind
            ],
        }
        for graph in chosen_graphs(target, region)
    ]
    return run_json(target.name, target.stages, graphs, target.failure, target.notes)


def graph_title(graph: Graph) -> Text:
    """``forward  block.py:7  backward graph  [0/0]``: the function, its place, the direction and the frame."""
    direction = "captured graph" if graph.direction is Direction.NOT_LOWERED else f"{graph.direction.value} graph"
    parts = [Text(graph.function or "graph", style="bold")]
    if graph.file:
        parts.append(Text(f"{display_path(graph.file)}:{graph.line}", style="cyan"))
    parts.append(Text(direction, style="bold green" if graph.direction is Direction.BACKWARD else "bold blue"))
    if graph.compile_id:
        parts.append(Text(f"[{graph.compile_id}]", style="dim"))
    return Text("  ").join(parts)


def _print_passes(graphs: list[Graph], name: str) -> bool:
    """Print what the pass changed in each graph. Whether it changed any; if not, that is said."""
    found = False
    problems: dict[str, None] = {}
    for graph, of in chosen_passes(graphs, name):
        if problem := no_diff_of(of, graph):
            problems[problem] = None
        else:
            _print(pass_stage(graph.id, of))
            found = True
    for problem in problems if not found else ():
        remark(f"{problem}")
    return found


def _list(target: StageTarget, graphs: list[Graph], verbose: bool) -> None:
    console = SafeConsole()
    if not console.is_terminal:  # what is piped into another program is not folded to the width of a terminal
        console.width = PIPED_WIDTH
    version = f"torch {target.stages.torch}" if target.stages.torch else ""
    header = Text(display_path(target.name), style="bold")
    made_for = target.stages.preview.title if target.stages.preview is not None else version
    header.append("  ".join(["", *filter(None, [made_for, counted(len(graphs), "graph")])]), style="dim")
    console.print(header)
    if not graphs and not target.failure:
        console.print(NO_GRAPHS)
    for graph in graphs:
        console.print()
        console.print(graph_title(graph))
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 2))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(justify="right", style="dim")
        table.add_column(justify="right", style="dim")
        for stage in graph.documents:
            table.add_row(stage.kind.value, stage.title, counted(_lines(stage), "line"), _time(graph, stage.kind))
        own = [stage for stage in graph.stages if stage.kind is StageKind.KERNEL]
        if own:
            lines = counted(sum(map(_lines, own)), "line")
            table.add_row(
                StageKind.KERNEL.value, counted(len(own), "generated kernel"), lines, _time(graph, StageKind.KERNEL)
            )
        console.print(table)
        if (passes := table_of(graph, verbose)) is not None:
            console.print(passes)


def _time(graph: Graph, kind: StageKind) -> str:
    """How long it took to make a stage; '' if the trace does not tell."""
    seconds = graph.times.get(MAKES.get(kind, ""))
    return seconds_text(seconds) if seconds is not None else ""


def _lines(stage: Stage) -> int:
    return stage.text.rstrip("\n").count("\n") + 1


def _print(stage: Stage) -> str:
    console = SafeConsole(soft_wrap=True)
    if console.is_terminal:
        console.print(Text(f"── {stage.id}", style="bold cyan"))
        console.print(Syntax(stage.text.rstrip("\n"), LEXERS.get(stage.language, "text"), background_color="default"))
    else:
        # what is piped into a file is the text
        mark = (
            "//"
            if stage.language in {"cpp", "mlir", "ptx"} or stage.kind is StageKind.SASS
            else ";"
            if stage.language == "llvm"
            else "#"
        )
        echo(f"{mark} {stage.id}")
        echo(stage.text.rstrip("\n"))
    return stage.id
