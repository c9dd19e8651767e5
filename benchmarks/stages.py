"""How long it takes to open a stage of a trace of 50 MB: the trace anew, a document of one that is open, and what belongs to a line.

Times are of a processor, but for those that a user waits for. The baseline is the whole report of the same trace, which findings need.
"""

from __future__ import annotations

import asyncio
import gzip
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.lsp.editor import Editor, capabilities

from benchmarks.editing import server
from benchmarks.large_traces import replicate
from benchmarks.table.figure import Figure, Of
from compile_lens.stages.opened import read_stages
from compile_lens.trace.builder import read_report

RECORDED = Path(__file__).parent.parent / "tests" / "data" / "h200-single"
SIZE = 50_000_000
REPEATS = 5
# lines of the source that are asked about, and of the generated code
SOURCE_LINES, CODE_LINES = range(20, 60), range(0, 400, 10)


async def measure() -> list[Figure]:
    """Opening, showing, links: medians. From the cursor to what is highlighted: 95 %."""
    return [*_of_reader(), *await _of_cursor()]


def _of_reader() -> list[Figure]:
    (packed,) = RECORDED.glob("*trace*.log.gz")
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace.log")
        replicate(gzip.decompress(packed.read_bytes()), trace, SIZE)
        opening, linking, reporting, clock = ([] for _ in range(4))
        for _ in range(REPEATS):
            began, started = time.perf_counter(), time.process_time()
            stages = read_stages(trace)
            opening.append(1e3 * (time.process_time() - started))
            code = stages.graphs[-1].documents[-1]
            assert code.text
            started = time.process_time()
            stages.links_of(code)
            linking.append(1e3 * (time.process_time() - started))
            clock.append(1e3 * (time.perf_counter() - began))
            started = time.process_time()
            read_report(trace)
            reporting.append(1e3 * (time.process_time() - started))
        report = statistics.median(reporting)
        return [
            Figure("opened", statistics.median(opening), "ms", report, "report of the trace"),
            Figure("one stage with its links, by the clock", statistics.median(clock), "ms", goal=200, of=Of.VALUE),
            Figure("links of one stage", statistics.median(linking), "ms", report),
        ]


async def _of_cursor() -> list[Figure]:
    """In a real server with the trace open: from a line of the source to its kernels, and within a stage."""
    said = capabilities(
        workspace={"textDocumentContent": {"dynamicRegistration": True}},
        experimental={"compileLensStages": True, "compileLensCommandLinks": True},
    )
    (packed,) = RECORDED.glob("*trace*.log.gz")
    with tempfile.TemporaryDirectory() as scratch:
        folder, job = Path(scratch, "folder"), Path(scratch, "job")
        folder.mkdir()
        job.mkdir()
        program = folder / "gpu_single.py"
        program.write_bytes((RECORDED / program.name).read_bytes())
        replicate(gzip.decompress(packed.read_bytes()), job / packed.stem, SIZE)
        async with server(folder, {"run": {"enabled": "never"}}, capabilities=said) as editor:
            uri = await editor.open(program)
            await editor.command("compileLens.openTrace", job.as_uri())
            await editor.wait(lambda message: message.get("method") == "compileLens/stagesChanged")
            await asyncio.sleep(5)  # until the kernels are read, which is told in between
            (source,) = (await editor.command("compileLens.stages", uri))["sources"]
            code = next(one for one in source["graphs"][0]["stages"] if one["kind"] == "output_code")
            to_kernels = [await _asked(editor, "implementation", uri, line) for line in SOURCE_LINES]
            in_stage = [await _asked(editor, "documentHighlight", code["uri"], line) for line in CODE_LINES]
    if not any(found for _, found in to_kernels) or not any(found for _, found in in_stage):
        raise RuntimeError("nothing was found")
    return [
        Figure(f"cursor to {what}, 95 %, by the clock", _at_95(taken), "ms", goal=50, of=Of.VALUE)
        for what, taken in (("kernels of a source line", to_kernels), ("highlights in a stage", in_stage))
    ]


async def _asked(editor: Editor, method: str, uri: str, line: int) -> tuple[float, Any]:
    params = {"textDocument": {"uri": uri}, "position": {"line": line, "character": 4}}
    began = time.perf_counter()
    found = await editor.request(f"textDocument/{method}", params)
    return 1e3 * (time.perf_counter() - began), found


def _at_95(taken: list[tuple[float, Any]]) -> float:
    return sorted(milliseconds for milliseconds, _ in taken)[int(len(taken) * 0.95)]
