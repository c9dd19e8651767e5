"""The documents of stages are written into their own folder, whatever a trace calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.state.stage_folders import StageFolders


def test_a_document_is_written_into_its_own_folder(tmp_path: Path) -> None:
    folders = StageFolders(tmp_path / "stages")
    place = folders.write_document("key", "0_0/forward/kernel.py", "text")
    assert place.read_text() == "text"
    for name in ("../x.py", "a/../../x.py", str(tmp_path / "x.py"), "", ".", "..", "../documents"):
        with pytest.raises(OSError, match="not a name of a document"):
            folders.write_document("key", name, "text")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [place]
    assert folders.known("..") is None
