"""The tool that shows what torch made of a graph: its stages, its kernels, and the text of one of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from compile_lens.assistants.answers import LEFT_OUT, NUMBER, TEXT, array_of, object_of
from compile_lens.assistants.arguments import WrongArgument
from compile_lens.assistants.bench import Bench, Tell, Way, absolute
from compile_lens.assistants.quoting import quoted, quoted_lines
from compile_lens.stages.model import Graph, Kernel, Stage
from compile_lens.stages.opened import OpenedStages, open_stages, read_stages
from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.files import unpacked
from compile_lens.workers.job import Depth
from compile_lens.workers.wire import Frame, TraceRecord

LONGEST_TEXT = 60_000
MOST_OPERATORS = 6
KERNEL = object_of(
    {
        "name": TEXT,
        "kind": TEXT,
        "graph": TEXT,
        "operators": array_of(TEXT),
        "computes": array_of(TEXT),
        "bytes": NUMBER,
    },
    "name",
    "kind",
    "graph",
)
STAGES = {
    "file": TEXT,
    "graphs": array_of(
        object_of({"id": TEXT, "function": TEXT, "place": TEXT, "stages": array_of(TEXT)}, "id", "function", "stages")
    ),
    "kernels": array_of(KERNEL),
    "stage": TEXT,
    "text": TEXT,
    "left_out": LEFT_OUT,
}


async def stages(bench: Bench, given: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """The graphs of a file or trace with their stages and kernels; of one stage, its text."""
    path = absolute(given["file"])
    opened = await (_of_run(bench, given, tell) if path.endswith(".py") else asyncio.to_thread(_of_trace, Path(path)))
    wanted = given.get("stage")
    if wanted:
        stage = opened.stage(wanted)
        if stage is None:
            known = ", ".join(stage.id for graph in opened.graphs for stage in graph.stages)
            raise WrongArgument(f"There is no stage {quoted(wanted, 80)}. There are: {quoted(known or 'none')}.")
        return {"file": path, "stage": quoted(stage.id), "text": await asyncio.to_thread(_text, stage, given["offset"])}
    return await asyncio.to_thread(_listed, path, opened, given.get("line"))


async def _of_run(bench: Bench, given: dict[str, Any], tell: Tell) -> OpenedStages:
    """The stages of a run that compiles all the way."""
    source = await bench.source(given["file"], given.get("text"))
    builders: list[ReportBuilder] = []

    def begin() -> None:
        builders.append(ReportBuilder())

    def watch(frame: Frame) -> None:
        if isinstance(frame, TraceRecord):
            builders[-1].feed(frame.data)

    way = Way(given.get("entry", ""), Depth.INDUCTOR, stages=True)
    async with bench.running(source, way, tell, begin, watch) as ran:
        del ran
    lines = source.text.splitlines()
    return open_stages(builders[-1].report(), lambda file: lines if file == source.file else None)


def _of_trace(path: Path) -> OpenedStages:
    with unpacked(path) as files:
        if len(files) != 1:
            names = ", ".join(one.path.name for one in files)
            raise WrongArgument(f"The trace has one file per rank. Give one of {quoted(names)}.")
        return read_stages(files[0].path)


def _listed(path: str, opened: OpenedStages, line: int | None) -> dict[str, Any]:
    kernels = (
        opened.kernels_at(path, line, callers=True)
        if line
        else tuple(kernel for graph in opened.graphs for kernel in graph.kernels)
    )
    return {
        "file": path,
        "graphs": [_graph(graph) for graph in opened.graphs],
        "kernels": [_kernel(kernel) for kernel in kernels],
    }


def _graph(graph: Graph) -> dict[str, Any]:
    return {
        "id": quoted(graph.id),
        "function": quoted(graph.function),
        "place": quoted(f"{graph.file}:{graph.line}:1"),
        "stages": [quoted(stage.id) for stage in graph.documents],
    }


def _kernel(kernel: Kernel) -> dict[str, Any]:
    known = [size for size in (kernel.bytes_read, kernel.bytes_written) if size is not None]
    return {
        "name": quoted(kernel.call),
        "kind": kernel.kind.value,
        "graph": quoted(kernel.graph),
        "operators": [quoted(name) for name in dict.fromkeys(kernel.operators)][:MOST_OPERATORS],
        "computes": [quoted(f"{span.file}:{span.line}:{span.column or 1}") for span in kernel.sources][:MOST_OPERATORS],
        **({"bytes": sum(known)} if len(known) == 2 else {}),
    }


def _text(stage: Stage, offset: int) -> str:
    """The text of a stage from a line on."""
    return quoted_lines("".join(stage.text.splitlines(keepends=True)[offset:]), LONGEST_TEXT)
