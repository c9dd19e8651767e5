"""Which files an entry runs because a file of a workspace says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from compile_lens.cli.verbs import run_verb
from compile_lens.entries.entry import other_file
from compile_lens.entries.entry_spec import BadEntry
from compile_lens.pipeline.entry_choice import choose

MODEL = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
USER = "import torch\nfrom net import Net\n\n\ndef test_net():\n    torch.compile(Net())(torch.ones(2))\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    (root / "pkg").mkdir(parents=True)
    (root / "pyproject.toml").touch()
    (root / "pkg" / "net.py").write_text(MODEL)
    for file in (tmp_path / "above.py", tmp_path / "test_above.py", root / "use.py", root / "test_net.py"):
        file.write_text(USER)
    (root / "link.py").symlink_to(tmp_path / "above.py")
    (root / "test_link.py").symlink_to(tmp_path / "test_above.py")
    return root


@pytest.mark.parametrize(
    "spec", ["{above}/above.py", "../above.py", "link.py", "../test_above.py::test_net", "test_link.py::test_net"]
)
def test_a_comment_runs_no_file_outside_of_the_workspace(spec: str, workspace: Path) -> None:
    spec, file = spec.format(above=workspace.parent), workspace / "pkg" / "net.py"
    commented = f"{MODEL}# compile-lens: entry={spec}\n"
    for root in (workspace, None):
        with pytest.raises(BadEntry, match=r"Not run: line 7 of net\.py names .*above\.py|link\.py"):
            choose(str(file), commented, root)
    # the user's own word
    assert choose(str(file), commented, workspace, requested=spec).is_explicit
    assert choose(str(file), MODEL, workspace, remembered=spec).is_explicit


@pytest.mark.parametrize("spec", ["use.py", "test_net.py::test_net"])
def test_a_comment_runs_a_file_of_the_workspace(spec: str, workspace: Path) -> None:
    file = workspace / "pkg" / "net.py"
    assert choose(str(file), f"{MODEL}# compile-lens: entry={spec}\n", workspace).is_explicit
    # opened by a link from elsewhere, it is still a file of its project
    (workspace.parent / "opened").symlink_to(workspace)
    opened = workspace.parent / "opened" / "pkg" / "net.py"
    assert choose(str(opened), f"{MODEL}# compile-lens: entry={spec}\n", None).is_explicit


def test_what_a_link_leads_to_is_not_run_as_a_use_of_the_file(workspace: Path) -> None:
    found = choose(str(workspace / "pkg" / "net.py"), MODEL, workspace).entries
    others = {Path(other).name for entry in found if (other := other_file(entry)) is not None}
    assert others == {"test_net.py"}


@pytest.mark.parametrize("verb", ["check", "vary"])
def test_defaults_of_a_project_run_no_file_elsewhere(
    verb: str, workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "pyproject.toml").write_text('[tool.compile-lens]\nentry = "link.py"\n')
    monkeypatch.chdir(workspace)
    assert run_verb([verb, "pkg/net.py"]) == 2
    assert "Not run: pyproject.toml names" in " ".join(capsys.readouterr().err.split())


def test_what_a_setting_names_is_as_a_comment(workspace: Path) -> None:
    file, said_by = str(workspace / "pkg" / "net.py"), "the setting compileLens.run.entry"
    with pytest.raises(BadEntry, match=r"Not run: the setting .* or in the list of entries"):
        choose(file, MODEL, workspace, "link.py", requested_by=said_by)
    assert choose(file, MODEL, workspace, "use.py", requested_by=said_by).is_explicit
