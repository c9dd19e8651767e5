"""What an interpreter imports by itself does not depend on the folder where it is started; the program still imports from there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compile_lens.workers import import_path
from compile_lens.workers.host import Host
from compile_lens.workers.import_path import fixed, left_out, whole
from compile_lens.workers.job import EndKind, Job


def test_relative_and_empty_entries_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools" / "torch-2.0.dist-info").mkdir(parents=True)
    tools = str(tmp_path / "tools")
    given = {"PYTHONPATH": os.pathsep.join(["", tools, "src"])}
    here, source = str(Path.cwd()), str(Path.cwd() / "src")
    assert fixed(given) == {"PYTHONPATH": tools}
    assert left_out(given) == (here, source)
    assert whole(given) == {"PYTHONPATH": os.pathsep.join([here, tools, source])}
    for kept in ({}, {"PYTHONPATH": ""}, {"PYTHONPATH": tools}):
        assert (fixed(kept), left_out(kept), whole(kept)) == ({}, (), {})


def test_a_folder_of_the_users_own_is_kept_only_if_an_installer_fills_it(tmp_path: Path) -> None:
    own, installed, site, tracked = (tmp_path / name for name in ("own", "installed", "lib/site-packages", "tracked"))
    for folder in (own, site, *(around / "torch-2.0.dist-info" for around in (installed, tracked))):
        folder.mkdir(parents=True)
    (tracked / "torch-2.0.dist-info" / "METADATA").touch()
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=tracked, check=True)
    missing = tmp_path / "missing"
    given = {"PYTHONPATH": os.pathsep.join(map(str, (own, installed, site, tracked, missing)))}
    assert fixed(given) == {"PYTHONPATH": os.pathsep.join(map(str, (installed, site)))}
    assert left_out(given) == tuple(map(str, (own, tracked, missing)))
    assert whole(given) == given


def test_a_folder_of_a_repository_of_somebody_else_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_path, "_is_own", lambda _: False)
    (tmp_path / "brought").mkdir()
    (tmp_path / "brought" / "sitecustomize.py").touch()
    assert fixed({"PYTHONPATH": str(tmp_path / "brought")}) == {}
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    assert fixed({"PYTHONPATH": str(tmp_path / "brought")}) == {"PYTHONPATH": ""}


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_the_user_cannot_write_is_kept() -> None:
    assert fixed({"PYTHONPATH": "/usr/lib"}) == {}


@pytest.mark.xdist_group("host")
async def test_nothing_of_the_workspace_is_imported_before_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell that adds to PYTHONPATH, as in ``$PYTHONPATH:/opt/tools``, often leaves an empty entry: the folder of the workspace."""
    # as the loader of libraries does with an empty entry of LD_LIBRARY_PATH, some packages look in the folder where they are started
    (tmp_path / "libm.so.6").write_text("no library")
    for name in ("torch", "numpy", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nraise ImportError\n")
    (tmp_path / "absolute").mkdir()
    for name in ("sitecustomize", "opt_einsum"):
        (tmp_path / "absolute" / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    (tmp_path / "absolute" / "beside.py").write_text("VALUE = 4\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "of_the_project.py").write_text("VALUE = 3\n")
    file = tmp_path / "program.py"
    file.write_text(
        "import beside, of_the_project, os\nprint(of_the_project.VALUE, beside.VALUE, os.environ['PYTHONPATH'].endswith('src'))\n"
    )
    monkeypatch.chdir(tmp_path)
    own, absolute = os.environ.get("PYTHONPATH", ""), str(tmp_path / "absolute")
    host = Host(
        sys.executable,
        {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([*filter(None, [own]), absolute, "", "src"]),
            "LD_LIBRARY_PATH": ":",
        },
    )
    try:
        end = await host.run(Job(str(file), timeout_s=60.0), lambda _: None)
    finally:
        await host.close()
    assert (end.kind, end.output) == (EndKind.FINISHED, "3 4 True\n")
    assert not (tmp_path / "ran").exists()
