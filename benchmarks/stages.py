"""How long it takes to open a stage of a trace of 50 MB: the trace anew, and a document of one that is open.

Times are of a processor. The baseline is the whole report of the same trace, which findings need.
"""

from __future__ import annotations

import gzip
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.large_traces import replicate
from benchmarks.table.figure import Figure, Of
from compile_lens.stages.opened import read_stages
from compile_lens.trace.builder import read_report

RECORDED = Path(__file__).parent.parent / "tests" / "data" / "h200-single"
SIZE = 50_000_000
REPEATS = 5


def measure() -> list[Figure]:
    """Opening, showing, links; medians, in milliseconds of a processor but for the one that a user waits for."""
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
