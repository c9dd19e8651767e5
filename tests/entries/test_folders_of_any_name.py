"""Files with relative imports in folders that no import statement can name: they run as modules of a package all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.entries.test_entry_runs import run, write

from compile_lens.agent.inputs.importing.module import package_of
from warm_host import WarmHost

pytestmark = pytest.mark.xdist_group("entries")

NET = """\
from torch import nn
from .parts import Half


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.last = nn.Linear(8, 8), Half()

    def forward(self, x):
        return self.last(self.fc(x))
"""
PARTS = """\
from torch import nn


class Half(nn.Module):
    def forward(self, x):
        return x / 2
"""


def test_names_of_packages_that_are_no_identifiers(tmp_path: Path) -> None:
    relative, plain = "from .parts import Half\n", "from torch import nn\n"
    for name in ("my-net/__init__.py", "my-net/net.py", "my-net/net-2.py", "deep-er/in/net.py", "v1.0/net.py"):
        write(tmp_path, "", name)
    assert package_of(str(tmp_path / "my-net/net.py"), relative) == (str(tmp_path), "my-net.net")
    assert package_of(str(tmp_path / "my-net/net-2.py"), relative) == (str(tmp_path), "my-net.net-2")
    assert package_of(str(tmp_path / "deep-er/in/net.py"), "from ..parts import Half\n") == (
        str(tmp_path),
        "deep-er.in.net",
    )
    # what needs no package gets none, and a dot would make two of one
    assert package_of(str(tmp_path / "my-net/net.py"), plain) == (str(tmp_path / "my-net"), "net")
    assert package_of(str(tmp_path / "v1.0/net.py"), relative) == (str(tmp_path / "v1.0"), "net")


def test_a_model_in_a_folder_with_a_hyphen(tmp_path: Path, warm_host: WarmHost) -> None:
    write(tmp_path, PARTS, "my-net/parts.py")
    outcome = run(warm_host, write(tmp_path, NET, "my-net/net.py"))
    assert [call.target for call in outcome.calls] == ["Net"]
    assert not [finding for finding in outcome.findings if finding.code == "run-error"]
