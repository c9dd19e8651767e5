"""Which files are installed code, wherever an installer put them; the user's own files beside them are not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# torch is not needed to list folders, only where it is
PROGRAM = """
import sys, types
sys.modules["torch"] = types.ModuleType("torch")
sys.modules["torch"].__path__ = ["/elsewhere/torch"]
from compile_lens.agent.runtime.libraries import installed_roots, library_roots
for file in sys.argv[1:]:
    print(file.startswith(installed_roots()), file.startswith(library_roots()))
"""


def installed(folder: Path, record: str, suffix: str = "dist-info") -> Path:
    """A distribution in ``folder``, as ``pip install --target`` leaves it."""
    about = folder / f"libx-1.0.{suffix}"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: libx\nVersion: 1.0\n")
    (about / "RECORD").write_text(record)
    (about / "SOURCES.txt").write_text("".join(line.partition(",")[0] + "\n" for line in record.splitlines()))
    return folder


def test_packages_in_folders_of_pythonpath(tmp_path: Path) -> None:
    packages = installed(
        tmp_path / "layer", "libx/__init__.py,,\nlibx/deep/part.py,,\nsingle.py,,\n../../bin/libx.py,,\n"
    )
    sources = installed(tmp_path / "checkout", "mine/__init__.py,,\n", "egg-info")
    user = tmp_path / "home" / "lib" / "site-packages"
    user.mkdir(parents=True)
    expected = {
        packages / "libx" / "deep" / "part.py": True,
        packages / "single.py": True,
        packages / "train.py": False,
        packages / "libx_of_mine" / "model.py": False,
        packages.parent / "bin" / "libx.py": False,
        sources / "mine" / "__init__.py": False,
        user / "other" / "part.py": True,
        tmp_path / "train.py": False,
    }
    path = os.pathsep.join([*(str(folder) for folder in (packages, sources, user)), os.environ.get("PYTHONPATH", "")])
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, expected), os.__file__],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.splitlines() == [*(f"{is_one} {is_one}" for is_one in expected.values()), "False True"]
