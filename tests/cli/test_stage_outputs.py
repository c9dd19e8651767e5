"""``stages --html``, ``--diff``, ``--timeline`` and ``--option``, of a trace and of a program in two forms."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.command import Warm

pytestmark = pytest.mark.usefixtures("warm_command")
SINGLE = str(Path(__file__).parent.parent / "data" / "h200-single")
PROGRAM = """\
import torch

@torch.compile
def scale(x):
    return torch.relu(x) * 2

scale(torch.randn(16, 24))
scale(torch.randn(32, 24))
"""


def test_a_page_and_a_timeline_of_a_trace(tmp_path: Path) -> None:
    done = Warm(["stages", SINGLE, "--html", "page.html", "--timeline", "time.json"], tmp_path)
    assert done.code == 0, done.err
    assert done.out.startswith("Compile time: 82.41 s\n")
    assert "wrote page.html" in done.err and "wrote time.json" in done.err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    # its kernels do not tell an H100 from an H200
    assert "Times are estimated for H100 80GB HBM3. H100 80GB HBM3, H100 NVL, H200 look the same" in page
    assert json.loads((tmp_path / "time.json").read_text())["traceEvents"]
    other = Warm(["stages", SINGLE, "--html", "page.html", "--device", "t4", "--region", "tuned"], tmp_path)
    assert other.code == 0
    assert "Figures of T4: NVIDIA T4" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_page_and_a_comparison_of_kernels(tmp_path: Path) -> None:
    done = Warm(["kernels", SINGLE, "--region", "1_0/forward", "--html", "page.html"], tmp_path)
    assert done.code == 0, done.err
    assert "triton_per_fused" in (tmp_path / "page.html").read_text(encoding="utf-8")
    same = Warm(["kernels", SINGLE, "--region", "1_0/forward", "--diff", SINGLE], tmp_path)
    assert same.code == 0 and "No stage differs." in same.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--device", "gtx980", "--html", "x.html"], "No GPU is known as `gtx980`"),
        (["--diff", "absent.py"], "absent.py: no such file. A file in a git revision is REV:FILE."),
        (["--option", "max_autotune", "--diff", SINGLE], "'max_autotune' is not NAME=VALUE."),
        (["--html", "absent/x.html"], "cannot be written: No such file or directory."),
    ],
)
def test_what_cannot_be_done_is_one_sentence(arguments: list[str], words: str, tmp_path: Path) -> None:
    done = Warm(["stages", SINGLE, *arguments], tmp_path)
    assert done.code == 2
    assert words in " ".join(done.err.split())


@pytest.mark.nightly
def test_the_working_tree_against_git_and_options_against_none(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=tmp_path, check=True)

    file = tmp_path / "scale.py"
    file.write_text(PROGRAM)
    git("init", "-q")
    git("add", "scale.py")
    git("commit", "-qm", "first")
    file.write_text(PROGRAM.replace("relu", "sigmoid").replace("def scale", "# a line more\ndef scale"))
    done = Warm(["stages", "scale.py", "--diff", "HEAD:scale.py", "--json"], tmp_path)
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["before"]["kernels"] == document["after"]["kernels"] == 2
    assert all(any("relu" in name for name in graph["gone_kernels"]) for graph in document["graphs"])
    shown = [line for stage in document["graphs"][0]["stages"] for hunk in stage["hunks"] for line in hunk["lines"]]
    assert any(line.startswith("+") and "sigmoid" in line for line in shown)

    kernels = Warm(["kernels", "scale.py", "--diff", "HEAD:scale.py"], tmp_path)
    assert "`triton" not in kernels.out and "gone: `cpp_fused" in kernels.out and "@@" not in kernels.out

    # dynamic from the beginning: the second size needs no graph of its own
    dynamic = Warm(["stages", "scale.py", "--diff", "scale.py", "--dynamic", "--option", "no_such_thing=1"], tmp_path)
    assert dynamic.code == 0, dynamic.err
    assert "2 → 1 kernel" in dynamic.out
    assert "no_such_thing" in dynamic.err
