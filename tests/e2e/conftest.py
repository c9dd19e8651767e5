"""One editor for all tests in a real VS Code: they are of one group, so one worker runs them, in one workbench."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from shown import EXAMPLES, SMALL, without_print
from workbench import HERE, PYTHON, ROOT, Lab, Workbench, build_extension, install_lab

SHOTS = HERE / "shots"


@pytest.fixture(scope="session")
def lab() -> Lab:
    return install_lab()


@pytest.fixture(scope="session")
def vsix(lab: Lab) -> Path:
    return build_extension(lab)


@pytest.fixture(scope="session")
def workbench(lab: Lab, vsix: Path) -> Iterator[Workbench]:
    # the command, so that it is the code of this checkout, even where a bundled server went into the VSIX
    settings = {"compileLens.python": PYTHON, "compileLens.server.command": [PYTHON, "-m", "compile_lens", "serve"]}
    with Workbench(lab, vsix, settings) as workbench:
        yield workbench
    workbench.assert_nothing_is_left()


@pytest.fixture
def shots(request: pytest.FixtureRequest) -> Path:
    """Where the screenshots of a test go."""
    folder = SHOTS / request.node.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


@pytest.fixture(scope="session")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What ``compile-lens check`` finds in each file of the tests, by the file's name."""
    folder = tmp_path_factory.mktemp("terminal")
    for name in EXAMPLES:
        shutil.copy(ROOT / "examples" / name, folder)
    (folder / "fixed.py").write_text(without_print((folder / "transformer_block.py").read_text())[0])
    (folder / "small.py").write_text(SMALL)
    files = sorted(map(str, folder.glob("*.py")))
    command = [PYTHON, "-m", "compile_lens", "check", "--python", PYTHON, "--format", "json", "--fail-on", "never"]
    done = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    return {Path(run["file"]).name: [each for each in run["findings"] if each["file"] == run["file"]] for run in runs}
