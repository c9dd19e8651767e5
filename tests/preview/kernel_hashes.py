"""The kernels in a trace of Inductor, as hashes of their source. What depends on the installation alone is left out."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

from compile_lens.trace.builder import ReportBuilder
from compile_lens.trace.records import iterate, opened
from compile_lens.trace.report import CompileReport

KERNEL = re.compile(r"async_compile\.triton\('(?P<name>[^']+)', '''(?P<source>.*?)''', device_str=", re.DOTALL)
OF_INSTALLATION = re.compile(r"'backend_hash': '[0-9A-F]+'")


def kernel_hashes(report: CompileReport) -> set[str]:
    """``NAME HASH`` of each Triton kernel."""
    return {
        f"{found['name']} {hashlib.sha256(OF_INSTALLATION.sub('', found['source']).encode()).hexdigest()[:16]}"
        for artifact in report.artifacts
        if artifact.name == "inductor_output_code"
        for found in KERNEL.finditer(artifact.payload.text() or "")
    }


def main(trace: Path) -> None:
    """Print those of the trace of a GPU, to be recorded in ``tests/data/gpu-preview``."""
    builder = ReportBuilder()
    for record in iterate(opened(trace)):
        builder.add(record)
    print(json.dumps(sorted(kernel_hashes(builder.report())), indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
