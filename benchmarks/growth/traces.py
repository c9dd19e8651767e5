"""Costs against the size of a trace, the number of its findings, and the number of ranks."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from benchmarks.costs import compile_lens, cost
from benchmarks.editing import python_path
from benchmarks.growth.series import Plot, Series, processor_ms, series_of
from benchmarks.large_traces import FRAME, records_of, replicate
from compile_lens.formats.json_document import to_json
from compile_lens.pipeline.loaded_trace import tree_of_file
from compile_lens.pipeline.opened_trace import TraceOptions, open_trace

DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
# the recorded trace has 12
MEGABYTES = (12, 30, 100, 300, 1_000)
FINDINGS = (1, 10, 50, 200, 500, 1_000, 2_000, 5_000)
RANKS = (1, 2, 4, 8, 16, 32, 64)
FUNCTION = """\
@torch.compile(backend="eager")
def step_{n}(x):
    y = torch.relu(x)
    print("step")
    return y + 1


step_{n}(torch.ones(3))


"""
HEAD = "import torch\n\n\n"
LINE = re.compile(rb'("line": |, line |train\.py:|Line: |"co_firstlineno": )(\d+)')
COMPILE_ID = re.compile(rb'("compile_id": ")(\d+)')
RANK = re.compile(rb'"rank": 0')
DIGEST = re.compile(rb'"has_payload": "[0-9a-f]{32}"')


def trace_size() -> Plot:
    """Processor time and memory of the command, with a cache that has nothing."""
    times, memory = [], []
    source = _recorded("h200-single", "*trace*.log.gz")
    with tempfile.TemporaryDirectory() as scratch:
        for size in MEGABYTES:
            trace = Path(scratch, "trace.log")
            replicate(source, trace, size * 1_000_000)
            used = cost(
                compile_lens("trace", str(trace)), scratch, {"COMPILE_LENS_CACHE_DIR": f"{scratch}/cache-{size}"}
            )
            megabytes = trace.stat().st_size / 1e6
            times.append((megabytes, 1e3 * used.processor))
            memory.append((megabytes, used.memory))
    return Plot(
        "growth-trace.svg",
        "Cost and memory against the size of a trace",
        "MB",
        (
            Series("compile-lens trace", "ms of a processor", tuple(times)),
            Series("memory at its peak", "MB", tuple(memory)),
        ),
    )


def findings() -> Plot:
    """A trace with so many graph breaks is read, and its findings are made and written as JSON."""
    with tempfile.TemporaryDirectory() as scratch:
        recorded = _record(Path(scratch))
        return Plot(
            "growth-findings.svg",
            "Cost against the number of findings",
            "findings",
            (series_of("trace to JSON", FINDINGS, partial(_of_findings, recorded, Path(scratch))),),
        )


def ranks() -> Plot:
    """A folder with a trace of each rank is read, compared and merged."""
    source = _recorded("h200-ddp", "*rank_0*.log.gz")
    with tempfile.TemporaryDirectory() as scratch:
        measure = partial(_of_ranks, source, Path(scratch))
        return Plot(
            "growth-ranks.svg", "Cost against the number of ranks", "ranks", (series_of("all ranks", RANKS, measure),)
        )


@dataclass(frozen=True, slots=True)
class _Recording:
    trace: bytes
    file: Path


def _recorded(folder: str, pattern: str) -> bytes:
    (packed,) = (DATA / folder).glob(pattern)
    return gzip.decompress(packed.read_bytes())


def _record(scratch: Path) -> _Recording:
    file = scratch / "train.py"
    file.write_text(HEAD + FUNCTION.format(n=0), encoding="utf-8")
    environment = {**os.environ, "TORCH_TRACE": str(scratch / "recorded"), "PYTHONPATH": python_path()}
    subprocess.run([sys.executable, str(file)], env=environment, check=True, capture_output=True)
    (trace,) = (scratch / "recorded").glob("*.log")
    return _Recording(trace.read_bytes(), file)


def _of_findings(recorded: _Recording, scratch: Path, count: int) -> float:
    recorded.file.write_text(HEAD + "".join(FUNCTION.format(n=number) for number in range(count)), encoding="utf-8")
    trace = scratch / "many.log"
    records = records_of(recorded.trace)
    with trace.open("wb") as output:
        for number in range(count):
            for record in records:
                output.write(_moved(record, number) if number else record)

    def work() -> None:
        (outcome,) = open_trace(trace, TraceOptions(folders=(str(scratch),))).outcomes
        if len(outcome.findings) != count:
            raise RuntimeError(f"{len(outcome.findings)} findings instead of {count}")
        to_json([outcome], cache(tree_of_file))  # as the command does

    return _in_fresh_cache(work)


def _moved(record: bytes, number: int) -> bytes:
    """``record`` of the copy ``number`` of the function, with frames and lines of its own."""
    down = number * FUNCTION.count("\n")
    line, newline, payload = record.partition(b"\n")
    prefix, brace, content = line.partition(b"{")

    def of_copy(text: bytes) -> bytes:
        text = LINE.sub(lambda found: found[1] + b"%d" % (int(found[2]) + down), text)
        text = COMPILE_ID.sub(lambda found: found[1] + b"%d" % (int(found[2]) + 10 * number), text)
        return text.replace(b"step_0", b"step_%d" % number)

    content = FRAME.sub(lambda found: b'"frame_id": %d' % (int(found[1]) + 10 * number), of_copy(content))
    if payload:
        payload = of_copy(payload)
        text = payload.removesuffix(b"\n")[1:].replace(b"\n\t", b"\n")
        digest = hashlib.md5(text, usedforsecurity=False).hexdigest().encode()
        content = DIGEST.sub(b'"has_payload": "%s"' % digest, content)
    return prefix + brace + content + newline + payload


def _of_ranks(source: bytes, scratch: Path, count: int) -> float:
    folder = scratch / f"ranks-{count}"
    folder.mkdir()
    for rank in range(count):
        trace = folder / f"dedicated_log_torch_trace_rank_{rank}_abcdefgh.log"
        trace.write_bytes(RANK.sub(b'"rank": %d' % rank, source))

    def work() -> None:
        opened = open_trace(folder, TraceOptions())
        if len(opened.outcomes) != count:
            raise RuntimeError(f"{len(opened.outcomes)} ranks instead of {count}")
        opened.merged()

    return _in_fresh_cache(work)


def _in_fresh_cache(work: object) -> float:
    assert callable(work)

    def fresh() -> None:
        with tempfile.TemporaryDirectory() as cache:
            os.environ["COMPILE_LENS_CACHE_DIR"] = cache
            work()

    return processor_ms(fresh, 2)
