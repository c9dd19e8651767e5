"""A check that fails by what is new alone: against a baseline, a git revision, and ``diff`` of two analyses."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.command import Warm

pytestmark = pytest.mark.usefixtures("warm_command")

OLD = """\
import torch


@torch.compile
def f(x):
    print("in f")
    return x + 1


f(torch.ones(3))
"""
# lines moved, one was edited, and a break was added
NEW = OLD.replace("import torch\n", "import torch\n\nSIZE = 3\n").replace(
    "    return x", "    if x.sum() > SIZE:\n        x = x * 2\n    return x"
)


def commit(folder: Path, text: str) -> None:
    (folder / "model.py").write_text(text)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "model.py"], [*identity, "commit", "-q", "-m", "a commit"]):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        subprocess.run(["git", *command], cwd=folder, check=True, env=environment)


def test_a_baseline_lets_the_known_pass_and_fails_by_the_new(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(OLD)
    written = Warm(["check", "-q", "--update-baseline", "model.py"], tmp_path)
    assert (written.code, written.err) == (0, "compile-lens: wrote compile-lens.json (1 finding).\n")
    before = (tmp_path / "compile-lens.json").read_text()
    # a file of the repository, which others read as they read its sources
    assert (tmp_path / "compile-lens.json").stat().st_mode == (tmp_path / "model.py").stat().st_mode

    same = Warm(["check", "--baseline", "compile-lens.json", "model.py"], tmp_path)
    assert same.code == 0
    assert "1 graph break" in same.out
    assert "Not shown: 1 finding already in compile-lens.json.\nNothing new." in same.out

    (tmp_path / "model.py").write_text(NEW)
    more = Warm(["check", "--baseline", "compile-lens.json", "--format", "github", "model.py"], tmp_path)
    assert more.code == 1
    (line,) = more.out.splitlines()
    assert line.startswith("::warning file=model.py,line=9,")
    assert (tmp_path / "compile-lens.json").read_text() == before


def test_a_baseline_shrinks_by_itself(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(NEW)
    Warm(["check", "-q", "--update-baseline", "model.py"], tmp_path)
    (tmp_path / "model.py").write_text(OLD)
    fewer = Warm(["check", "--baseline", "compile-lens.json", "model.py"], tmp_path)
    assert fewer.code == 0
    assert "removed 1 finding from compile-lens.json" in fewer.err
    ((run,)) = json.loads((tmp_path / "compile-lens.json").read_text())["runs"]
    assert [finding["code"] for finding in run["findings"]] == ["GB0059"]


def test_since_compares_with_a_revision(tmp_path: Path) -> None:
    commit(tmp_path, OLD)
    (tmp_path / "model.py").write_text(NEW)
    result = Warm(["check", "--since", "HEAD", "--format", "json", "model.py"], tmp_path)
    assert result.code == 1
    ((run,)) = result.runs
    assert [(finding["code"], finding["line"]) for finding in run["findings"]] == [("GB0170", 9)]
    assert Warm(["check", "--since", "HEAD", "-q", "model.py"], tmp_path).out.count("\n") == 1
    refused = Warm(["check", "--since", "no-such-revision", "model.py"], tmp_path)
    assert refused.code == 2
    assert "'no-such-revision' is not a revision of the repository" in refused.err


def test_diff_tells_what_is_new_gone_and_changed(tmp_path: Path) -> None:
    commit(tmp_path, OLD)
    (tmp_path / "model.py").write_text(NEW.replace("in f", "within f"))
    report = Warm(["check", "--format", "json", "model.py"], tmp_path)
    (tmp_path / "now.json").write_text(report.out)
    document = json.loads(Warm(["diff", "HEAD:model.py", "now.json", "--format", "json"], tmp_path).out)
    assert [(row["code"], row["line"], row["function"]) for row in document["new"]] == [("GB0170", 9, "f")]
    assert (document["gone"], len(document["changed"])) == ([], 1)
    assert (document["before"]["breaks"], document["after"]["breaks"]) == (1, 2)

    (compiled,) = document["compiled"]
    assert [(side["name"], side["graphs"]) for side in compiled.values()] == [("f", 1), ("f", 2)]

    page = Warm(["diff", "HEAD:model.py", "model.py", "--fail-on", "warning"], tmp_path)
    assert page.code == 1
    assert "model.py:9: warning[GB0170]" in page.out
    assert 'its line was edited (was: print("in f"))' in page.out
    assert " f: 1 → 2 graphs; " in page.out
    back = Warm(["diff", "now.json", "HEAD:model.py", "--format", "markdown"], tmp_path)
    assert back.code == 0
    assert "**Gone**" in back.out and "**New**" not in back.out
    html = Warm(["diff", "now.json", "now.json", "--format", "html"], tmp_path)
    assert "No finding is new, gone or changed, and nothing is compiled otherwise." in html.out


@pytest.mark.parametrize(
    ("operand", "said"),
    [
        ("gone.py", "gone.py: no such file. A file in a git revision is REV:FILE."),
        ("HEAD:gone.py", "gone.py does not exist in HEAD."),
        ("note.json", "note.json is not a report of compile-lens"),
        ("note.txt", "is not a torch trace"),
    ],
)
def test_a_side_that_cannot_be_had_says_why(tmp_path: Path, operand: str, said: str) -> None:
    commit(tmp_path, OLD)
    (tmp_path / "note.json").write_text('{"version": 7}')
    (tmp_path / "note.txt").write_text("a note")
    result = Warm(["diff", operand, "note.json"], tmp_path)
    assert result.code == 2
    assert said in result.err
