"""The Python of a kernel: named by a notebook of a workspace, and started outside of the sandbox."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compile_lens.workers.kernels import python_of_kernel

NOTEBOOK = Path("/nowhere/a.ipynb")


def write_spec(folder: Path, program: str = sys.executable) -> Path:
    spec = folder / "kernels" / "mine" / "kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps({"argv": [program], "language": "python"}))
    return spec


def test_a_kernel_of_the_user_is_found(tmp_path: Path) -> None:
    write_spec(tmp_path / "data")
    environment = {"JUPYTER_PATH": os.pathsep.join(["", str(tmp_path / "data")]), "HOME": str(tmp_path)}
    assert python_of_kernel("mine", environment, NOTEBOOK) == sys.executable
    assert python_of_kernel("../mine", environment, NOTEBOOK) is None


@pytest.mark.parametrize("variable", ["JUPYTER_PATH", "JUPYTER_DATA_DIR"])
def test_no_kernel_of_the_repository_is_found(tmp_path: Path, variable: str) -> None:
    (tmp_path / "clone").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "clone", check=True)
    write_spec(tmp_path / "clone" / "jupyter")
    environment = {variable: str(tmp_path / "clone" / "jupyter"), "HOME": str(tmp_path / "nobody")}
    assert python_of_kernel("mine", environment, tmp_path / "clone" / "a.ipynb") is None
    assert python_of_kernel("mine", environment, tmp_path / "a.ipynb") == sys.executable


def test_no_kernel_that_another_repository_brought_is_found(tmp_path: Path) -> None:
    """Tools that set variables as one enters a folder leave them in an editor that is opened elsewhere."""
    write_spec(tmp_path / "clone" / "jupyter")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "clone", check=True)
    environment = {"JUPYTER_PATH": str(tmp_path / "clone" / "jupyter"), "HOME": str(tmp_path / "nobody")}
    assert python_of_kernel("mine", environment, tmp_path / "a.ipynb") == sys.executable
    subprocess.run(["git", "add", "jupyter"], cwd=tmp_path / "clone", check=True)
    assert python_of_kernel("mine", environment, tmp_path / "a.ipynb") is None


@pytest.mark.parametrize("variable", ["JUPYTER_PATH", "JUPYTER_DATA_DIR", "HOME", "XDG_DATA_HOME"])
@pytest.mark.parametrize("value", [".", "share"])
def test_no_kernel_of_the_current_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    """A relative entry means the folder where the server was started, which is often a workspace."""
    monkeypatch.chdir(tmp_path)
    for folder in (value, f"{value}/jupyter", f"{value}/.local/share/jupyter", f"{value}/Library/Jupyter"):
        write_spec(tmp_path / folder)
    assert python_of_kernel("mine", {"HOME": str(tmp_path / "nobody"), variable: value}, NOTEBOOK) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_a_specification_that_is_a_pipe_or_nests_without_end_is_none(tmp_path: Path) -> None:
    spec = write_spec(tmp_path)
    environment = {"JUPYTER_PATH": str(tmp_path), "HOME": str(tmp_path / "nobody")}
    spec.write_text("[" * 200_000)
    assert python_of_kernel("mine", environment, NOTEBOOK) is None
    spec.unlink()
    os.mkfifo(spec)
    assert python_of_kernel("mine", environment, NOTEBOOK) is None
