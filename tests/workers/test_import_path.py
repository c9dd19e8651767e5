"""What an interpreter imports by itself does not depend on the folder where it is started; the program still imports from there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from compile_lens.workers.host import Host
from compile_lens.workers.import_path import fixed, left_out, whole
from compile_lens.workers.job import EndKind, Job


def test_relative_and_empty_entries_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tools = str(tmp_path / "tools")
    given = {"PYTHONPATH": os.pathsep.join(["", tools, "src"])}
    here, source = str(Path.cwd()), str(Path.cwd() / "src")
    assert fixed(given) == {"PYTHONPATH": tools}
    assert left_out(given) == (here, source)
    assert whole(given) == {"PYTHONPATH": os.pathsep.join([here, tools, source])}
    for kept in ({}, {"PYTHONPATH": ""}, {"PYTHONPATH": tools}):
        assert (fixed(kept), left_out(kept), whole(kept)) == ({}, (), {})


@pytest.mark.xdist_group("host")
async def test_nothing_of_the_workspace_is_imported_before_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell that adds to PYTHONPATH, as in ``$PYTHONPATH:/opt/tools``, often leaves an empty entry: the folder of the workspace."""
    # as the loader of libraries does with an empty entry of LD_LIBRARY_PATH, some packages look in the folder where they are started
    (tmp_path / "libm.so.6").write_text("no library")
    for name in ("torch", "numpy", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nraise ImportError\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "of_the_project.py").write_text("VALUE = 3\n")
    file = tmp_path / "program.py"
    file.write_text(
        "import of_the_project, os\nprint(of_the_project.VALUE, os.environ['PYTHONPATH'].endswith('src'))\n"
    )
    monkeypatch.chdir(tmp_path)
    own = os.environ.get("PYTHONPATH", "")
    host = Host(
        sys.executable,
        {**os.environ, "PYTHONPATH": os.pathsep.join([*filter(None, [own]), "", "src"]), "LD_LIBRARY_PATH": ":"},
    )
    try:
        end = await host.run(Job(str(file), timeout_s=60.0), lambda _: None)
    finally:
        await host.close()
    assert (end.kind, end.output) == (EndKind.FINISHED, "3 True\n")
    assert not (tmp_path / "ran").exists()
