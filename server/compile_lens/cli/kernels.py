"""``compile-lens kernels``: prints the kernels of a program, with the lines that each of them computes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from compile_lens.cli.preview_columns import PreviewColumns, columns_of
from compile_lens.cli.safe_console import SafeConsole
from compile_lens.cli.stage_outputs import StageOutputs, output_options, write_outputs
from compile_lens.cli.stage_targets import RunOptions, StageTarget, chosen_graphs, open_target, target_options
from compile_lens.cli.stages import NO_GRAPHS, PIPED_WIDTH, graph_title
from compile_lens.cli.terminal import echo, echo_json, remark
from compile_lens.cli.text_output import display_path
from compile_lens.formats.stages_json import document_of, graph_json, kernel_json, not_fused_json, run_json
from compile_lens.knowledge.devices import Device
from compile_lens.pipeline.job_factory import Confinement
from compile_lens.stages.figures import bytes_text
from compile_lens.stages.model import Graph, Kernel, KernelKind, SourceSpan, StageKind
from compile_lens.wording import and_more, counted

# what a row shows before it says how many more there are
MOST_OPERATORS, MOST_LINES = 5, 6
STYLES = {KernelKind.EXTERN: "magenta", KernelKind.FALLBACK: "yellow", KernelKind.TEMPLATE: "blue"}


@click.command()
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE|TRACE")
@click.option(
    "--line", type=click.IntRange(min=1), metavar="N", help="Show only the kernels that compute something from line N."
)
@click.option(
    "-v", "--verbose", is_flag=True, help="Also print why neighbors were not fused; with --diff, the lines that differ."
)
@click.option(
    "--resources",
    is_flag=True,
    help="With --gpu: also compile each kernel, for its registers, shared memory and spills.",
)
@target_options("the graphs and their kernels (docs/json.md)")
@output_options
@click.pass_context
def kernels(
    context: click.Context,
    path: Path,
    line: int | None,
    verbose: bool,
    resources: bool,
    region: str | None,
    python: str | None,
    timeout: float,
    entry: str,
    confinement: Confinement,
    gpu: Device | None,
    as_json: bool,
    outputs: StageOutputs,
) -> int:
    """Print the kernels of each graph, forward and backward: operators, source lines, bytes that they read and write.

    FILE and TRACE are those of `stages`. Bytes are torch's own estimates in a run, and the sizes of the buffers in a trace; each buffer
    counts once. They are left out where a size is not known.

    --html, --timeline and --diff are those of `stages`; --diff compares the kernels.

    The exit code is 0, 1 if there is no such kernel, and 2 if nothing could be opened.
    """
    options = RunOptions(python, timeout, entry, confinement, context.obj or (), gpu, resources)
    targets = open_target(path, replace(options, torch_options=outputs.torch_options))
    done = write_outputs(outputs, path, targets, region, StageKind.OUTPUT_CODE, options, as_json, brief=not verbose)
    if done is not None:
        return done
    if as_json:
        echo_json(json.dumps(document_of([_json(target, region, path, line) for target in targets]), indent=2))
        return 2 if any(target.failure for target in targets) else 0
    found = False
    for target in targets:
        found = _print(target, region, path, line, verbose) or found
        if target.failure:
            remark(f"{target.failure}")
        for note in target.notes:
            echo(note, err=True)
    if any(target.failure for target in targets):
        return 2
    if not found and line is not None:
        remark(f"No kernel computes anything from line {line}.")
    return 0 if found else 1


def _chosen(graph: Graph, path: Path, line: int | None) -> tuple[Kernel, ...]:
    """The kernels of ``graph`` that are of ``line``: of that line of the file which was run, or of any file of a trace."""
    if line is None:
        return graph.kernels
    only = str(path.absolute()) if path.suffix == ".py" else None
    return tuple(
        kernel
        for kernel in graph.kernels
        if any(span.covers(only or span.file, line) for stack in kernel.stacks for span in stack)
    )


def _json(target: StageTarget, region: str | None, path: Path, line: int | None) -> dict[str, object]:
    graphs = [
        {
            **graph_json(graph),
            "kernels": [kernel_json(kernel) for kernel in _chosen(graph, path, line)],
            "not_fused": not_fused_json(graph),
        }
        for graph in chosen_graphs(target, region)
        if graph.stage(StageKind.OUTPUT_CODE) is not None
    ]
    return run_json(target.name, target.stages, graphs, target.failure, target.notes)


def _print(target: StageTarget, region: str | None, path: Path, line: int | None, verbose: bool) -> bool:
    console = SafeConsole()
    if not console.is_terminal:  # what is piped into another program is not folded to the width of a terminal
        console.width = PIPED_WIDTH
    graphs = chosen_graphs(target, region)
    if target.stages.preview is not None:
        console.print(Text(f"{display_path(target.name)}  {target.stages.preview.title}", style="bold"))
    if not graphs and not target.failure:
        console.print(NO_GRAPHS)
    elif graphs and not any(graph.stage(StageKind.OUTPUT_CODE) for graph in graphs):
        console.print(f"{counted(len(graphs), 'graph')}, and no generated code: the backend was not Inductor.")
    found = False
    for graph in graphs:
        chosen = _chosen(graph, path, line)
        if not chosen:
            continue
        if found:
            console.print()
        found = True
        console.print(graph_title(graph))
        console.print(_table(chosen, columns_of(target.stages.preview, graph), graph.file))
        console.print(_sum(chosen))
        if verbose:
            for one in graph.not_fused:
                if line is None or {one.one, one.other} & {kernel.call for kernel in chosen}:
                    console.print(Text(f"  {one.one} and {one.other} are not fused: {one.reason}", style="dim"))
    return found


def _table(chosen: Iterable[Kernel], preview: PreviewColumns | None, file: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold dim", padding=(0, 2, 0, 0))
    table.add_column("kernel", overflow="fold", ratio=3)
    table.add_column("kind", no_wrap=True)
    table.add_column("operators", overflow="fold", ratio=3)
    table.add_column("lines", overflow="fold", ratio=2)
    table.add_column("read", justify="right", no_wrap=True)
    table.add_column("written", justify="right", no_wrap=True)
    for header in preview.headers if preview is not None else ():
        table.add_column(header, no_wrap=True)
    for kernel in chosen:
        table.add_row(
            Text(kernel.name),
            Text(kernel.kind.value, style=STYLES.get(kernel.kind, "green")),
            Text(_limited([name.removeprefix("aten.") for name in kernel.operators], MOST_OPERATORS)),
            Text(
                _limited(_places(kernel.sources, file), MOST_LINES), style="dim cyan" if kernel.is_by_frame else "cyan"
            ),
            _bytes(kernel.bytes_read),
            _bytes(kernel.bytes_written),
            *(preview.cells(kernel) if preview is not None else ()),
        )
    return table


def _limited(words: list[str], most: int) -> str:
    return ", ".join(words[:most]) + and_more(len(words) - most)


def _places(spans: Iterable[SourceSpan], file: str) -> list[str]:
    """Lines in the frame's own file by their number, others with their file."""
    ordered = sorted({(span.file, span.line) for span in spans}, key=lambda place: (place[0] != file, *place))
    return [str(line) if name == file else f"{Path(display_path(name)).name}:{line}" for name, line in ordered]


def _bytes(size: int | None) -> str:
    return bytes_text(size) if size is not None else ""


def _sum(chosen: tuple[Kernel, ...]) -> Text:
    kinds = [counted(len(chosen), "kernel")]
    for kind, word in ((KernelKind.EXTERN, "library call"), (KernelKind.FALLBACK, "fallback")):
        number = sum(kernel.kind is kind for kernel in chosen)
        if number:
            kinds.append(f"{counted(number, word)} among them" if len(kinds) == 1 else counted(number, word))
    reads, writes = ([getattr(kernel, name) for kernel in chosen] for name in ("bytes_read", "bytes_written"))
    if all(size is not None for size in (*reads, *writes)):
        kinds.append(f"{bytes_text(sum(reads))} read, {bytes_text(sum(writes))} written")
    avoided = [kernel.avoided for kernel in chosen]
    if any(avoided) and all(size is not None for size in avoided):
        kinds.append(f"{bytes_text(sum(size or 0 for size in avoided))} of intermediate results kept out of memory")
    return Text(", ".join(kinds), style="dim")
