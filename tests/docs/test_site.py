"""The documentation site builds without a warning: each link leads somewhere, each page is in the contents."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.pages import ROOT

from compile_lens.cli.verbs import ALIASES, VERBS
from compile_lens.settings.settings import SECTION, configuration_schema


def test_each_page_is_in_the_contents() -> None:
    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").splitlines()
    listed = {line.rpartition("<")[2].removesuffix(">") for line in contents}
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    assert pages <= listed


@pytest.mark.nightly
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "-c", "docs"]
    done = subprocess.run(
        [*command, "-d", str(tmp_path / "trees"), ".", str(site)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    reference = site / "docs" / "reference"
    for verb in set(VERBS) - set(ALIASES):
        assert (reference / "commands" / f"{verb}.html").is_file()
    for name in configuration_schema()["properties"]:
        assert (reference / "settings" / f"{name.removeprefix(f'{SECTION}.')}.html").is_file()
    assert "Buffer" in (reference / "names" / "inductor.html").read_text(encoding="utf-8")
