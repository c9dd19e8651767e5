"""A file of a package whose ``__init__.py`` fails: what the package can define is there, and what failed is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.analysis.outcome import Outcome
from compile_lens.pipeline.entry_choice import choose
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

NET = """\
import torch

from pkg import DOUBLE, helper


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(DOUBLE, 2)

    def forward(self, x):
        print("called")
        return self.linear(x)


class Helped(torch.nn.Module):
    def forward(self, x):
        return helper(x)
"""
PACKAGE = {
    "pkg/__init__.py": "from pkg.broken import helper\nfrom pkg.sizes import WIDTH\nDOUBLE = WIDTH * 2\n",
    "pkg/broken.py": "raise RuntimeError('it was built for another NumPy')\n",
    "pkg/sizes.py": "WIDTH = 8\n",
    "pkg/net.py": NET,
}


def run(warm_host: WarmHost, root: Path, files: dict[str, str]) -> Outcome:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    file = root / "pkg" / "net.py"
    return warm_host.run_choice(str(file), choose(str(file), file.read_text(), None))


def test_what_the_package_defines_is_there(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, tmp_path, PACKAGE)
    assert [call.target for call in outcome.calls] == ["Net"]
    found = {finding.code: finding for finding in outcome.findings}
    assert found["GB0059"].place.line == 12
    told = found["run-error"]
    assert (Path(told.place.file).name, told.place.line) == ("broken.py", 1)
    assert "RuntimeError`: it was built for another NumPy" in told.message


def test_who_needs_what_failed_says_why(tmp_path: Path, warm_host: WarmHost) -> None:
    outcome = run(warm_host, tmp_path, {**PACKAGE, "pkg/sizes.py": "raise RuntimeError('no sizes here')\n"})
    assert outcome.calls == ()
    reasons = {each.target: each.reason for each in outcome.not_called}
    assert "RuntimeError: no sizes here" in reasons["Net"]
    assert "it was built for another NumPy" in reasons["Helped"]
    assert not any("Absent" in reason for reason in reasons.values())


def test_a_package_is_found_where_nothing_marks_the_project(tmp_path: Path, warm_host: WarmHost) -> None:
    net = "from pkg.sizes import WIDTH\n" + NET.replace("DOUBLE", "WIDTH").replace("helper(x)", "x")
    outcome = run(warm_host, tmp_path, {"pkg/sizes.py": "WIDTH = 8\n", "pkg/net.py": net})
    assert "Net" in [call.target for call in outcome.calls]
    assert f"Added the folder `{tmp_path}` to the import path for `pkg`." in "\n".join(outcome.notes)


def test_the_outermost_folder_of_a_package_needs_no_init(tmp_path: Path, warm_host: WarmHost) -> None:
    net = "from outer.pkg.sizes import WIDTH\n" + NET.replace("from pkg import DOUBLE, helper\n", "")
    net = net.replace("DOUBLE", "WIDTH").replace("helper(x)", "x")
    files = {
        "setup.py": "",
        "outer/pkg/__init__.py": "from .broken import helper\n",
        "outer/pkg/sizes.py": "WIDTH = 8\n",
    }
    files |= {"outer/pkg/broken.py": "raise ImportError('of another version')\n", "outer/pkg/net.py": net}
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    file = tmp_path / "outer" / "pkg" / "net.py"
    outcome = warm_host.run_choice(str(file), choose(str(file), file.read_text(), None))
    assert "Net" in [call.target for call in outcome.calls]
    assert not any("is not installed" in note for note in outcome.notes)
