"""One editor for all tests in a real VS Code: they are of one group, so one worker runs them, in one workbench."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from workbench import HERE, PYTHON, Lab, Workbench, build_extension, install_lab

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
