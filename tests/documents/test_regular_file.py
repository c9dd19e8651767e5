"""Files of a workspace that are no files: nothing waits for a pipe, and nothing reads an endless device."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from compile_lens.agent.runtime.regular_file import read_regular
from compile_lens.cli.project_options import project_defaults
from compile_lens.diff.baseline import BaselineError, read_baseline
from compile_lens.documents.gitignore import Ignored
from compile_lens.documents.source_file import FileProblem, read_source
from compile_lens.pipeline.launch import find_launch
from compile_lens.pipeline.workspace import documented_examples, mentioning
from compile_lens.stages.debug_folder import TextFile
from compile_lens.workers.extraction import find_torch
from compile_lens.workers.interpreter import torch_version

ASK_DOCTOR = """
import os, sys
from compile_lens.agent.runtime.environment_report import users_cache
for os.environ["TORCHINDUCTOR_CACHE_DIR"] in sys.argv[1:]:
    print(repr(users_cache().bisect_status))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders there")
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_whoever_reads_a_workspace_goes_on(kind: str, tmp_path: Path) -> None:
    torch = ".venv/lib/python3.12/site-packages/torch"
    graph = "torchinductor/model__0_forward_1.0"
    (tmp_path / torch).mkdir(parents=True)
    (tmp_path / torch / "__init__.py").touch()
    for name in (
        *(".vscode/launch.json", ".gitignore", "test_train.py", "pyproject.toml", ".venv/pyvenv.cfg"),
        *("README.md", "docs/usage.md", "compile-lens.json", f"{torch}/version.py", f"{graph}/output_code.py"),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        if kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to("/dev/zero")
    file = tmp_path / "train.py"
    assert find_launch(file, tmp_path) is None
    assert not Ignored().within(tmp_path).ignores(file, is_folder=False)
    assert mentioning(file, tmp_path) == ()
    assert documented_examples(tmp_path) == ()
    assert project_defaults(tmp_path) == {}
    assert torch_version(str(tmp_path / ".venv" / "bin" / "python")) is None
    assert find_torch(str(tmp_path / ".venv" / "bin" / "python")) is None
    assert TextFile(tmp_path / graph / "output_code.py").text() is None
    with pytest.raises(BaselineError, match="cannot be read"):
        read_baseline(tmp_path / "compile-lens.json")


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders there")
def test_a_file_that_says_that_nothing_is_there_yet_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As /proc/kmsg does once it has been read, which is a regular file by its mode."""
    os.mkfifo(tmp_path / "train.py")
    writer = os.open(tmp_path / "train.py", os.O_RDWR)
    monkeypatch.setattr(stat, "S_ISREG", lambda _: True)
    try:
        with pytest.raises(OSError, match="not a regular file"):
            read_regular(tmp_path / "train.py")
        with pytest.raises(FileProblem, match="cannot be read: not a regular file"):
            read_source(tmp_path / "train.py")
    finally:
        os.close(writer)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="pyproject.toml is read since Python 3.11")
@pytest.mark.parametrize("chosen", ["../elsewhere.json", "/elsewhere.json", "linked.json"])
def test_a_repository_chooses_no_file_elsewhere_for_its_baseline(
    chosen: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With ``--update-baseline`` it is written."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "linked.json").symlink_to(tmp_path / "elsewhere.json")
    (project / "pyproject.toml").write_text(f"[tool.compile-lens]\nbaseline = '{chosen}'\n")
    assert project_defaults(project)["check"] == {}
    assert f"the baseline is ignored: it is outside of this folder. To use it, pass --baseline {project / chosen}" in (
        capsys.readouterr().err
    )
    (project / "pyproject.toml").write_text("[tool.compile-lens]\nbaseline = 'ci/known.json'\n")
    assert project_defaults(project)["check"] == {"baseline": str(project / "ci" / "known.json")}


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders there")
def test_the_doctor_waits_for_nothing_in_a_cache_of_somebody_else(tmp_path: Path) -> None:
    places = [tmp_path / kind / "bisect" / "bisect_status.txt" for kind in ("pipe", "device", "folder", "no text")]
    pipe, device, folder, no_text = places
    for place in places:
        place.parent.mkdir(parents=True)
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    folder.mkdir()
    no_text.write_bytes(b"backend=\xff")
    command = [sys.executable, "-c", ASK_DOCTOR, *(str(place.parent.parent) for place in places)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.splitlines() == ["None", "None", "None", repr("backend=\ufffd")]
