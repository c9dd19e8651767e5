"""No workspace says of itself that it is installed: a RECORD in a folder that an editable install links to makes nothing a library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import site, sys, types
sys.modules["torch"] = types.ModuleType("torch")
sys.modules["torch"].__path__ = ["/elsewhere/torch"]
for folder in sys.argv[1].split(":"):
    site.addsitedir(folder)
from compile_lens.agent.runtime.libraries import import_paths, installed_roots, library_roots
for file in sys.argv[2:]:
    print(file.startswith(installed_roots()), file.startswith(library_roots()))
print(sys.argv[1].split(":")[0] in import_paths(), all(path in import_paths() for path in sys.path if path))
"""

GUARDED = """
import sys
from compile_lens.agent.runtime.import_guard import guarded_imports

def refuse(reason):
    print(reason)
    sys.exit()

sys.path.insert(0, sys.argv[1])
with guarded_imports((sys.argv[1] + "/",), refuse):
    __import__(sys.argv[2])
print("imported")
"""


def recorded(folder: Path) -> Path:
    """A folder of sources with what an installer would leave beside them."""
    about = folder / "libx-1.0.dist-info"
    about.mkdir(parents=True)
    # since Python 3.12, a file that a RECORD names counts only if it is there
    (folder / "libx").mkdir()
    for name in ("libx/__init__.py", "single.py"):
        (folder / name).touch()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: libx\nVersion: 1.0\n")
    (about / "RECORD").write_text("libx/__init__.py,,\nsingle.py,,\n")
    return folder


def test_packages_of_a_folder_that_is_linked_to(tmp_path: Path) -> None:
    """By a line of a ``.pth`` file; also in a folder of the name of those that have what is installed, in a repository."""
    site = tmp_path / "environment" / "site-packages"
    site.mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir(parents=True)
    source, named = (recorded(tmp_path / "project" / name) for name in ("src", "lib/site-packages"))
    placed = recorded(tmp_path / "layer")
    (site / "_editable_impl_libx.pth").write_text(f"{source}\n{named}\n")
    expected = {
        site / "other" / "part.py": True,
        source / "libx" / "__init__.py": False,
        source / "single.py": False,
        named / "libx" / "__init__.py": False,
        placed / "libx" / "__init__.py": True,
    }
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(site), *map(str, expected)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(placed), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.splitlines() == [*(f"{is_one} {is_one}" for is_one in expected.values()), "True True"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize(("name", "said"), [("linked", "code of "), ("kept", "imported"), ("own", "imported")])
def test_what_a_link_in_an_installed_folder_leads_to(tmp_path: Path, name: str, said: str) -> None:
    """To sources in a repository, as some installers link to them; to a store of installed packages; nowhere else."""
    site, project, store = tmp_path / "site-packages", tmp_path / "project", tmp_path / "store"
    for folder in (site, project / ".git", store):
        folder.mkdir(parents=True)
    (project / "linked.py").touch()
    (store / "kept.py").touch()
    (site / "own.py").touch()
    (site / "linked.py").symlink_to(project / "linked.py")
    (site / "kept.py").symlink_to(store / "kept.py")
    command = [sys.executable, "-B", "-c", GUARDED, str(site), name]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout.startswith(said)
