"""A program says what it has imported, and may say anything: nothing of that is read or imported unless it may be true."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from compile_lens.agent.runtime.imported_packages import MOST_BYTES, are_packages, why_not_loaded
from compile_lens.agent.runtime.protocol import LoadCommand, Packages, RunCommand, SandboxKind, SandboxSpec
from compile_lens.workers.loaded_packages import MOST_FILES, MOST_MODULES, LoadedPackages

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is loaded")


@pytest.mark.parametrize(
    ("name", "is_loaded"), [("TRITON_CACHE_DIR", True), ("PYTHONPATH", True), ("OMP_TOOL_LIBRARIES", False)]
)
def test_nothing_is_imported_with_variables_of_a_workspace(name: str, is_loaded: bool) -> None:
    """Native code of a package may load the library that a variable names."""
    loaded = LoadedPackages(active=True)
    command = replace(SANDBOXED, env={name: "/workspace/library.so"})
    loaded.hear(Packages(("csv",), ()))
    assert isinstance(loaded.after(command), LoadCommand) is is_loaded
    assert (loaded.add_to(command).packages is not None) is is_loaded


SANDBOXED = RunCommand(
    "program.py",
    "/",
    text="import csv",
    sandbox=SandboxSpec(SandboxKind.OVERLAY, "/scratch", (), (), False, False, 0, 0, 0, 0, 0),
)


@pytest.mark.parametrize("kind", ["pipe", "endless", "large", "absent", "no path"])
def test_a_program_cannot_have_the_standby_read_without_end(kind: str, tmp_path: Path) -> None:
    """It says which files of its own it has imported, and may name any."""
    file = tmp_path / "named.py"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "endless":
        file.symlink_to("/dev/zero")
    elif kind == "large":
        file.touch()
        os.truncate(file, MOST_BYTES + 1)
    own = "\0" if kind == "no path" else str(file)
    assert (
        why_not_loaded(replace(SANDBOXED, packages=Packages(("csv",), (own,)))) == "it sets up what imports depend on"
    )


def test_a_program_cannot_name_what_is_no_package() -> None:
    assert are_packages(["csv", "numpy.linalg"])
    for name in (
        "torch._inductor.config",
        "_compile_lens_agent.boot",
        "unittest.__main__",
        ".csv",
        "csv ",
        "../csv",
        "",
    ):
        assert not are_packages(["csv", name])


@pytest.mark.parametrize(
    ("modules", "files", "is_loaded"),
    [(1, 1, True), (MOST_MODULES + 1, 1, False), (1, MOST_FILES + 1, False)],
)
def test_a_list_without_end_is_not_loaded(modules: int, files: int, is_loaded: bool) -> None:
    loaded = LoadedPackages(active=True)
    loaded.hear(Packages(("csv",) * modules, ("program.py",) * files))
    assert isinstance(loaded.after(SANDBOXED), LoadCommand) is is_loaded
