"""Files of a workspace that are no files: nothing waits for a pipe, and nothing reads an endless device."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from compile_lens.cli.project_options import project_defaults
from compile_lens.documents.gitignore import Ignored
from compile_lens.pipeline.launch import find_launch
from compile_lens.pipeline.workspace import mentioning
from compile_lens.workers.interpreter import torch_version


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders there")
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_whoever_reads_a_workspace_goes_on(kind: str, tmp_path: Path) -> None:
    for name in (".vscode/launch.json", ".gitignore", "test_train.py", "pyproject.toml", ".venv/pyvenv.cfg"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        if kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")
    file = tmp_path / "train.py"
    assert find_launch(file, tmp_path) is None
    assert not Ignored().within(tmp_path).ignores(file, is_folder=False)
    assert mentioning(file, tmp_path) == ()
    assert project_defaults(tmp_path) == {}
    assert torch_version(str(tmp_path / ".venv" / "bin" / "python")) is None
