"""The trace of a training run on a real GPU, as if it had been recorded with the program where a test has put it."""

from __future__ import annotations

import gzip
import os
import re
import shutil
from pathlib import Path

DATA = Path(__file__).parent / "data" / "h200-single"
RECORDED = b"/cluster/job/gpu_single.py"
# of payloads, which are other ones now
DIGEST = re.compile(rb'(?<="has_payload": ")[0-9a-f]{32}')


def program_with_trace(folder: Path) -> tuple[Path, bytes]:
    """The program, copied into ``folder``, and its trace."""
    program = Path(shutil.copy(DATA / "gpu_single.py", folder))
    (trace,) = DATA.glob("*_trace_*.log.gz")
    return program, DIGEST.sub(b"", gzip.decompress(trace.read_bytes()).replace(RECORDED, os.fsencode(program)))


def as_it_was(trace: bytes) -> bytes:
    """``trace`` as of a version of the program that has one more kernel in a graph, and whose buffers have other numbers."""
    handle = b"# [Provenance debug handles] triton_per_fused_abs_gt_max_3:7\n"
    call = b"triton_per_fused_abs_gt_max_3.run(buf14, buf16, 1, 6, stream=stream0)\n"
    found = re.search(rb"\t( +)" + re.escape(handle) + rb"(?:.*\n)\t +" + re.escape(call), trace)
    assert found is not None
    again = found[0].replace(b"_3:7", b"_3:8")
    return (trace[: found.end()] + again + trace[found.end() :]).replace(b"buf14", b"buf24")
