"""What a new user meets: the packed extension in a fresh profile, without settings and without an installed server."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from shown import NOT_COPIED, underlined
from workbench import PYTHON, ROOT, Lab, Workbench

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("vscode")]

EXAMPLE = "transformer_block.py"
LARGEST = 15_000_000
# of packages whose binaries are of one Python each
BINARIES = {"tree_sitter/_binding", "msgspec/_core", "markupsafe/_speedups"}


def test_the_package_has_what_each_python_needs(vsix: Path) -> None:
    assert vsix.stat().st_size <= LARGEST
    with zipfile.ZipFile(vsix) as archive:
        names = {name.removeprefix("extension/") for name in archive.namelist()}
    packed = {name.removeprefix("bundled/libs/") for name in names}
    for binary in BINARIES:
        found = {re.findall(r"\.(?:cpython-|cp)3(\d+)", name)[0] for name in packed if name.startswith(f"{binary}.c")}
        assert found >= {"10", "11", "12", "13", "14"}, binary
    assert {"compile_lens/agent/boot.py", "pygls/__init__.py", "compile_lens/lsp/background_runs.md"} <= packed
    assert {"LICENSE.txt", "changelog.md", "readme.md", "ThirdPartyNotices.txt", "bundled/tool/probe.py"} <= names
    assert not [name for name in names if name.endswith(".pyc")]


def test_from_the_package_to_the_first_findings(lab: Lab, vsix: Path, tmp_path: Path, shots: Path) -> None:
    """A `.venv` with torch in the folder, and no settings. Prints the seconds of each step."""
    folder = shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=NOT_COPIED)
    (folder / ".venv").symlink_to(Path(PYTHON).parent.parent)
    data = {"file": EXAMPLE, "underlined": underlined(findings(folder), (folder / EXAMPLE).read_text())}
    data["python"] = str(folder / ".venv" / "bin" / "python")
    started = time.monotonic()
    # what PYTHONPATH names would be seen by every Python
    with Workbench(lab, vsix, {}, hidden=("PYTHONPATH",)) as workbench:
        print(f"installed and served after {time.monotonic() - started:.1f} s")
        workbench.play("first_minute", folder, shots, data, limit=400)
        servers = [command for command in workbench.processes().values() if "lsp_server.py useBundled serve" in command]
        standbys = [command for command in workbench.processes().values() if "agent/boot.py" in command]
    workbench.assert_nothing_is_left()
    assert len(servers) == 1
    assert all(command.startswith(data["python"]) and "bundled/libs/compile_lens" in command for command in standbys)


def findings(folder: Path) -> list[dict[str, Any]]:
    """What ``compile-lens check`` finds in the example."""
    command = [PYTHON, "-m", "compile_lens", "check", "--python", PYTHON, "--format", "json", "--fail-on", "never"]
    done = subprocess.run([*command, str(folder / EXAMPLE)], capture_output=True, text=True, check=True)
    (run,) = json.loads(done.stdout)["runs"]
    return [each for each in run["findings"] if each["file"] == run["file"]]
