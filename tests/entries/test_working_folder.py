"""A script runs where the files are that it names."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.agent_package import agent_module
from tests.entries.script_runs import project

FILES = {"configs/small.yaml": "", "data/a.csv": "", "tools/run.yaml": "", "elsewhere/data/a.csv": ""}


@pytest.mark.parametrize(
    ("source", "current", "wanted"),
    [
        ("read('configs/small.yaml')", "elsewhere", (".", "configs/small.yaml")),
        ("read('./configs/small.yaml')", "elsewhere", (".", "./configs/small.yaml")),
        ("read('run.yaml')", "elsewhere", ("tools", "run.yaml")),
        # most of them are in the root
        ("a = 'run.yaml', 'configs/small.yaml', 'data/a.csv'", "elsewhere/data", (".", "configs/small.yaml")),
        # the current folder has one
        ("a = 'configs/small.yaml', 'data/a.csv'", "elsewhere", None),
        ("read('configs/none.yaml')", "elsewhere", None),
        ("read('no path'); print('and/or', 'http://a/b')", "elsewhere", None),
    ],
)
def test_the_folder_of_what_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, current: str, wanted: tuple[str, str] | None
) -> None:
    project(tmp_path, FILES)
    monkeypatch.chdir(tmp_path / current)
    module = agent_module("inputs.scripts.working_folder")
    found = module.working_folder(source, str(tmp_path / "tools" / "train.py"), str(tmp_path))
    assert (found and (str(Path(found.folder).relative_to(tmp_path)), found.path)) == wanted
