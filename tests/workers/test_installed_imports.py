"""Outside of a sandbox only installed code is imported, whatever an editable install adds to the environment; the program has it all."""

from __future__ import annotations

import importlib.machinery
import subprocess
import sys
import sysconfig
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import pytest

from compile_lens.agent.runtime import installed_imports
from compile_lens.agent.runtime.installed_imports import installed_folders
from compile_lens.workers.environment_report import ask_environment
from compile_lens.workers.host import Host
from compile_lens.workers.job import EndKind, Job

FINDER = """\
import sys


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in ("gmpy2", "sysconfig", "torch_dill"):
            open(OUT + "-" + name, "w").close()


sys.meta_path.insert(0, Finder)
"""
PROGRAM = """\
import sys

import torch

print("\\n".join(sys.path))
print([getattr(each, "__qualname__", type(each)) for each in sys.meta_path])
print("of_project" in sys.modules, torch.ones(2).sum())
print("mine" in torch.compiler.list_backends())
"""
# imports nothing but what Python itself does, so that what it says is what the program should find
SAYS_PATH = "import sys\nprint('\\n'.join(sys.path))\nprint([getattr(each, '__qualname__', type(each)) for each in sys.meta_path])\n"


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """The interpreter of an environment with an editable install of a project, which says that it extends torch."""
    source = tmp_path / "project" / "src"
    about = source / "of_project-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: of-project\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[torch.backends]\nof_project = of_project:load\n[torch_dynamo_backends]\nmine = of_project:load\n"
    )
    for name in ("of_project", "gmpy2", "opt_einsum"):
        out = str(tmp_path / f"ran-{name}")
        (source / f"{name}.py").write_text(f"open({out!r}, 'w').close()\ndef load():\n    pass\n")
    subprocess.run(["git", "init", "-q"], cwd=source.parent, check=True)
    subprocess.run(["git", "add", "."], cwd=source.parent, check=True)
    folder = tmp_path / "environment"
    site = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    site.mkdir(parents=True)
    (folder / "bin").mkdir()
    base = Path(sys.base_prefix) / "bin"
    (folder / "bin" / "python").symlink_to(base / f"python{sys.version_info[0]}.{sys.version_info[1]}")
    (folder / "pyvenv.cfg").write_text(f"home = {base}\ninclude-system-site-packages = false\n")
    # as in an environment that is made for one command, over that of a project
    (site / "a_base.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    (site / "__editable__.of_project-1.0.pth").write_text(f"{source}\nimport linked_finder\n")
    (site / "linked_finder.py").write_text(FINDER.replace("OUT", repr(str(tmp_path / "ran-finder"))))
    return folder / "bin" / "python"


def said_by(python: Path, file: Path) -> str:
    return subprocess.run([python, file], capture_output=True, text=True, check=True, env={}).stdout


def ran(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("ran-*"))


@pytest.mark.skipif(sys.platform != "linux", reason="made as environments are there")
@pytest.mark.xdist_group("host")
async def test_nothing_that_is_linked_to_is_imported_before_the_sandbox(environment: Path, tmp_path: Path) -> None:
    program, says = tmp_path / "program.py", tmp_path / "says.py"
    program.write_text(PROGRAM)
    says.write_text(SAYS_PATH)
    host = Host(str(environment), {"PATH": "/usr/bin:/bin"})
    try:
        end = await host.run(Job(str(program), timeout_s=60.0), lambda _: None)
    finally:
        await host.close()
    assert end.kind is EndKind.FINISHED
    # what is done in the sandbox is gone
    assert ran(tmp_path) == []
    plain = said_by(environment, says)
    assert end.output == f"{plain}True tensor(2.)\nTrue\n"


@pytest.mark.skipif(sys.platform != "linux", reason="made as environments are there")
async def test_nor_for_the_doctor(environment: Path, tmp_path: Path) -> None:
    facts = await ask_environment(str(environment), {"PATH": "/usr/bin:/bin"})
    assert facts.torch is not None and facts.torch.version
    assert ran(tmp_path) == []


def test_folders_in_a_repository_that_a_line_adds_have_nothing_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment, other, linked = (
        tmp_path / place / "site-packages" for place in ("environment", "other", "project/src")
    )
    for folder in (environment, other, linked, environment / "part"):
        folder.mkdir(parents=True)
    (tmp_path / "project" / ".git").mkdir()
    (environment / "x.pth").write_text(f"# a comment\n{linked}\n{other}\npart\nimport sys\n")
    monkeypatch.setattr(installed_imports, "_sites", lambda: {str(environment)})
    path = [str(tmp_path / "src"), str(environment), str(environment / "part"), str(linked), str(other), "", "relative"]
    standard = [entry for entry in sys.path if Path(entry) == Path(sysconfig.get_path("stdlib"))]
    assert standard
    assert installed_folders([*standard, *path]) == [*standard, *map(str, (environment, environment / "part", other))]


class Linked:
    """Finds a torch elsewhere, and others that it must not be asked for."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec:
        return importlib.machinery.ModuleSpec(name, None, origin=f"/elsewhere/{name}/__init__.py")


@pytest.mark.parametrize("record", ["torch-2.9.dist-info", "torch.egg-link", "torch_of_mine-1.dist-info"])
def test_of_links_only_that_to_torch_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: str) -> None:
    site, checkout, project = (tmp_path / name for name in ("site-packages", "checkout", "project"))
    for folder in (site / record, checkout / "torch", project):
        folder.mkdir(parents=True)
    (checkout / "torch" / "__init__.py").touch()
    monkeypatch.setattr(installed_imports, "_sites", lambda: {str(site)})
    before, finders = [str(project), str(site), str(checkout)], [Linked, PathFinder]
    is_torch = record.startswith(("torch-", "torch."))
    for present, kept in ((finders, finders), (finders[1:], finders[1:])):
        monkeypatch.setattr(sys, "path", list(before))
        monkeypatch.setattr(sys, "meta_path", list(present))
        installed_imports.restrict()
        found = list(sys.path), list(sys.meta_path)
        installed_imports.restore()
        by_path = [str(checkout)] if is_torch and Linked not in present else []
        assert found == ([str(site), *by_path], kept if is_torch else [PathFinder])
        assert (sys.path, sys.meta_path) == (before, present)


def test_a_linked_library_of_torchs_is_found_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, checkout = tmp_path / "site-packages", tmp_path / "checkout"
    for folder in (site / "torch", site / "triton-3.9.dist-info", checkout / "triton"):
        folder.mkdir(parents=True)
    for file in (site / "torch" / "__init__.py", checkout / "triton" / "__init__.py", checkout / "opt_einsum.py"):
        file.touch()
    monkeypatch.setattr(installed_imports, "_sites", lambda: {str(site)})
    monkeypatch.setattr(sys, "path", before := [str(checkout), str(site)])
    monkeypatch.setattr(sys, "meta_path", finders := [PathFinder])
    path, present = list(before), list(finders)
    installed_imports.restrict()
    places = {name: spec and spec.origin for name in ("triton", "opt_einsum") for spec in [_found(name)]}
    installed_imports.restore()
    assert places == {"triton": str(checkout / "triton" / "__init__.py"), "opt_einsum": None}
    assert (sys.path, sys.meta_path) == (path, present)


def _found(name: str) -> importlib.machinery.ModuleSpec | None:
    found = (finder.find_spec(name, None) for finder in sys.meta_path)
    return next((spec for spec in found if spec is not None), None)


def test_what_an_import_adds_stays_where_it_was_put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site-packages"
    site.mkdir()
    monkeypatch.setattr(installed_imports, "_sites", lambda: {str(site)})
    monkeypatch.setattr(sys, "path", ["/linked", str(site), "/last"])
    monkeypatch.setattr(sys, "meta_path", [Linked, PathFinder, Linked])
    first, last = object(), object()
    installed_imports.restrict()
    assert (sys.path, sys.meta_path) == ([str(site)], [PathFinder])
    sys.path.insert(0, "/added/first")
    sys.path.append("/added/last")
    sys.meta_path.insert(0, first)  # type: ignore[arg-type]
    sys.meta_path.append(last)  # type: ignore[arg-type]
    expected = ["/added/first", "/linked", str(site), "/last", "/added/last"]
    assert installed_imports.whole_path() == expected
    with installed_imports.lifted():
        assert sys.path == expected
    assert sys.path == [str(site)]
    installed_imports.restore()
    assert sys.path == expected
    assert sys.meta_path == [first, Linked, PathFinder, Linked, last]
