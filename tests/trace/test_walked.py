"""Folders that somebody else has made are walked through, whatever is in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from compile_lens.agent.runtime.left_folders import remove_folder
from compile_lens.cli.targets import find_targets
from compile_lens.pipeline.stage_run import open_recorded_stages
from compile_lens.pipeline.workspace import _python_files
from compile_lens.stages.debug_folder import is_debug_folder, read_debug_folder
from compile_lens.trace.files import TraceError, trace_files
from compile_lens.trace.walked import files_below, walked

PROGRAM = "import torch\n\n@torch.compile\ndef f(x):\n    return x\n"


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """Folders nested deeper than calls may be, and in a name too long for the system; circles, pipes and names that are no text."""
    place = tmp_path / "deep"
    place.mkdir()
    (place / "model.py").write_text(PROGRAM)
    (place / "circle.py").symlink_to("circle.py")
    (place / "around").symlink_to(".")
    (place / "top").symlink_to("/")
    if hasattr(os, "mkfifo"):
        os.mkfifo(place / "pipe.py")
        (place / os.fsdecode(b"\xff\n.py")).write_text(PROGRAM)
    for name, depth in (("d", 1_500), ("n" * 200, 40)):
        folder = os.open(place, os.O_RDONLY)
        for _ in range(depth):
            os.mkdir(name, dir_fd=folder)
            inner = os.open(name, os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
        os.close(os.open("inner.py", os.O_WRONLY | os.O_CREAT, dir_fd=folder))
        os.close(folder)
    yield place
    remove_folder(str(place))


@pytest.mark.skipif(os.name == "nt", reason="has other limits on names")
def test_no_folder_is_too_deep_or_goes_in_a_circle(deep: Path) -> None:
    found = list(walked(deep))
    assert len(found) > 1_500
    names = {file.name for file in files_below(deep)}
    assert {"model.py", "inner.py"} <= names and not names & {"circle.py", "pipe.py"}
    targets = find_targets([str(deep)])
    assert {Path(file).parent for file in targets.files} == {deep}
    assert "model.py" in {path.name for path in _python_files(deep, float("inf"))}
    with pytest.raises(TraceError):
        trace_files(deep)
    assert not is_debug_folder(deep)


def test_a_debug_folder_shows_no_file_that_a_link_leads_to(tmp_path: Path) -> None:
    folder, private = tmp_path / "model__0_forward_1.0", tmp_path / "private"
    folder.mkdir()
    private.write_text("private")
    (folder / "output_code.py").symlink_to(private)
    (folder / "ir_pre_fusion.txt").write_text("op0: SchedulerNode")
    assert is_debug_folder(tmp_path)
    (graph,) = read_debug_folder(tmp_path).graphs
    texts = [stage.text for stage in graph.stages]
    assert any("op0" in text for text in texts) and not any("private" in text for text in texts)


def test_a_debug_folder_of_holes_is_not_read(tmp_path: Path) -> None:
    """They take no room on the disk, and each would be read, and shown, for its length."""
    for graph in range(3):
        folder = tmp_path / "torchinductor" / f"model__{graph}_forward_1.0"
        folder.mkdir(parents=True)
        (folder / "fx_graph_readable.py").write_text("x = 1\n")
        with (folder / "output_code.py").open("wb") as holes:
            holes.truncate(100 << 20)
    with pytest.raises(TraceError, match=r"not read: its documents have 300 MiB, .* Give the folder of a single graph"):
        read_debug_folder(tmp_path)
    with pytest.raises(TraceError, match="300 MiB"):
        open_recorded_stages(tmp_path)
    (graph,) = read_debug_folder(folder).graphs
    assert graph.documents[0].text == "x = 1\n"
