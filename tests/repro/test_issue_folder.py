"""A report for maintainers: one folder, and a link that opens a new issue."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.command import Warm

from compile_lens.repro.issue_folder import LONGEST_URL, issue_link

BREAKS = """\
import torch


@torch.compile
def step(x):
    y = x.sin()
    print(y.shape)
    return y.cos()


step(torch.ones(3))
"""


def body_of(link: str) -> tuple[str, str]:
    asked = parse_qs(urlsplit(link).query)
    return asked["title"][0], asked["body"][0]


def test_a_link_holds_what_its_length_allows() -> None:
    sections = [
        "## Describe the bug\n\nIt breaks: `a & b #1`.",
        "## Minimal repro\n\n```python\nx = 1\n```",
        "## Versions\n\n…",
    ]
    link = issue_link("[dynamo] 100 % & #1", sections, "issue.md")
    assert body_of(link) == ("[dynamo] 100 % & #1", "\n\n".join(sections))
    assert urlsplit(link).netloc == "github.com" and not set(link) & set(' "<>`\n')
    long = issue_link("t" * 500, [sections[0], "é" * 3_000, "last"], "issue.md")
    title, body = body_of(long)
    assert len(long) <= LONGEST_URL and len(title) == 200
    assert body.startswith(sections[0]) and "issue.md" in body and "é" not in body and "last" not in body


@pytest.mark.nightly
@pytest.mark.usefixtures("warm_command")
def test_the_folder_of_a_break(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BREAKS)
    done = Warm(["repro", "--as", "folder", "--finding", "@7", "--timeout", "60", "train.py"], tmp_path)
    assert done.code == 0, done.err
    folder = tmp_path / "issue_7"
    names = {file.name for file in folder.iterdir()}
    assert {"issue.md", "environment.txt", "new-issue.url.txt"} <= names and "bisection.json" not in names
    report = (folder / "issue.md").read_text()
    smallest = folder / re.findall(r"python (\S+\.py)", report)[0]
    code = re.findall(r"```python\n(.*?)\n```", report, re.DOTALL)[0]
    assert smallest.exists() and code in smallest.read_text()
    # the file that the report shows has the problem
    assert subprocess.run([sys.executable, str(smallest)], capture_output=True).returncode == 1
    link = (folder / "new-issue.url.txt").read_text().strip()
    title, body = body_of(link)
    assert done.out.rstrip().endswith(link) and len(link) <= LONGEST_URL
    assert title == report.splitlines()[0].removeprefix("# ") and "## Describe the bug" in body
    assert "print(y.shape)" in body and "PyTorch version: 2." in body
    assert str(tmp_path) not in re.sub(r"```python\n.*?\n```", "", report, flags=re.DOTALL)
    again = Warm(["repro", "--as", "folder", "--finding", "@7", "train.py"], tmp_path)
    assert again.code == 2 and "exists" in again.err


@pytest.mark.usefixtures("warm_command")
def test_no_folder_is_left_where_there_is_nothing_to_report(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BREAKS)
    done = Warm(["repro", "--as", "folder", "--region", "no_such", "train.py"], tmp_path)
    assert done.code == 2 and [file.name for file in tmp_path.iterdir()] == ["train.py"]
