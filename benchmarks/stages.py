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
from compile_lens.stages.opened import read_stages
from compile_lens.trace.builder import read_report

RECORDED = Path(__file__).parent.parent / "tests" / "data" / "h200-single"
SIZE = 50_000_000
REPEATS = 5


def run() -> None:
    """Print the figures."""
    (packed,) = RECORDED.glob("*trace*.log.gz")
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace.log")
        replicate(gzip.decompress(packed.read_bytes()), trace, SIZE)
        opening, showing, linking, reporting = ([] for _ in range(4))
        for _ in range(REPEATS):
            started = time.process_time()
            stages = read_stages(trace)
            opening.append(time.process_time() - started)
            code = stages.graphs[-1].documents[-1]
            started = time.process_time()
            lines = code.text.count("\n")
            showing.append(time.process_time() - started)
            started = time.process_time()
            stages.links_of(code)
            linking.append(time.process_time() - started)
            started = time.process_time()
            read_report(trace)
            reporting.append(time.process_time() - started)
        median = statistics.median
        print(
            f"Stages of a trace of {trace.stat().st_size / 1e6:.0f} MB, {len(stages.graphs)} graphs: opened in "
            f"{1e3 * median(opening):.0f} ms ({median(opening) / median(reporting):.2f} of the report); a stage of {lines} lines in "
            f"{1e3 * median(showing):.1f} ms, its links in {1e3 * median(linking):.1f} ms."
        )


if __name__ == "__main__":
    run()
