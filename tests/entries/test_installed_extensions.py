"""Compiled extensions of the project's own packages, which lie where the project is installed and not beside its sources."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.entries.test_entry_runs import write

from compile_lens.agent.runtime.entry_protocol import ImportHelped
from compile_lens.pipeline.run_facts import RunFacts
from compile_lens.workers.job import Job

# a process of its own: pytest's frames handle any error, and would be taken for the program's
IN_PROCESS = """\
import json
import sys
from types import SimpleNamespace
from compile_lens.agent.inputs.importing import installed_extensions, missing_imports

folder = sys.argv[1]
installed_extensions.installed_roots = missing_imports.library_roots = lambda: (folder + "/site/",)
sys.path[:0] = [folder + "/project", folder + "/site"]
told = []
wire = SimpleNamespace(tell=lambda event: told.append([event.module, event.folder, event.is_compiled]))
missing_imports.install(folder + "/project/main.py", wire)
import main
print(json.dumps([told, main.found]))
"""
# of Python, as a file
PART = "_heapq"


def _imported(tmp_path: Path, main: str) -> tuple[list[list[Any]], Any]:
    compiled = getattr(importlib.util.find_spec(PART), "origin", None)
    if compiled in (None, "built-in"):
        pytest.skip(f"{PART} is a part of this interpreter")
    for folder in ("project", "site"):
        write(tmp_path, "", f"{folder}/own/__init__.py")
        write(tmp_path, "", f"{folder}/own/ops/__init__.py")
    write(tmp_path, "", "project/pyproject.toml")
    write(tmp_path, main, "project/main.py")
    for place in ("own", "own/ops"):
        shutil.copy(str(compiled), tmp_path / "site" / place)
    done = subprocess.run(
        [sys.executable, "-c", IN_PROCESS, str(tmp_path)], capture_output=True, text=True, check=True, timeout=100
    )
    told, found = json.loads(done.stdout)
    return told, found


def test_they_are_those_of_the_installed_package(tmp_path: Path) -> None:
    told, found = _imported(
        tmp_path,
        f"from own import {PART}\nfrom own.ops.{PART} import heappop\nimport own\n"
        "found = [heappop([2, 3]), own.__file__.split('/')[-3]]\n",
    )
    folder = f"{tmp_path}/site"
    assert told == [[f"own.{PART}", folder, True], [f"own.ops.{PART}", folder, True]]
    assert found == [2, "project"]


def test_code_that_does_without_them_finds_none(tmp_path: Path) -> None:
    program = f"try:\n    from own import {PART}\n    found = 'compiled'\nexcept ImportError:\n    found = 'plain'\n"
    assert _imported(tmp_path, program) == ([], "plain")


def test_the_summary_names_them() -> None:
    facts = RunFacts()
    facts.take(ImportHelped("own.ops", "/site", is_compiled=True))
    (note,) = facts.notes(None, Job("/project/main.py"))
    assert note == (
        "Took the compiled module `own.ops` from `/site`: it is not beside the sources. "
        "Build the sources (`pip install -e .`) to use their own version."
    )
