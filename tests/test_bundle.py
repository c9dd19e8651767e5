"""The server in the extension: what is packed, and that it is seen by nobody but itself."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CLIENT = Path(__file__).parent.parent / "vscode-client"
TOOL = CLIENT / "bundled" / "tool"

# says what it sees, and what a program sees that it starts
SEEING = """\
import json, subprocess, sys

def main():
    seen = subprocess.run([sys.executable, "-c", "import sys; print(sys.path)"], capture_output=True, text=True, check=True)
    print(json.dumps({"arguments": sys.argv[1:], "path": sys.path, "started": seen.stdout}))
"""


@pytest.fixture(scope="module")
def bundle() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bundle", CLIENT / "scripts" / "bundle.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wheel(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_each_dependency_is_packed_in_a_version_that_the_server_takes(bundle: ModuleType) -> None:
    """After a change: ``python vscode-client/scripts/bundle.py --update``."""
    lines = [line for line in (CLIENT / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    packed = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}
    for text in bundle._needed():
        needed = Requirement(text)
        assert packed[canonicalize_name(needed.name)] in needed.specifier, text


def test_wheels_of_several_pythons_lie_side_by_side(bundle: ModuleType, tmp_path: Path) -> None:
    for version in ("310", "311"):
        files = {"thing/__init__.py": "from ._core import x\n", f"thing/_core.cpython-{version}.so": version}
        files |= {"thing-1.dist-info/WHEEL": version, "thing-1.dist-info/METADATA": version, "thing/_core.pyi": ""}
        bundle.unpack(wheel(tmp_path / f"thing-1-cp{version}.whl", files), tmp_path / "libs")
    names = {path.name for path in (tmp_path / "libs").rglob("*") if path.is_file()}
    assert names == {"__init__.py", "_core.cpython-310.so", "_core.cpython-311.so", "METADATA"}


def test_wheels_that_disagree_are_refused(bundle: ModuleType, tmp_path: Path) -> None:
    bundle.unpack(wheel(tmp_path / "thing-1-cp310.whl", {"thing/__init__.py": "1"}), tmp_path / "libs")
    with pytest.raises(bundle.CannotBundle, match=r"thing/__init__\.py"):
        bundle.unpack(wheel(tmp_path / "thing-1-cp311.whl", {"thing/__init__.py": "2"}), tmp_path / "libs")


@pytest.mark.parametrize("strategy", ["useBundled", "fromEnvironment"])
def test_what_the_server_starts_does_not_see_its_packages(strategy: str, tmp_path: Path) -> None:
    shutil.copytree(TOOL, tmp_path / "bundled" / "tool")
    libs = tmp_path / "bundled" / "libs"
    (libs / "compile_lens" / "cli").mkdir(parents=True)
    for package in ("compile_lens", "compile_lens/cli"):
        (libs / package / "__init__.py").touch()
    (libs / "compile_lens" / "cli" / "main.py").write_text(SEEING)
    # -S: without the packages of this environment, whose compile_lens would come first
    command = [sys.executable, "-S", str(tmp_path / "bundled" / "tool" / "lsp_server.py"), strategy, "serve"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={})
    seen = json.loads(done.stdout)
    assert seen["arguments"] == ["serve"]
    assert seen["path"].index(str(libs)) == (0 if strategy == "useBundled" else len(seen["path"]) - 1)
    assert str(tmp_path) not in seen["started"]
    assert str(tmp_path / "bundled" / "tool") not in seen["path"]


def test_an_interpreter_says_what_it_is() -> None:
    done = subprocess.run(
        [sys.executable, str(TOOL / "probe.py"), "fromEnvironment"], capture_output=True, text=True, check=True
    )
    facts = json.loads(done.stdout)
    assert facts["problem"] is None
    assert facts["version"] == sys.version.split()[0]
    assert facts["torch"].partition("+")[0] == importlib.metadata.version("torch").partition("+")[0]


def test_an_interpreter_that_the_packages_do_not_fit_says_so(tmp_path: Path) -> None:
    shutil.copytree(TOOL, tmp_path / "bundled" / "tool")
    done = subprocess.run(
        [sys.executable, "-S", str(tmp_path / "bundled" / "tool" / "probe.py")],
        capture_output=True,
        text=True,
        check=True,
        env={},
    )
    assert "do not fit this Python" in json.loads(done.stdout)["problem"]


def test_the_probe_can_be_read_by_an_old_python() -> None:
    """No syntax of 3.x: it is how the extension learns that a Python is too old."""
    text = (TOOL / "probe.py").read_text()
    assert not re.search(r"\bf[\"']|:=|->|\basync\b|from __future__", text)
