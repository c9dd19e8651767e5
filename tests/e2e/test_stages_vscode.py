"""The compiler's stages in a real VS Code: beside the source, as a picture, compared, and for a GPU that is not there."""

from __future__ import annotations

import os
import re
import shutil
import statistics
from pathlib import Path

import pytest
from tests.recorded_run import as_it_was, program_with_trace
from workbench import Workbench

from compile_lens.lsp.compiler_stages.store import EARLIER
from compile_lens.state.stage_folders import RUN, VARIANT, StageFacts, StageFolders

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("vscode")]

ASSEMBLY = Path(__file__).parent.parent / "data" / "assembly"
# of large text (WCAG 2.2, 1.4.3); colors of VS Code's own themes are between it and that of normal text
CONTRAST = 3.0
# `q, k, v = self.qkv(x)…`; the line below it has a kernel of its own
LINE = 17


@pytest.mark.nightly
def test_the_code_stands_beside_the_source_in_matching_colors(
    workbench: Workbench, tmp_path: Path, shots: Path
) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    program, trace = program_with_trace(folder)
    cache = os.environ.get("COMPILE_LENS_CACHE_DIR") or workbench.profile / "home" / ".cache" / "compile-lens"
    kept = StageFolders(Path(cache) / "v1" / "stages")
    texts = {str(program): program.read_text()}
    for kind, variant, said in ((RUN, "", trace), (VARIANT, EARLIER, as_it_was(trace))):
        key = kept.key(kind, str(program), variant)
        kept.folder(key).mkdir(parents=True)
        place = kept.folder(key) / "trace-1.log"
        place.write_bytes(said)
        kept.keep(key, StageFacts(kind, str(program), str(place), program.name, texts, variant=variant))
    assembly = sorted(ASSEMBLY.iterdir())
    for text in assembly:
        shutil.copy(text, folder)
    given = {"file": program.name, "line": LINE, "folder": str(folder), "texts": [text.name for text in assembly]}
    told = workbench.play("stages", folder, shots, given, limit=240)
    assert LINE in told["back"]
    assert told["kernels"]
    times = [time for time in told["times"] if time is not None]
    print(f"from the key to the mark: {statistics.median(times):.0f} ms")
    assert len(times) == len(told["times"])

    # the picture of the graph that computes the line, saved
    assert told["picture"]["title"].startswith("forward [1/7] forward")
    assert told["picture"]["svg"].startswith("<svg")
    assert "triton_per_fused_native_layer_norm_0" in told["picture"]["svg"]

    # what differs from the run before, and no noise
    assert "128 → 127 kernels" in told["compared"]["summary"]
    assert "128 → 127 kernels" in told["compared"]["tab"]
    assert told["compared"]["removed"]

    # what Triton makes can be read: in several colors, each with enough contrast
    for theme, of_theme in told["colors"].items():
        for name, seen in of_theme.items():
            assert seen["colors"] >= 4, (theme, name, seen)
            assert seen["contrast"] >= CONTRAST, (theme, name, seen)


PREVIEWED = """\
import torch
import torch.nn.functional as F


@torch.compile
def attended(x, weight):
    hidden = F.gelu(x @ weight)
    return torch.softmax(hidden, -1)


x = torch.randn(64, 256, device="cuda")
weight = torch.randn(256, 512, device="cuda")
print(attended(x, weight).shape)
"""
SOFTMAX = PREVIEWED.split("\n").index("    return torch.softmax(hidden, -1)") + 1


@pytest.mark.nightly
def test_kernels_for_a_gpu_that_is_not_there_down_to_ptx(workbench: Workbench, tmp_path: Path, shots: Path) -> None:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "model.py").write_text(PREVIEWED)
    (folder / ".vscode").mkdir()
    (folder / ".vscode" / "settings.json").write_text(
        '{"compileLens.run.timeout": 600, "compileLens.budget.idle": 600}'
    )
    given = {"file": "model.py", "gpu": "H100", "line": SOFTMAX}
    told = workbench.play("gpu_preview", folder, shots, given, limit=900)
    assert re.search(r"\d+ registers", told["offered"])
    assert ".target sm_90" in told["text"]
    assert ".ptx" in told["tab"]
    assert told["linked"]
