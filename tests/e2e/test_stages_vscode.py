"""The compiler's stages in a real VS Code, beside the source, with colors and the cursor linked. The run that gave them is recorded."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import statistics
from pathlib import Path

import pytest
from workbench import ROOT, Workbench

from compile_lens.state.stage_folders import RUN, StageFacts, StageFolders

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("vscode")]

DATA = ROOT / "tests" / "data" / "h200-single"
RECORDED = b"/cluster/job/gpu_single.py"
# of payloads, which are other ones now
DIGEST = re.compile(rb'(?<="has_payload": ")[0-9a-f]{32}')
# `q, k, v = self.qkv(x)…`; the line below it has a kernel of its own
LINE = 17


def test_the_code_stands_beside_the_source_in_matching_colors(
    workbench: Workbench, tmp_path: Path, shots: Path
) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    program = Path(shutil.copy(DATA / "gpu_single.py", folder))
    cache = os.environ.get("COMPILE_LENS_CACHE_DIR") or workbench.profile / "home" / ".cache" / "compile-lens"
    kept = StageFolders(Path(cache) / "v1" / "stages")
    key = kept.key(RUN, str(program))
    (trace,) = DATA.glob("*_trace_*.log.gz")
    text = gzip.decompress(trace.read_bytes()).replace(RECORDED, os.fsencode(program))
    text = DIGEST.sub(b"", text)
    kept.folder(key).mkdir(parents=True)
    place = kept.folder(key) / "trace-1.log"
    place.write_bytes(text)
    kept.keep(key, StageFacts(RUN, str(program), str(place), program.name, {str(program): program.read_text()}))
    told = workbench.play("stages", folder, shots, {"file": program.name, "line": LINE})
    assert LINE in told["back"]
    assert told["kernels"]
    times = [time for time in told["times"] if time is not None]
    print(f"from the key to the mark: {statistics.median(times):.0f} ms")
    assert len(times) == len(told["times"])
