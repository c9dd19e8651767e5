"""Which files a coding assistant may have run: those of the workspaces that the user has allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.assistants.bench import GIVEN, Bench, Source
from compile_lens.assistants.ground import NotAllowed, OwnGround
from compile_lens.state.consent import ConsentStore


def test_who_allowed_a_file_of_a_folder_has_not_allowed_what_lies_below(tmp_path: Path) -> None:
    home, store = tmp_path / "home", ConsentStore(tmp_path / "consent")
    (home / "downloads").mkdir(parents=True)
    (home / "out").symlink_to("downloads")
    (home / "out.py").symlink_to("downloads/train.py")
    store.allow(home, with_subfolders=False)
    ground = OwnGround(consent=store)
    ground.allow(str(home / "train.py"))
    for file in ("downloads/train.py", "out/train.py", "out.py", "downloads/../downloads/train.py"):
        with pytest.raises(NotAllowed):
            ground.allow(str(home / file))
    store.allow(home)
    ground.allow(str(home / "downloads" / "train.py"))


def test_no_entry_runs_a_file_elsewhere(tmp_path: Path) -> None:
    """By an argument, by a comment of the file, or because a link in the workspace uses it."""
    workspace, store = tmp_path / "workspace", ConsentStore(tmp_path / "consent")
    workspace.mkdir()
    text = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
    user = "import torch\nfrom net import Net\n\n\ndef test_net():\n    torch.compile(Net())(torch.ones(2))\n"
    (workspace / "net.py").write_text(text)
    for name in ("test_above.py", "above.py"):
        (tmp_path / name).write_text(user)
    (workspace / "test_link.py").symlink_to(tmp_path / "test_above.py")
    (workspace / "test_own.py").write_text(user)
    store.allow(workspace)
    bench = Bench(OwnGround(consent=store))
    source = Source(str(workspace / "net.py"), text, GIVEN)
    for entry in ("test_above.py::test_net", "above.py", str(tmp_path / "above.py"), "test_link.py::test_net"):
        assert bench.choice(source, entry).entries
        with pytest.raises(NotAllowed):
            bench.allowed_choice(source, entry)
    assert bench.allowed_choice(source, "test_own.py::test_net").entries
    found = {entry.spec for entry in bench.allowed_choice(source, "").entries}
    assert "test_own.py::test_net" in found
    assert not any(spec.startswith("test_link") for spec in found)
