"""The rows of torch's private names: each that the installed torch should have is there, and one that is missing is told."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.entries.agent_package import agent_module

from compile_lens.pipeline.doctor import CheckState, examine
from compile_lens.workers.environment_report import ask_environment
from compile_lens.workers.job import Job
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("torch-in-this-process")
ROOM = agent_module("torch_internals")


def rows() -> list[Any]:
    return sorted(set(ROOM.declared()), key=lambda row: str(row.path))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.path)
def test_the_installed_torch_has_what_it_should(row: Any) -> None:
    import torch  # noqa: F401 - rows ask the installed version

    assert row.exists == row.is_expected or row.supplied


# a torch without a name that only matters when Dynamo fails
WITHOUT_A_NAME = """
import importlib.machinery

execute = importlib.machinery.SourceFileLoader.exec_module


def exec_module(self, module):
    execute(self, module)
    if module.__name__ == "torch._dynamo.convert_frame":
        del module.format_error_msg


# a finder of its own would be put aside while torch is imported
importlib.machinery.SourceFileLoader.exec_module = exec_module
"""


@pytest.mark.nightly
def test_a_missing_name_is_one_note_of_each_run_and_a_row_of_the_doctor(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"  # the standby imports from what an installer fills
    site.mkdir()
    (site / "sitecustomize.py").write_text(WITHOUT_A_NAME)
    program = tmp_path / "program.py"
    program.write_text("import torch\nf = torch.compile(lambda x: x + 1, backend='eager')\nf(torch.ones(3))\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}
    host = WarmHost(environment)
    try:
        for _ in range(2):
            notes = host.run(Job(str(program))).notes
            assert [note.partition(" (")[0] for note in notes] == ["Unavailable: why Dynamo skips a function"], notes
            assert "format_error_msg" in notes[0]
    finally:
        host.close()
    rows = examine(asyncio.run(ask_environment(sys.executable, environment)), tmp_path / "cache")
    (row,) = [row for row in rows if row.name == "torch internals"]
    assert row.state is CheckState.WARNING
    assert "format_error_msg" in f"{row.says} {row.remedy}"
