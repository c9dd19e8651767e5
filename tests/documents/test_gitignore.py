"""Which files of a folder are analyzed: as git says, and in time whatever a `.gitignore` says."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from compile_lens.agent.runtime.left_folders import remove_folder
from compile_lens.documents.gitignore import python_files

FILES = [
    "a.py",
    "ab.py",
    "x/a.py",
    "x/y/a.py",
    "x/y/z/b.py",
    "build/c.py",
    "s p.py",
    "st*r.py",
    "x/build/d.py",
    "q[1].py",
]
RULES = [
    "*.py", "a*", "/a.py", "x/", "x/**", "**/a.py", "x/**/a.py", "x/*/a.py", "**/y", "build/", "!a.py", "?b.py", "[a-b].py", "[!a].py",
    "[^a].py", "[a.py", "st\\*r.py", "s\\ p.py", "s p.py   ", "a.py\\ ", "# a.py", "\\a.py", "x/**/**/b.py", "**", "/**", "**/",
    "x/y/**/b.py", "q\\[1\\].py", "q[[]1].py", "*.py\n!/x/\n!a.py", "x/*\n!x/y", "[]a].py", "**.py", "a**.py", "*/a.py",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git")
def test_the_rules_mean_what_they_mean_to_git(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for rules in RULES:
        (folder / ".gitignore").write_text(rules + "\n")
        listed = [
            "git",
            "-C",
            str(folder),
            "-c",
            "core.quotePath=off",
            "ls-files",
            "-z",
            "--others",
            "--exclude-standard",
        ]
        said = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0")
        of_git = {name for name in said if name.endswith(".py")}
        assert {path.relative_to(folder).as_posix() for path in python_files(folder, set())} == of_git, rules


def test_no_rule_takes_long(folder: Path) -> None:
    long = folder / ("a" * 250)
    long.mkdir()
    (long / ("a" * 200 + ".py")).touch()
    slow = [
        "[b-a].py",
        "*a" * 100 + "b",
        "**/" * 300 + "b",
        "*/**/" * 200 + "b",
        "[a" * 500,
        "x" * 100_000,
        " " * 1_000_000 + "x",
        "?*" * 400,
    ]
    (folder / ".gitignore").write_text("\n".join([*slow, *(f"*{n}*{n}" for n in range(200_000))]))
    started = time.process_time()
    assert len(list(python_files(folder, set()))) == len(FILES) + 1
    assert time.process_time() - started < 20.0


def test_folders_nested_deeper_than_calls_may_be(tmp_path: Path) -> None:
    deep = str(tmp_path / "top")
    Path(deep).mkdir()
    for _ in range(300):
        deep += "/d"
        Path(deep).mkdir()
    Path(deep, "a.py").touch()
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(len(inspect.stack()) + 250)
        assert list(python_files(tmp_path, set())) == [Path(deep, "a.py")]
    finally:
        sys.setrecursionlimit(limit)
        remove_folder(str(tmp_path / "top"))


def test_rules_that_are_left_out_are_told(folder: Path) -> None:
    file = folder / ".gitignore"
    for text, is_told in (("a\n" * 20_000, True), ("x" * 5000, True), ("x" * 9_000_000, True), ("a\n", False)):
        file.write_text(text)
        incomplete: set[Path] = set()
        list(python_files(folder, incomplete))
        assert incomplete == ({file} if is_told else set())
