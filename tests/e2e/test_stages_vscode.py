"""The compiler's stages in a real VS Code, beside the source, with colors and the cursor linked. The run that gave them is recorded."""

from __future__ import annotations

import os
import statistics
from pathlib import Path

import pytest
from tests.recorded_run import program_with_trace
from workbench import Workbench

from compile_lens.state.stage_folders import RUN, StageFacts, StageFolders

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("vscode")]

# `q, k, v = self.qkv(x)…`; the line below it has a kernel of its own
LINE = 17


def test_the_code_stands_beside_the_source_in_matching_colors(
    workbench: Workbench, tmp_path: Path, shots: Path
) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    program, trace = program_with_trace(folder)
    cache = os.environ.get("COMPILE_LENS_CACHE_DIR") or workbench.profile / "home" / ".cache" / "compile-lens"
    kept = StageFolders(Path(cache) / "v1" / "stages")
    key = kept.key(RUN, str(program))
    kept.folder(key).mkdir(parents=True)
    place = kept.folder(key) / "trace-1.log"
    place.write_bytes(trace)
    kept.keep(key, StageFacts(RUN, str(program), str(place), program.name, {str(program): program.read_text()}))
    told = workbench.play("stages", folder, shots, {"file": program.name, "line": LINE})
    assert LINE in told["back"]
    assert told["kernels"]
    times = [time for time in told["times"] if time is not None]
    print(f"from the key to the mark: {statistics.median(times):.0f} ms")
    assert len(times) == len(told["times"])
